// A program in the fragment of an address. Browsers do not send fragments, so no server ever sees it.

// Questions that older links may name, and what has become of them.
const RENAMED = {
  "observational-ra": { question: "robust-ra", settings: { criterion: "observational" } },
  "observational-rc20": { question: "robust-rc20", settings: { criterion: "observational" } },
};

/**
 * What a link carries: `text`, `format`, `question`, `settings` and `name`, of which only `text` is sure to be
 * there; null if it carries nothing that can be read.
 */
export function fromLink(fragment) {
  try {
    const code = fragment.replace(/^#program=/, "").replaceAll("-", "+").replaceAll("_", "/");
    const shared = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(code), (c) => c.charCodeAt(0))));
    return typeof shared.text === "string" ? { ...shared, ...RENAMED[shared.question] } : null;
  } catch {
    return null;
  }
}

export function toLink(shared) {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const code = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return "#program=" + code.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
