// The run played forwards and backwards: the state of memory, and where it is in the graph, run and source.
import { element, signButton } from "./dom.js";

/** Put the buttons and the state of memory above the picture and the run, which follow the step. */
export function addPlayer(report, finding, data) {
  const last = data.frames.length - 1;
  const names = { "«": "To the start", "‹": "One step back", "›": "One step on", "»": "To the end" };
  const targets = [() => 0, () => at - 1, () => at + 1, () => last];
  const buttons = Object.entries(names).map(([sign, words], i) => signButton(sign, words, () => go(targets[i])));
  const play = element("button", "play");
  const slider = element("input");
  Object.assign(slider, { type: "range", min: 0, max: last, value: last });
  slider.setAttribute("aria-label", "Step of the run");
  const place = element("span", "", "fp-place");
  const state = element("div", "", "fp-state");
  state.setAttribute("aria-live", "polite");
  const controls = element("div", "", "fp-controls");
  controls.append(buttons[0], buttons[1], play, buttons[2], buttons[3], slider, place);
  const player = element("div", "", "fp-player");
  player.append(controls, state);
  (finding.querySelector(".fp-picture") ?? finding.querySelector(".fp-wide")).before(player);

  let at = last;
  let timer = null;
  const show = (step, moved = true) => {
    at = Math.max(0, Math.min(last, step));
    slider.value = at;
    place.textContent = `step ${at} of ${last}`;
    buttons[0].disabled = buttons[1].disabled = at === 0;
    buttons[2].disabled = buttons[3].disabled = at === last;
    mark(report, finding, data, at, moved);
    state.replaceChildren(...describe(data, at));
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "play";
  };
  const start = () => {
    if (at === last) show(0);
    play.textContent = "pause";
    timer = setInterval(() => (at < last ? show(at + 1) : stop()), 900);
  };
  const go = (step) => {
    stop();
    show(step());
  };
  play.addEventListener("click", () => (timer ? stop() : start()));
  slider.addEventListener("input", () => go(() => Number(slider.value)));
  for (const row of finding.querySelectorAll(".fp-run [data-step]")) {
    row.addEventListener("click", () => go(() => Number(row.dataset.step)));
  }
  show(last, false);
}

/** Mark the current access in the run, in the source and in the picture; those to come are pale. */
function mark(report, finding, data, at, moved) {
  const frame = data.frames[at];
  for (const row of finding.querySelectorAll(".fp-run [data-step]")) {
    row.classList.toggle("fp-now", Number(row.dataset.step) === at);
    row.classList.toggle("fp-later", Number(row.dataset.step) > at);
  }
  for (const line of report.querySelectorAll(".fp-source tr")) {
    line.classList.toggle("fp-now", Boolean(frame.line) && Number(line.dataset.line) === frame.line);
  }
  const done = new Set(data.frames.slice(0, at + 1).map((one) => one.event));
  for (const box of finding.querySelectorAll(".fp-picture .event")) {
    const event = Number(box.dataset.event);
    const accessed = data.frames.some((one) => one.event === event);
    box.classList.toggle("fp-later", accessed && !done.has(event));
    box.classList.toggle("fp-now", event === frame.event);
  }
  for (const edge of finding.querySelectorAll(".fp-picture .edge, .fp-picture .label")) {
    const ends = [edge.dataset.source, edge.dataset.target].filter((end) => end !== undefined).map(Number);
    const later = ends.some((end) => !done.has(end) && data.frames.some((one) => one.event === end));
    edge.classList.toggle("fp-later", later);
  }
  if (moved) report.dispatchEvent(new CustomEvent("fp-step", { bubbles: true, detail: frame.line ?? 0 }));
}

/** What holds after step `at`: all changes up to there, one after the other. */
function stateAt(data, at) {
  const state = { memory: {}, stands: {}, sees: {}, buffers: {} };
  for (const frame of data.frames.slice(0, at + 1)) {
    Object.assign(state.memory, frame.memory);
    Object.assign(state.stands, frame.stands);
    Object.assign(state.buffers, frame.buffers);
    for (const [thread, cells] of Object.entries(frame.sees ?? {})) {
      state.sees[thread] = { ...state.sees[thread], ...cells };
    }
  }
  return state;
}

function describe(data, at) {
  const state = stateAt(data, at);
  const before = stateAt(data, at - 1);
  const frame = data.frames[at];
  const who = frame.thread === undefined ? "" : `${data.threads[frame.thread]}: `;
  const says = element("p", at === 0 ? "The start." : who + frame.says, "fp-says");
  const memory = panel("memory", state.memory, before.memory);
  const threads = data.threads.map((name, thread) => threadPanel(data, state, before, name, thread));
  const panels = element("div", "", "fp-panels");
  panels.append(memory, ...threads);
  return [says, panels];
}

function threadPanel(data, state, before, name, thread) {
  const stands = state.stands[thread];
  const shown = panel(name, stands?.registers ?? {}, before.stands[thread]?.registers ?? {});
  if (stands) shown.append(element("p", stands.line ? `next: line ${stands.line}` : "has ended"));
  if (data.weak === "views") shown.append(...views(state, thread));
  if (data.weak === "buffers") {
    const buffer = state.buffers[thread] ?? [];
    const words = buffer.length ? `store buffer: ${buffer.join(", ")}` : "store buffer: empty";
    shown.append(element("p", words, buffer.length ? "fp-sees" : ""));
  }
  return shown;
}

/** Where a thread can still read something else than what was written last. */
function views(state, thread) {
  const old = Object.entries(state.sees[thread] ?? {}).filter(([, values]) => values.length > 1);
  if (!old.length) return [element("p", "sees the newest values")];
  const list = old.map(([cell, values]) => `${cell} = ${values.join(" or ")}`);
  return [element("p", `can still see ${list.join(", ")}`, "fp-sees")];
}

/** Names and values; those that were different before are marked. */
function panel(title, values, before) {
  const box = element("div", "", "fp-panel");
  const table = element("table");
  for (const [name, value] of Object.entries(values)) {
    const changed = name in before && before[name] !== value;
    const row = element("tr", "", changed ? "fp-changed" : "");
    row.append(element("td", name), element("td", value));
    table.append(row);
  }
  box.append(element("h3", title), table);
  return box;
}
