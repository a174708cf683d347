// What an arrow or a box of the graph means stands beside it, for the mouse and for the keyboard.
import { element, prose } from "./dom.js";

const GAP = 14; // pixels from the pointer

function hideAll() {
  for (const tip of document.querySelectorAll(".fp-tip")) tip.hidden = true;
}
addEventListener("scroll", hideAll, { passive: true, capture: true });

/** Also shows the arrow of each step of the cycle. */
export function explainGraph(finding) {
  const picture = finding.querySelector(".fp-picture");
  if (!picture) return;
  const tip = element("div", "", "fp-tip");
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  picture.append(tip);
  const hide = () => (tip.hidden = true);
  for (const part of picture.querySelectorAll(".edge, .event")) explain(part, tip, hide);
  picture.addEventListener("keydown", (key) => key.key === "Escape" && hide());
  for (const step of finding.querySelectorAll(".fp-cycle li")) {
    const { source, target } = step.dataset;
    const edge = picture.querySelector(`.edge[data-source="${source}"][data-target="${target}"]`);
    if (!edge) continue;
    step.addEventListener("mouseenter", () => edge.classList.add("fp-pointed"));
    step.addEventListener("mouseleave", () => edge.classList.remove("fp-pointed"));
  }
}

function explain(part, tip, hide) {
  const title = part.querySelector("title");
  const words = title.textContent;
  title.remove(); // browsers would show it too
  part.setAttribute("aria-label", words.replaceAll("`", ""));
  if (!part.hasAttribute("role")) part.setAttribute("role", "img");
  const show = (x, y) => {
    tip.replaceChildren(...prose(words));
    tip.hidden = false;
    place(tip, x, y);
  };
  part.addEventListener("mousemove", (mouse) => show(mouse.clientX, mouse.clientY));
  part.addEventListener("mouseleave", hide);
  if (!part.matches(".edge")) return; // boxes are read where they are; the keyboard goes from arrow to arrow
  part.addEventListener("focus", () => {
    part.scrollIntoView({ block: "nearest", inline: "nearest" });
    // The scrolling hides tooltips, and comes to an end first.
    requestAnimationFrame(() => requestAnimationFrame(() => show(...middle(part))));
  });
  part.addEventListener("blur", hide);
}

/** The middle of the line of an arrow, on the screen. */
function middle(part) {
  const line = part.querySelector("path.a");
  const at = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
  return [at.x, at.y];
}

/** Beside the point, and inside the window. */
function place(tip, x, y) {
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + GAP, innerWidth - width - 8));
  const below = y + GAP + height < innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(8, below ? y + GAP : y - GAP - height)}px`;
}
