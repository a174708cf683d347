// The examples, in groups, with one line about each; a search leaves those that have all its words.
import { element, prose } from "/assets/dom.js";

/** `opened` is called with the number of the example that was chosen. */
export function makeGallery(examples, opened) {
  const dialog = document.getElementById("gallery");
  const field = document.getElementById("gallery-search");
  const list = document.getElementById("gallery-list");
  const groups = new Map();
  examples.forEach((example, number) => {
    if (!groups.has(example.folder)) groups.set(example.folder, group(list, example.folder));
    groups.get(example.folder).rows.push(row(groups.get(example.folder).part, example, number));
  });
  const all = [...groups.values()];
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { part, rows } of all) {
      let here = 0;
      for (const one of rows) {
        one.hidden = !words.every((word) => one.dataset.words.includes(word));
        here += one.hidden ? 0 : 1;
      }
      part.hidden = here === 0;
      found += here;
    }
    document.getElementById("gallery-count").textContent =
      found === 0 ? "No example has these words." : `${found} ${found === 1 ? "program" : "programs"}`;
  };
  const shown = () => [...list.querySelectorAll("button:not([hidden])")].filter((one) => one.offsetParent);
  field.addEventListener("input", filter);
  field.addEventListener("keydown", (key) => {
    if (key.key === "Enter" || key.key === "ArrowDown") key.preventDefault();
    if (key.key === "ArrowDown") shown()[0]?.focus();
    if (key.key === "Enter") shown()[0]?.click();
  });
  list.addEventListener("keydown", (key) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key];
    if (!step) return;
    key.preventDefault();
    const buttons = shown();
    const to = buttons.indexOf(document.activeElement) + step;
    (buttons[to] ?? (to < 0 ? field : buttons.at(-1))).focus();
  });
  list.addEventListener("click", (click) => {
    const chosen = click.target.closest("button");
    if (!chosen) return;
    dialog.close();
    opened(Number(chosen.dataset.number));
  });
  filter();
  return () => {
    dialog.showModal();
    field.select();
    field.focus();
  };
}

function group(list, folder) {
  const part = element("section");
  part.append(element("h3", folder));
  list.append(part);
  return { part, rows: [] };
}

function row(part, example, number) {
  const button = element("button");
  const about = element("span");
  about.append(...prose(example.about));
  button.append(element("b", example.name), " ", about);
  button.dataset.number = number;
  button.dataset.words = `${example.name} ${example.about} ${example.folder}`.toLowerCase();
  part.append(button);
  return button;
}
