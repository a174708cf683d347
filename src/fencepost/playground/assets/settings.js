// The settings: limits, costs, rounds of loops, the criterion, and whether answers come by themselves.
// Only what differs from the defaults is kept, sent and put into links.
import { element } from "/assets/dom.js";

/** `changed` is called when something was changed and the panel is closed. */
export function makeSettings(start, changed) {
  const dialog = document.getElementById("settings-panel");
  const form = document.getElementById("settings-form");
  const fields = form.elements;
  const defaults = { seconds: start.seconds, memory_mb: start.memory, states: "", unroll: start.unroll, loop_weight: 1 };
  for (const [kind, cost] of Object.entries(start.costs)) costField(kind, cost);
  fields.seconds.max = start.seconds;
  fields.memory_mb.max = start.memory;
  document.getElementById("settings-limits").textContent =
    `This playground allows ${start.seconds} s and ${start.memory} MB at most.`;

  const values = () => {
    const differing = {};
    for (const [name, usual] of Object.entries(defaults)) {
      const given = fields[name].value;
      if (given !== "" && fields[name].validity.valid && Number(given) !== usual) differing[name] = Number(given);
    }
    const costs = {};
    for (const [kind, usual] of Object.entries(start.costs)) {
      const field = fields[`cost-${kind}`];
      if (field.value !== "" && field.validity.valid && Number(field.value) !== usual) costs[kind] = Number(field.value);
    }
    if (Object.keys(costs).length) differing.costs = costs;
    const criterion = fields.criterion;
    if (criterion.value && criterion.selectedIndex > 0) differing.criterion = criterion.value;
    return differing;
  };
  const showWhetherSet = () => {
    const set = Object.keys(values()).length > 0;
    document.getElementById("settings").classList.toggle("set", set);
    document.getElementById("settings").title = set ? "Some settings differ from the defaults" : "";
  };
  const fill = (given) => {
    for (const [name, usual] of Object.entries(defaults)) fields[name].value = number(given[name]) ?? usual;
    for (const [kind, usual] of Object.entries(start.costs)) {
      fields[`cost-${kind}`].value = number(given.costs?.[kind]) ?? usual;
    }
    const known = [...fields.criterion.options].some((option) => option.value === given.criterion);
    if (known) fields.criterion.value = given.criterion;
    else fields.criterion.selectedIndex = 0;
    showWhetherSet();
  };
  const setQuestion = (question) => {
    const chosen = fields.criterion.value;
    const criteria = Object.entries(question.criteria);
    fields.criterion.replaceChildren(...criteria.map(([name, words]) => new Option(words, name)));
    if (!criteria.length) fields.criterion.append(new Option("this question has one only", ""));
    fields.criterion.disabled = criteria.length < 2;
    if (criteria.some(([name]) => name === chosen)) fields.criterion.value = chosen;
    fields.unroll.disabled = !question.unrolls;
    showWhetherSet();
  };

  let before = "";
  const all = () => JSON.stringify([values(), fields.live.checked]);
  form.addEventListener("submit", (event) => {
    event.preventDefault(); // Enter in a field
    dialog.close();
  });
  form.addEventListener("change", showWhetherSet);
  document.getElementById("settings-reset").addEventListener("click", () => fill({}));
  dialog.addEventListener("close", () => {
    fill(values()); // what is not valid goes back to the default
    if (all() !== before) changed();
  });
  fill({});
  return {
    values,
    fill: (given) => fill(given && typeof given === "object" ? given : {}),
    setQuestion,
    isLive: () => fields.live.checked,
    setLive: (live) => (fields.live.checked = live),
    open() {
      before = all();
      dialog.showModal();
    },
  };
}

function number(given) {
  return typeof given === "number" && Number.isFinite(given) ? given : undefined;
}

function costField(kind, cost) {
  const label = element("label", `${kind.replaceAll("-", " ").replace(/\b(sc|rmw)\b/g, (word) => word.toUpperCase())} `);
  const field = element("input");
  Object.assign(field, { type: "number", name: `cost-${kind}`, min: 0, max: 1000, step: 0.01, value: cost });
  label.append(field);
  document.getElementById("settings-costs").append(label);
}
