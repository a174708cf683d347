// The editor: CodeMirror if the package was built with it, else a plain text field with the same methods.
//
//   text()                     the program
//   setText(text, format)      another program
//   setLanguage(format)        which language to colour
//   showLine(line)             mark a line, 0 for none
//   showMistake(mistake)       underline a place
//
// `events.read` says what is wrong with the program, `events.changed` is told of every change.

export async function makeEditor(parent, keywords, events) {
  const codemirror = await load();
  return codemirror ? codemirror.makeEditor(parent, keywords, events) : plainEditor(parent, events);
}

/** Two programs side by side. */
export async function showDifference(parent, before, after, format) {
  const codemirror = await load();
  if (codemirror) return codemirror.showDifference(parent, before, after, format);
  const text = document.createElement("pre");
  text.textContent = after;
  parent.append(text);
}

async function load() {
  try {
    return await import("/assets/codemirror.js");
  } catch {
    return null;
  }
}

function plainEditor(parent, events) {
  const field = document.createElement("textarea");
  field.spellcheck = false;
  field.setAttribute("aria-label", "The program");
  parent.append(field);
  let timer = null;
  const changed = () => {
    events.changed();
    clearTimeout(timer);
    timer = setTimeout(events.read, 600);
  };
  field.addEventListener("input", changed);
  return {
    text: () => field.value,
    setText(text) {
      field.value = text;
      changed();
    },
    setLanguage: changed,
    showLine() {},
    showMistake() {},
  };
}
