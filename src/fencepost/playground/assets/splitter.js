// The line between the two halves, moved with the mouse or with the arrow keys.
import { keep, kept } from "/assets/storage.js";

const LEAST = 20; // percent
const MOST = 80;
const FIRST = 40;
const STEP = 2;

export function makeSplitter(line) {
  let share = Number(kept("split")) || FIRST;
  const move = (to) => {
    share = Math.max(LEAST, Math.min(MOST, to));
    line.parentElement.style.setProperty("--split", `${share}%`);
    line.setAttribute("aria-valuenow", String(Math.round(share)));
    keep("split", share);
  };
  line.addEventListener("keydown", (key) => {
    const to = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: LEAST, End: MOST }[key.key];
    if (to === undefined) return;
    key.preventDefault();
    move(to);
  });
  line.addEventListener("pointerdown", (pointer) => {
    pointer.preventDefault();
    line.focus();
    line.setPointerCapture(pointer.pointerId);
  });
  line.addEventListener("pointermove", (pointer) => {
    if (!line.hasPointerCapture(pointer.pointerId)) return;
    const { left, width } = line.parentElement.getBoundingClientRect();
    move((100 * (pointer.clientX - left)) / width);
  });
  line.addEventListener("dblclick", () => move(FIRST));
  move(share);
}
