// How the languages of programs are coloured: comments, keywords, access modes, numbers, names.

const MODES = ["rlx", "acq", "rel", "acq_rel", "seq_cst"];
const C_WORDS = [
  ...["if", "else", "while", "int", "atomic_int", "exists", "forall", "locations", "C", "void", "volatile"],
];
const AUTOMATA_WORDS = [
  ...["memory_size", "thread", "initial", "transition", "end", "read", "write", "check", "mfence", "local"],
  ...["lock", "unlock", "noop", "arw"],
];
const PERSIST_WORDS = ["data", "process", "begin", "end", "if", "then", "else", "while", "do", "goto"];

/** What CodeMirror needs to know of a language, one token at a time. */
export function language(format, keywords) {
  const words = { tpl: keywords, litmus: C_WORDS, automata: AUTOMATA_WORDS, persist: PERSIST_WORDS }[format];
  const known = new Set(words ?? []);
  const comment = format === "automata" ? /^#.*/ : /^\/\/.*/;
  return {
    name: format,
    languageData: { commentTokens: { line: format === "automata" ? "#" : "//" } },
    token(stream) {
      if (stream.eatSpace()) return null;
      if (stream.match(comment)) return "comment";
      if (stream.match(/^\d\w*/)) return "number";
      const word = stream.match(/^[A-Za-z_]\w*/);
      if (word) return kind(word[0], known);
      stream.next();
      return null;
    },
  };
}

function kind(word, known) {
  if (MODES.includes(word) || word.startsWith("memory_order_")) return "atom";
  if (known.has(word)) return "keyword";
  return /^(load|store|naload|nastore|atomic_\w+)$/.test(word) ? "labelName" : "variableName";
}
