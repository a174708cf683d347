// The right half: the answer, why there is none, and the repair.
import { element, prose } from "/assets/dom.js";
import { showDifference } from "/assets/editor.js";
import { activate } from "/assets/report.js";

const at = (id) => document.getElementById(id);

/** Show an answer; the text comes from `fencepost.report.html.page`, which escapes all that is a program's. */
export function showAnswer(answer) {
  at("answer").innerHTML = answer.html;
  activate(at("answer").querySelector(".fp-report"));
}

/** A button in the card of the answer. */
export function addButton(id, words, pressed) {
  const card = at("answer").querySelector(".fp-card");
  let row = card.querySelector(".buttons");
  if (!row) card.append((row = element("p", "", "buttons")));
  const button = element("button", words);
  button.id = id;
  button.addEventListener("click", pressed);
  row.append(button);
  return button;
}

export function addNote(words) {
  at("answer").querySelector(".fp-card").append(element("p", words, "note"));
}

/** That the program asks nothing of this kind. */
export function showUnasked(words) {
  const card = element("header", "", "fp-card fp-warn");
  const head = element("h2");
  head.append(sign("!"), element("span", "nothing was asked", "fp-verdict fp-warn"));
  const why = element("p", "", "fp-claim");
  why.append(...prose(words.replace(/^nothing was asked: /, "").replace(/^./, (first) => first.toUpperCase())));
  card.append(head, why);
  const report = element("article", "", "fp-report");
  report.append(card);
  at("answer").replaceChildren(report);
}

function sign(text) {
  const made = element("span", text, "fp-sign");
  made.setAttribute("aria-hidden", "true");
  return made;
}

/** Why there is no answer about the program as it is now; the old one stays, pale, below. */
export function showProblem(words) {
  at("problem").replaceChildren(...(words ? [element("p", words, "failure")] : []));
}

/** What the repair changes, and the button that makes the change; below the card of the answer. */
export async function showRepair(answer, before, format, apply) {
  document.getElementById("difference")?.remove();
  const panel = element("section");
  panel.id = "difference";
  panel.setAttribute("aria-label", "The repair");
  panel.innerHTML = answer.html; // as above
  for (const part of panel.querySelectorAll(".fp-diff, .fp-asked")) part.remove();
  activate(panel.querySelector(".fp-report"));
  at("answer").querySelector(".fp-card").after(panel);
  if (answer.repaired === null || answer.repaired === before) return;
  const button = element("button", "Apply this repair", "main");
  button.id = "apply";
  button.addEventListener("click", () => apply(answer.repaired));
  const changes = element("div", "", "changes");
  panel.append(changes, button);
  await showDifference(changes, before, answer.repaired, format);
  panel.scrollIntoView({ block: "nearest" });
}
