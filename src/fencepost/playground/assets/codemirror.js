// The editor made of CodeMirror's parts.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "/vendor/codemirror-commands.js";
import {
  bracketMatching,
  HighlightStyle,
  indentUnit,
  StreamLanguage,
  syntaxHighlighting,
} from "/vendor/codemirror-language.js";
import { lintGutter, setDiagnostics } from "/vendor/codemirror-lint.js";
import { Compartment, EditorState, Prec, StateEffect, StateField } from "/vendor/codemirror-state.js";
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

/** What every editor of the page has. */
export const common = () => [
  EditorView.cspNonce.of(document.body.dataset.nonce),
  EditorView.lineWrapping,
  lineNumbers(),
];

export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.comment, class: "tok-comment" },
    { tag: tags.keyword, class: "tok-keyword" },
    { tag: tags.atom, class: "tok-mode" },
    { tag: tags.number, class: "tok-number" },
    { tag: tags.variableName, class: "tok-name" },
    { tag: tags.labelName, class: "tok-access" },
  ]),
);

export let coloured; // the language of a format, once its words are known

const setMarks = StateEffect.define();
const setStep = StateEffect.define();

/** Lines that are set off until other ones are; they move with the text. */
function linesSetBy(effectType, decorations) {
  return StateField.define({
    create: () => Decoration.none,
    update(shown, change) {
      const moved = shown.map(change.changes);
      const effect = change.effects.findLast((one) => one.is(effectType));
      return effect ? Decoration.set(decorations(change.state.doc, effect.value), true) : moved;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

const marks = linesSetBy(setMarks, (doc, all) => {
  const byLine = new Map();
  for (const mark of all) {
    if (mark.line < 1 || mark.line > doc.lines) continue;
    const said = byLine.get(mark.line)?.says ?? [];
    byLine.set(mark.line, { part: mark.part, says: [...said, mark.says] });
  }
  return [...byLine].map(([line, { part, says }]) =>
    Decoration.line({ class: `mark mark-${part}`, attributes: { title: says.join("\n") } }).range(doc.line(line).from),
  );
});

const step = linesSetBy(setStep, (doc, line) =>
  line < 1 || line > doc.lines ? [] : [Decoration.line({ class: "step" }).range(doc.line(line).from)],
);

export function makeEditor(parent, words, events) {
  const languages = new Compartment();
  const themes = new Compartment();
  const theme = () => EditorView.darkTheme.of(window.theme.isDark());
  coloured = (format) => StreamLanguage.define(language(format, words));
  const ask = () => {
    events.ask();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        common(),
        themes.of(theme()),
        history(),
        drawSelection(),
        bracketMatching(),
        highlightActiveLine(),
        indentUnit.of("    "),
        Prec.high(keymap.of([{ key: "Mod-Enter", run: ask }])),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        languages.of(coloured("tpl")),
        colours,
        marks,
        step,
        lintGutter(),
        EditorView.contentAttributes.of({ "aria-label": "The program", "aria-describedby": "keys" }),
        EditorView.updateListener.of((update) => update.docChanged && events.changed()),
      ],
    }),
  });
  document.addEventListener("themechange", () => view.dispatch({ effects: themes.reconfigure(theme()) }));
  const setLanguage = (format) => view.dispatch({ effects: languages.reconfigure(coloured(format)) });
  return {
    text: () => view.state.doc.toString(),
    setText(text, format) {
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        effects: [setMarks.of([]), setStep.of(0)],
      });
      setLanguage(format);
    },
    setLanguage,
    setMarks: (all) => view.dispatch({ effects: setMarks.of(all) }),
    showLine(line) {
      const effects = [setStep.of(line)];
      if (line >= 1 && line <= view.state.doc.lines) {
        effects.push(EditorView.scrollIntoView(view.state.doc.line(line).from, { y: "nearest" }));
      }
      view.dispatch({ effects });
    },
    showMistake: (mistake) =>
      view.dispatch(setDiagnostics(view.state, mistake ? [diagnostic(view.state.doc, mistake)] : [])),
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
