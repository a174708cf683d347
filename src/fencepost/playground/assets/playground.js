// The page: which part does what when. Every part has a module of its own.
import { addButton, addNote, showAnswer, showProblem, showRepair, showUnasked } from "/assets/answer.js";
import { showCard } from "/assets/card.js";
import { compare } from "/assets/compare.js";
import { makeDownloads } from "/assets/download.js";
import { makeEditor } from "/assets/editor.js";
import { makeGallery } from "/assets/gallery.js";
import { fromLink, toLink } from "/assets/link.js";
import { patientSearch, search } from "/assets/search.js";
import { makeSettings } from "/assets/settings.js";
import { makeSplitter } from "/assets/splitter.js";
import { keep, kept } from "/assets/storage.js";

const FIRST = "sb"; // the example that a new visitor sees
const DELAY = 600; // milliseconds without typing, until the question is asked
const SHORT = 5; // seconds for a question that nobody pressed a button for

const at = (id) => document.getElementById(id);
const start = await (await fetch("/api/start")).json();
const editor = await makeEditor(at("editor"), start, { changed: programChanged, ask: () => ask() });
const settings = makeSettings(start, () => (settingsChanged(), askSoon(0)));
const openGallery = makeGallery(start.examples, openExample);

let running = null; // what cancels that which runs now
let waiting = null; // the timer until the question is asked
let shown = null; // the answer that is there: its request, its files and their name
let name = "program";

makeSplitter(at("splitter"));
makeDownloads(at("download"), () => shown);
fillMenus();
connect();
await openFirst();
document.body.dataset.ready = "yes";

function fillMenus() {
  const groups = new Map();
  for (const question of start.questions) {
    if (!groups.has(question.group)) {
      const group = document.createElement("optgroup");
      group.label = question.group;
      groups.set(question.group, group);
      at("question").append(group);
    }
    groups.get(question.group).append(new Option(question.words, question.name));
  }
  for (const format of Object.keys(start.languages)) at("format").append(new Option(format, format));
  settings.setQuestion(question());
}

function connect() {
  addEventListener("hashchange", openLink);
  at("examples").addEventListener("click", openGallery);
  at("settings").addEventListener("click", settings.open);
  at("syntax").addEventListener("click", () => showCard(at("format").value));
  at("theme").addEventListener("click", window.theme.toggle);
  at("link").addEventListener("click", copyLink);
  at("format").addEventListener("change", () => {
    editor.setLanguage(at("format").value);
    programChanged();
  });
  at("question").addEventListener("change", () => {
    settings.setQuestion(question());
    settingsChanged();
    askSoon(0);
  });
  at("ask").addEventListener("click", () => ask());
  at("compare").addEventListener("click", compareModels);
  at("cancel").addEventListener("click", () => running?.abort());
  at("answer").addEventListener("fp-step", (step) => editor.showLine(isCurrent() ? step.detail : 0));
  document.addEventListener("keydown", (key) => {
    const anywhere = key.key === "Enter" && (key.ctrlKey || key.metaKey) && !key.defaultPrevented;
    if (anywhere && !document.querySelector("dialog[open]")) ask();
  });
}

function question() {
  return start.questions.find((one) => one.name === at("question").value);
}

// Programs

async function openFirst() {
  if (fromLink(location.hash)) return openLink();
  const before = kept("program");
  if (typeof before?.text === "string" && before.text.trim()) return openProgram(before);
  const first = start.examples.findIndex((one) => one.name === FIRST);
  return first < 0 ? undefined : openExample(first);
}

async function openExample(number) {
  const example = start.examples[number];
  const text = await (await fetch(`/api/examples/${number}`)).text();
  openProgram({ text, format: example.format, name: example.name });
}

function openLink() {
  const shared = fromLink(location.hash);
  if (!shared) return;
  settings.fill(shared.settings);
  openProgram(shared);
}

/** Open a program; what else it comes with is checked, since links can be written by hand. */
function openProgram(given) {
  name = /^[\w+.@-]{1,80}$/.test(given.name ?? "") ? given.name : "program";
  at("name").textContent = name;
  const formats = Object.keys(start.languages);
  at("format").value = formats.includes(given.format) ? given.format : formats[0];
  if (start.questions.some((one) => one.name === given.question)) at("question").value = given.question;
  settings.setQuestion(question());
  if (given.settings) settings.fill(given.settings);
  if (given.live === false) settings.setLive(false);
  clear();
  editor.setText(given.text, at("format").value);
  askSoon(0);
}

/** What a link carries, and what the browser keeps. */
function everything() {
  const all = { text: editor.text(), format: at("format").value, question: at("question").value, name };
  const own = settings.values();
  return Object.keys(own).length ? { ...all, settings: own } : all;
}

