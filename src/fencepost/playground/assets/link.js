// A program in the fragment of an address. Browsers do not send fragments, so no server ever sees it.

/** What a link carries: `text`, `format` and `question`; null if it carries nothing that can be read. */
export function fromLink(fragment) {
  try {
    const code = fragment.replace(/^#program=/, "").replaceAll("-", "+").replaceAll("_", "/");
    const shared = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(code), (c) => c.charCodeAt(0))));
    return typeof shared.text === "string" ? shared : null;
  } catch {
    return null;
  }
}

export function toLink(shared) {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const code = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return "#program=" + code.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
