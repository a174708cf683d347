// Brings a report to life: the graph explains itself and can be zoomed, and the run can be played.
import { addPlayer } from "./player.js";
import { explainGraph } from "./tooltip.js";
import { addView } from "./view.js";

/** Activate an element of class `fp-report`. */
export function activate(report) {
  for (const finding of report.querySelectorAll(".fp-finding")) {
    explainGraph(finding);
    addView(finding);
    const data = JSON.parse(finding.querySelector(".fp-playback").textContent);
    if (data.frames.length > 1) addPlayer(report, finding, data);
  }
}

// What is folded belongs on paper too.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".fp-report details")) part.open = true;
});