async function copyLink() {
  history.replaceState(null, "", toLink(everything()));
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

// When to ask

function programChanged() {
  settingsChanged();
  askSoon(DELAY);
}

function settingsChanged() {
  keep("program", { ...everything(), live: settings.isLive() });
  showWhetherCurrent();
}

/** Ask when nothing has been typed for a while; if answers do not come by themselves, only read the program. */
function askSoon(delay) {
  clearTimeout(waiting);
  waiting = setTimeout(() => (settings.isLive() ? ask({ byItself: true }) : read()), delay);
}

function showWhetherCurrent() {
  const old = !isCurrent();
  at("answer").classList.toggle("old", old);
  at("table").classList.toggle("old", old);
  document.body.dataset.current = old ? "no" : "yes";
  if (old) editor.showLine(0);
}

function isCurrent() {
  return shown !== null && shown.text === editor.text() && shown.format === at("format").value;
}

// Questions

function request(task, asked, more = {}) {
  const own = { ...settings.values(), ...more };
  if (!(own.criterion in asked.criteria)) delete own.criterion;
  return { task, question: asked.name, format: at("format").value, text: editor.text(), name, settings: own };
}

/** Do work that can be cancelled; whatever ran before is. */
async function whileBusy(work) {
  clearTimeout(waiting);
  running?.abort();
  running = new AbortController();
  const mine = running;
  setBusy(true);
  try {
    return await work(mine.signal);
  } finally {
    if (running === mine) {
      running = null;
      setBusy(false);
    }
  }
}

/** Whether something else is asked already. */
function isOverrun(signal) {
  return signal.aborted && running?.signal !== signal;
}

function setBusy(busy) {
  at("cancel").hidden = !busy;
  at("progress").textContent = busy ? "searching …" : "";
  document.body.dataset.busy = busy ? "yes" : "no";
}

const progressed = (words) => (at("progress").textContent = words);

/** Ask the question of the menu; `byItself` with a short limit, since nobody pressed a button. */
async function ask({ byItself = false } = {}) {
  const limit = settings.values().seconds ?? start.seconds;
  const short = byItself && limit > SHORT;
  const asked = request("ask", question(), short ? { seconds: SHORT } : {});
  await whileBusy(async (signal) => {
    const end = await (byItself ? patientSearch : search)(asked, signal, progressed);
    if (isOverrun(signal)) return;
    take(asked, end);
    if (short && end.answer?.mood === "open") {
      addNote(`This was a first look of ${SHORT} s. Ask, or Ctrl-Enter, searches for up to ${limit} s.`);
    }
  });
}

/** Only say what is wrong with the program. */
async function read() {
  const asked = request("read", question());
  const end = await search(asked, AbortSignal.timeout(15000), () => {});
  if (asked.text === editor.text()) showMistake(end.mistake);
}

/** Show how a search ended. */
function take(asked, end) {
  if (asked.text === editor.text()) showMistake(end.mistake);
  if (end.answer) {
    clear();
    show(asked, end.answer);
  } else if (end.unasked) {
    clear();
    shown = { ...asked, files: {} };
    showUnasked(end.unasked);
  } else {
    showProblem(end.mistake ? inWords(end.mistake) : end.failure);
  }
  showWhetherCurrent();
}

function showMistake(mistake) {
  editor.showMistake(mistake ?? null);
  at("mistake").textContent = mistake ? inWords(mistake) : "";
}

function inWords(mistake) {
  return `line ${mistake.line}: ${mistake.message}`;
}

/** Show an answer, with the repair for the press of a button. */
function show(asked, answer) {
  shown = { ...asked, files: answer.files };
  showProblem("");
  showAnswer(answer);
  editor.setMarks(asked.text === editor.text() ? answer.marks : []);
  const about = start.questions.find((one) => one.name === asked.question);
  if (about.repairs && answer.mood !== "good") addButton("repair", "Show a cheapest repair", () => repair(asked));
}

async function repair(about) {
  const asked = { ...about, task: "repair", settings: settings.values() };
  if (about.settings.criterion) asked.settings.criterion = about.settings.criterion;
  await whileBusy(async (signal) => {
    const end = await search(asked, signal, progressed);
    if (isOverrun(signal)) return;
    if (!end.answer) return showProblem(end.mistake ? inWords(end.mistake) : (end.unasked ?? end.failure));
    showProblem("");
    await showRepair(end.answer, asked.text, asked.format, (repaired) => {
      editor.setText(repaired, asked.format);
      at("question").value = asked.question;
      settings.setQuestion(question());
      ask();
    });
  });
}

async function compareModels() {
  await whileBusy(async (signal) => {
    clear();
    const text = editor.text();
    const mistake = await compare(at("table"), start.questions, start.running, {
      find: (about, words) => {
        const asked = request("ask", about);
        delete asked.settings.criterion; // it belongs to the question of the menu
        return patientSearch(asked, signal, words);
      },
      open: (about, answer) => {
        at("question").value = about.name;
        settings.setQuestion(about);
        const asked = request("ask", about);
        delete asked.settings.criterion;
        show({ ...asked, text }, answer);
        showWhetherCurrent();
      },
      outcomes: showOutcomes,
    });
    if (isOverrun(signal)) return;
    shown ??= { ...request("ask", question()), text, files: {} };
    if (mistake) {
      showMistake(mistake.mistake);
      showProblem(mistake.mistake ? inWords(mistake.mistake) : mistake.failure);
    }
    showWhetherCurrent();
  });
}

/** The table of outcomes and its notes, where the program has any. */
function showOutcomes(answer) {
  const part = document.createElement("section");
  part.id = "outcomes";
  part.innerHTML = answer.html; // made by the server, where all text is escaped
  if (!part.querySelector(".fp-outcomes")) return;
  for (const other of part.querySelectorAll(".fp-card, .fp-finding, .fp-asked")) other.remove();
  const head = document.createElement("h2");
  head.textContent = "How it can end";
  part.prepend(head);
  at("table").append(part);
}

function clear() {
  shown = null;
  for (const id of ["table", "answer", "problem"]) at(id).replaceChildren();
  editor.setMarks([]);
  editor.showLine(0);
}
