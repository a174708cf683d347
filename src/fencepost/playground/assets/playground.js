// The page: which button does what. Searching, editing and links have modules of their own.
import { activate } from "/assets/report.js";
import { makeEditor, showDifference } from "/assets/editor.js";
import { fromLink, toLink } from "/assets/link.js";
import { search } from "/assets/search.js";

const at = (id) => document.getElementById(id);
const start = await (await fetch("/api/start")).json();
const editor = await makeEditor(at("editor"), start.keywords, { read: readProgram, changed: programChanged });

let running = null; // what cancels the search that runs now
let answered = null; // the text that the answer is about

fillMenus();
await openLink();
window.addEventListener("hashchange", openLink);
at("example").addEventListener("change", openExample);
at("format").addEventListener("change", () => editor.setLanguage(at("format").value));
at("question").addEventListener("change", showWhatCanBeRepaired);
at("ask").addEventListener("click", () => whileBusy(ask));
at("repair").addEventListener("click", () => whileBusy(repair));
at("compare").addEventListener("click", () => whileBusy(compare));
at("cancel").addEventListener("click", () => running?.abort());
at("link").addEventListener("click", copyLink);
at("answer").addEventListener("fp-step", (step) => editor.showLine(isCurrent() ? step.detail : 0));
document.body.dataset.ready = "yes";

function fillMenus() {
  for (const question of start.questions) at("question").append(option(question.words, question.name));
  for (const format of start.formats) at("format").append(option(format, format));
  const groups = new Map();
  start.examples.forEach((example, number) => {
    if (!groups.has(example.folder)) {
      const group = document.createElement("optgroup");
      group.label = example.folder;
      groups.set(example.folder, group);
      at("example").append(group);
    }
    groups.get(example.folder).append(option(example.name, number));
  });
  showWhatCanBeRepaired();
}

function option(words, value) {
  const made = document.createElement("option");
  made.textContent = words;
  made.value = value;
  return made;
}

// Programs

async function openExample() {
  const number = at("example").value;
  if (number === "") return;
  const response = await fetch(`/api/examples/${number}`);
  openProgram(await response.text(), start.examples[number].format);
}

function openProgram(text, format) {
  at("format").value = format;
  editor.setText(text, format);
  clear();
}

async function openLink() {
  const shared = fromLink(location.hash);
  if (shared === null) {
    if (editor.text() === "") {
      at("example").value = String(Math.max(0, start.examples.findIndex((one) => one.name === "sb")));
      await openExample();
    }
    return;
  }
  if (start.questions.some((one) => one.name === shared.question)) at("question").value = shared.question;
  at("example").value = "";
  openProgram(shared.text, start.formats.includes(shared.format) ? shared.format : start.formats[0]);
  showWhatCanBeRepaired();
}

async function copyLink() {
  const shared = { text: editor.text(), format: at("format").value, question: at("question").value };
  history.replaceState(null, "", toLink(shared));
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("The link is in the address bar.");
  }
}

function say(words) {
  at("notice").textContent = words;
  setTimeout(() => (at("notice").textContent = ""), 4000);
}

// Questions

function request(task, question = at("question").value) {
  return { task, question, format: at("format").value, text: editor.text() };
}

async function whileBusy(work) {
  running?.abort();
  running = new AbortController();
  const mine = running;
  clear();
  setBusy(true);
  try {
    await work(mine.signal);
  } finally {
    if (running === mine) {
      running = null;
      setBusy(false);
    }
  }
}

function setBusy(busy) {
  at("cancel").disabled = !busy;
  for (const id of ["ask", "repair", "compare"]) at(id).disabled = busy;
  if (!busy) showWhatCanBeRepaired();
  at("progress").textContent = busy ? "searching …" : "";
  document.body.dataset.busy = busy ? "yes" : "no";
}

