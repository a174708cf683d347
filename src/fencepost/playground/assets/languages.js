// How the languages of programs are coloured: comments, keywords, access modes, numbers, names. The words come
// from the server, which colours reports by them too.

/** What CodeMirror needs to know of a language, one token at a time. */
export function language(format, words) {
  const own = words.languages[format] ?? { comment: "//", keywords: [] };
  const keywords = new Set(own.keywords);
  const comment = own.comment === "#" ? /^#.*/ : /^\/\/.*/;
  return {
    name: format,
    languageData: { commentTokens: { line: own.comment } },
    token(stream) {
      if (stream.eatSpace()) return null;
      if (stream.match(comment)) return "comment";
      if (stream.match(/^\d\w*/)) return "number";
      const word = stream.match(/^[A-Za-z_]\w*/);
      if (word) return kind(word[0], keywords, words.modes);
      stream.next();
      return null;
    },
  };
}

function kind(word, keywords, modes) {
  if (modes.includes(word) || word.startsWith("memory_order_")) return "atom";
  if (keywords.has(word)) return "keyword";
  return /^(load|store|naload|nastore|atomic_\w+)$/.test(word) ? "labelName" : "variableName";
}
