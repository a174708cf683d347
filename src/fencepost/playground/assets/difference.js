// What a repair changes. Loaded when the first repair is shown.
import { MergeView, unifiedMergeView } from "/vendor/codemirror-merge.js";
import { EditorState } from "/vendor/codemirror-state.js";
import { EditorView } from "/vendor/codemirror-view.js";
import { coloured, colours, common } from "/assets/codemirror.js";

const WIDE = 640; // pixels, for two programs side by side

export function showDifference(parent, before, after, format) {
  const collapseUnchanged = { margin: 2 };
  const extensions = [
    common(),
    EditorState.readOnly.of(true),
    EditorView.darkTheme.of(window.theme.isDark()),
    EditorView.contentAttributes.of({ "aria-label": "The changes" }),
    coloured(format),
    colours,
  ];
  if (parent.clientWidth >= WIDE) {
    const side = (doc) => ({ doc, extensions });
    return new MergeView({ a: side(before), b: side(after), parent, collapseUnchanged });
  }
  const unified = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged });
  return new EditorView({ parent, doc: after, extensions: [extensions, unified] });
}
