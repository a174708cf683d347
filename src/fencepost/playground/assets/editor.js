// The editor: CodeMirror if the package was built with it, else a plain text field with the same methods.
//
//   text()                     the program
//   setText(text, format)      another program
//   setLanguage(format)        which language to colour
//   setMarks(marks)            the lines that play a part in the answer, with what each does
//   showLine(line)             mark the line of a step, 0 for none
//   showMistake(mistake)       underline a place, null for none
//
// `events.changed` is told of every change, `events.ask` that the answer is wanted now.

export async function makeEditor(parent, words, events) {
  const codemirror = await load("/assets/codemirror.js");
  return codemirror ? codemirror.makeEditor(parent, words, events) : plainEditor(parent, events);
}

/** Two programs side by side, or one below the other where there is little room. */
export async function showDifference(parent, before, after, format) {
  const difference = await load("/assets/difference.js");
  if (difference) return difference.showDifference(parent, before, after, format);
  const text = document.createElement("pre");
  text.textContent = after;
  parent.append(text);
}

async function load(module) {
  try {
    return await import(module);
  } catch {
    return null;
  }
}

function plainEditor(parent, events) {
  const field = document.createElement("textarea");
  field.spellcheck = false;
  field.setAttribute("aria-label", "The program");
  parent.append(field);
  document.getElementById("leaving").hidden = true; // Tab leaves it at once
  field.addEventListener("input", events.changed);
  return {
    text: () => field.value,
    setText(text) {
      field.value = text;
      events.changed();
    },
    setLanguage() {},
    setMarks() {},
    showLine() {},
    showMistake() {},
  };
}
