// The editor of an exercise: bundled once (book/inpage/fetch.py), loaded when
// a reader first enters a text box.
import { defaultKeymap, history, historyKeymap, indentLess, insertNewlineAndIndent } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { LanguageSupport, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// The classes of the page's other listings, so that its theme colours both.
const colours = tagHighlighter([
  { tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword], class: "k" },
  { tag: [tags.moduleKeyword, tags.operatorKeyword], class: "k" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "nf" },
  { tag: tags.definition(tags.className), class: "nc" },
  { tag: [tags.bool, tags.null], class: "kc" },
  { tag: tags.string, class: "s2" },
  { tag: tags.number, class: "mi" },
  { tag: tags.comment, class: "c1" },
  { tag: tags.meta, class: "nd" },
]);

// Tab is not taken: it leaves the editor, as it leaves any text box.
export const edit = (textarea, { label, onChange, onCheck }) => new EditorView({
  doc: textarea.value,
  selection: { anchor: textarea.selectionStart, head: textarea.selectionEnd },
  extensions: [
    history(),
    bracketMatching(),
    indentUnit.of("    "),
    EditorState.tabSize.of(4),
    new LanguageSupport(pythonLanguage),
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", spellcheck: "false" }),
    EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
    keymap.of([
      { key: "Ctrl-Enter", mac: "Cmd-Enter", run: onCheck },
      { key: "Ctrl-Enter", run: onCheck },
      { key: "Enter", run: insertNewlineAndIndent },
      { key: "Ctrl-[", mac: "Cmd-[", run: indentLess },
      ...historyKeymap,
      ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
    ]),
  ],
});
