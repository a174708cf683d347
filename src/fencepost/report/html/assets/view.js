// How the graph is looked at: larger or smaller, moved with the mouse, and with the arrows of the cycle alone.
import { element, signButton } from "./dom.js";

const SMALLEST = 0.85; // of its own size: smaller, its text cannot be read
const LARGEST = 3;
const STEP = 1.25;
const MANY = 16; // accesses; with more, only the arrows of the cycle are shown at first

export function addView(finding) {
  const sheet = finding.querySelector(".fp-sheet");
  if (!sheet) return;
  const svg = sheet.querySelector("svg");
  const tools = element("div", "", "fp-tools");
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "The graph");
  tools.append(...zooming(sheet, svg), ...choosing(svg));
  sheet.before(tools);
  sheet.tabIndex = 0; // so that arrow keys move it
  sheet.setAttribute("role", "group");
  sheet.setAttribute("aria-label", "The graph; arrow keys move it");
  movedByMouse(sheet);
  const cycle = svg.querySelector(".event.on-cycle");
  if (svg.classList.contains("fp-cycle-only")) {
    sheet.scrollTop = cycle.getBoundingClientRect().top - sheet.getBoundingClientRect().top - 60;
  }
  for (const box of svg.querySelectorAll(".event")) showArrowsOf(box, svg);
}

function zooming(sheet, svg) {
  const own = Number(svg.getAttribute("width"));
  const ratio = Number(svg.getAttribute("height")) / own;
  let scale = null; // null: as large as there is room for
  const zoom = (to, x = sheet.clientWidth / 2, y = sheet.clientHeight / 2) => {
    const before = svg.getBoundingClientRect().width / own;
    scale = to && Math.max(SMALLEST / 2, Math.min(LARGEST, to));
    sheet.classList.toggle("fp-fits", scale === null);
    const now = scale ?? Math.max(SMALLEST, Math.min(1, sheet.clientWidth / own));
    svg.style.width = scale ? `${own * scale}px` : "";
    svg.style.height = scale ? `${own * ratio * scale}px` : "";
    sheet.scrollLeft = (sheet.scrollLeft + x) * (now / before) - x;
    sheet.scrollTop = (sheet.scrollTop + y) * (now / before) - y;
  };
  const current = () => svg.getBoundingClientRect().width / own;
  svg.style.minWidth = `${own * SMALLEST}px`;
  svg.style.setProperty("--own", `${own}px`);
  sheet.classList.add("fp-fits");
  sheet.addEventListener(
    "wheel",
    (wheel) => {
      if (!wheel.ctrlKey) return; // which is also what pinching a touch pad gives
      wheel.preventDefault();
      const { left, top } = sheet.getBoundingClientRect();
      zoom(current() * Math.exp(-wheel.deltaY / 300), wheel.clientX - left, wheel.clientY - top);
    },
    { passive: false },
  );
  sheet.addEventListener("keydown", (key) => {
    const to = { "+": current() * STEP, "-": current() / STEP, 0: null }[key.key];
    if (to === undefined || key.ctrlKey || key.metaKey || key.altKey) return;
    key.preventDefault();
    zoom(to);
  });
  return [
    signButton("−", "Zoom out", () => zoom(current() / STEP)),
    signButton("+", "Zoom in", () => zoom(current() * STEP)),
    signButton("Fit", "Fit: as large as there is room for", () => zoom(null)),
  ];
}

/** A button that leaves only the arrows of the cycle. */
function choosing(svg) {
  const onCycle = svg.querySelectorAll(".edge.on-cycle");
  if (!onCycle.length) return [];
  const ends = new Set([...onCycle].flatMap((edge) => [edge.dataset.source, edge.dataset.target]));
  for (const box of svg.querySelectorAll(".event")) {
    box.classList.toggle("on-cycle", ends.has(box.dataset.event));
  }
  const only = element("button", "Cycle only");
  const choose = (chosen) => {
    only.setAttribute("aria-pressed", String(chosen));
    svg.classList.toggle("fp-cycle-only", chosen);
  };
  only.addEventListener("click", () => choose(only.getAttribute("aria-pressed") !== "true"));
  choose(svg.querySelectorAll(".event").length > MANY);
  return [only];
}

/** The arrows of the box that the mouse is on are there even if the others are not. */
function showArrowsOf(box, svg) {
  const { event } = box.dataset;
  const own = svg.querySelectorAll(`[data-source="${event}"], [data-target="${event}"]`);
  box.addEventListener("mouseenter", () => own.forEach((part) => part.classList.add("fp-near")));
  box.addEventListener("mouseleave", () => own.forEach((part) => part.classList.remove("fp-near")));
}

function movedByMouse(sheet) {
  let from = null;
  sheet.addEventListener("pointerdown", (pointer) => {
    if (pointer.pointerType !== "mouse" || pointer.button !== 0) return;
    from = { x: pointer.clientX + sheet.scrollLeft, y: pointer.clientY + sheet.scrollTop };
    sheet.setPointerCapture(pointer.pointerId);
    sheet.classList.add("fp-moving");
  });
  sheet.addEventListener("pointermove", (pointer) => {
    if (!from) return;
    sheet.scrollLeft = from.x - pointer.clientX;
    sheet.scrollTop = from.y - pointer.clientY;
  });
  for (const end of ["pointerup", "pointercancel"]) {
    sheet.addEventListener(end, () => {
      from = null;
      sheet.classList.remove("fp-moving");
    });
  }
}
