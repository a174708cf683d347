// The editor made of CodeMirror's parts.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "/vendor/codemirror-commands.js";
import {
  bracketMatching,
  HighlightStyle,
  indentUnit,
  StreamLanguage,
  syntaxHighlighting,
} from "/vendor/codemirror-language.js";
import { forceLinting, linter, lintGutter, setDiagnostics } from "/vendor/codemirror-lint.js";
import { MergeView } from "/vendor/codemirror-merge.js";
import { Compartment, EditorState, StateEffect, StateField } from "/vendor/codemirror-state.js";
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from "/vendor/codemirror-view.js";
import { tags } from "/vendor/lezer-highlight.js";
import { language } from "/assets/languages.js";

// What every editor of the page has.
const common = [
  EditorView.cspNonce.of(document.body.dataset.nonce),
  EditorView.darkTheme.of(matchMedia("(prefers-color-scheme: dark)").matches),
  lineNumbers(),
];

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.comment, class: "tok-comment" },
    { tag: tags.keyword, class: "tok-keyword" },
    { tag: tags.atom, class: "tok-mode" },
    { tag: tags.number, class: "tok-number" },
    { tag: tags.variableName, class: "tok-name" },
    { tag: tags.labelName, class: "tok-access" },
  ]),
);

const lineToShow = StateEffect.define();
const shownLine = StateField.define({
  create: () => Decoration.none,
  update(shown, change) {
    for (const effect of change.effects) {
      if (effect.is(lineToShow)) shown = marked(change.state.doc, effect.value);
    }
    return change.docChanged ? Decoration.none : shown;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function marked(doc, line) {
  if (line < 1 || line > doc.lines) return Decoration.none;
  return Decoration.set([Decoration.line({ class: "step" }).range(doc.line(line).from)]);
}

let coloured; // the language of a format, once its keywords are known

export function makeEditor(parent, keywords, events) {
  const languages = new Compartment();
  coloured = (format) => StreamLanguage.define(language(format, keywords));
  const readAndUnderline = async (view) => {
    const text = view.state.doc;
    const mistake = await events.read();
    return mistake && view.state.doc.eq(text) ? [diagnostic(view.state.doc, mistake)] : [];
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        common,
        history(),
        drawSelection(),
        bracketMatching(),
        highlightActiveLine(),
        indentUnit.of("    "),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        languages.of(coloured("tpl")),
        colours,
        shownLine,
        lintGutter(),
        linter(readAndUnderline, { delay: 400 }),
        EditorView.contentAttributes.of({ "aria-label": "The program" }),
        EditorView.updateListener.of((update) => update.docChanged && events.changed()),
      ],
    }),
  });
  const setLanguage = (format) => {
    view.dispatch({ effects: languages.reconfigure(coloured(format)) });
    forceLinting(view);
  };
  return {
    text: () => view.state.doc.toString(),
    setText(text, format) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      setLanguage(format);
    },
    setLanguage,
    showLine: (line) => view.dispatch({ effects: lineToShow.of(line) }),
    showMistake: (mistake) =>
      view.dispatch(setDiagnostics(view.state, [diagnostic(view.state.doc, mistake)])),
  };
}

/** From the place of the mistake to the end of the word there. */
function diagnostic(doc, mistake) {
  const line = doc.line(Math.max(1, Math.min(mistake.line, doc.lines)));
  const from = Math.min(line.from + Math.max(0, mistake.column - 1), line.to);
  const word = /^(\w+|\s*\S)?/.exec(doc.sliceString(from, line.to))[0];
  const start = word ? from : Math.max(line.from, from - 1);
  return { from: start, to: from + word.length, severity: "error", message: mistake.message };
}

export function showDifference(parent, before, after, format) {
  const extensions = [common, EditorState.readOnly.of(true), coloured(format), colours];
  const side = (doc) => ({ doc, extensions });
  new MergeView({ a: side(before), b: side(after), parent, collapseUnchanged: { margin: 3 } });
}