/** The answer to a request, or null if there is none; then the page says why. */
async function answerTo(asked, signal) {
  const end = await searchFor(asked, signal);
  if (!end.answer) showWhyNot(end);
  return end.answer ?? null;
}

function searchFor(asked, signal) {
  return search(asked, signal, (words) => (at("progress").textContent = words));
}

function showWhyNot(end) {
  if (end.mistake) editor.showMistake(end.mistake);
  const place = end.mistake ? `line ${end.mistake.line}: ` : "";
  at("answer").replaceChildren(paragraph(place + (end.mistake?.message ?? end.failure), "failure"));
}

async function ask(signal) {
  const asked = request("ask");
  const answer = await answerTo(asked, signal);
  if (answer) show(answer, asked);
}

async function repair(signal) {
  const asked = request("repair");
  const answer = await answerTo(asked, signal);
  if (!answer) return;
  show(answer, asked);
  if (answer.repaired === null || answer.repaired === asked.text) return;
  const apply = document.createElement("button");
  apply.type = "button";
  apply.id = "apply";
  apply.textContent = "Apply this repair and ask again";
  apply.addEventListener("click", () => {
    editor.setText(answer.repaired, asked.format);
    at("question").value = asked.question;
    whileBusy(ask);
  });
  at("difference").replaceChildren(apply);
  await showDifference(at("difference"), asked.text, answer.repaired, asked.format);
}

/** The same program under all models: one row each, and a click shows the whole answer. */
async function compare(signal) {
  const table = document.createElement("table");
  const rows = start.questions.map((question) => {
    const row = table.insertRow();
    for (const words of [question.words, "", ""]) row.insertCell().textContent = words;
    return row;
  });
  at("table").replaceChildren(table);
  for (const [number, question] of start.questions.entries()) {
    const asked = request("ask", question.name);
    const end = await searchFor(asked, signal);
    if (end.mistake || signal.aborted) return showWhyNot(end);
    if (end.failure) {  // such as that the program asks nothing of this kind
      rows[number].cells[2].textContent = end.failure;
      continue;
    }
    const answer = end.answer;
    answered = asked.text;
    fillRow(rows[number], answer, () => {
      at("question").value = question.name;
      showWhatCanBeRepaired();
      show(answer, asked);
    });
  }
}

function fillRow(row, answer, open) {
  const badge = document.createElement("button");
  badge.type = "button";
  badge.className = `fp-verdict fp-${answer.mood}`;
  // A verdict that holds names the findings itself.
  badge.textContent = [answer.verdict, ...(answer.holds ? [] : answer.findings)].join(", ");
  badge.addEventListener("click", open);
  row.cells[1].replaceChildren(badge);
  row.cells[2].textContent = answer.stats;
}

// The answer

function show(answer, asked) {
  answered = asked.text;
  // Made by `fencepost.report.html.page`, where all text is escaped.
  at("answer").innerHTML = answer.html;
  activate(at("answer").querySelector(".fp-report"));
}

function clear() {
  answered = null;
  for (const id of ["table", "difference", "answer"]) {
    at(id).replaceChildren();
    at(id).classList.remove("old");
  }
  editor.showLine(0);
}

function isCurrent() {
  return answered === editor.text();
}

function programChanged() {
  for (const id of ["answer", "table"]) at(id).classList.toggle("old", answered !== null && !isCurrent());
  if (!isCurrent()) editor.showLine(0);
}

/** What is wrong with the program, or null; for the editor, while the user types. */
async function readProgram() {
  const end = await search(request("read"), AbortSignal.timeout(15000), () => {});
  at("mistake").textContent = end.mistake ? `line ${end.mistake.line}: ${end.mistake.message}` : "";
  return end.mistake ?? null;
}

function showWhatCanBeRepaired() {
  const question = start.questions.find((one) => one.name === at("question").value);
  at("repair").disabled = !question?.repairs;
}

function paragraph(words, kind) {
  const made = document.createElement("p");
  made.textContent = words;
  made.className = kind;
  return made;
}
