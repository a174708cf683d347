// Elements made of text: what comes from a program only ever becomes text nodes.

export function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  if (tag === "button") made.type = "button";
  return made;
}

/** A button with a sign on it, which says in words what it does. */
export function signButton(sign, words, pressed) {
  const made = element("button", sign);
  made.setAttribute("aria-label", words);
  made.title = words;
  made.addEventListener("click", pressed);
  return made;
}

/** A sentence, what stands between backquotes set as code. */
export function prose(sentence) {
  return sentence.split("`").map((part, i) => (i % 2 ? element("code", part) : part));
}
