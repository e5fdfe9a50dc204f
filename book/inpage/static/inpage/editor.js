// A text box that becomes an editor with colours when it is first entered,
// where the site has one; it stays a text box that knows Python's indents.
Object.assign(inPage, (() => {
  const TAB = "    ";
  const rows = (text) => text.split("\n").length + 1;
  const onMac = /Mac|iPhone|iPad/.test(navigator.platform);
  const isCheck = (event) => event.key === "Enter"
    && (event.ctrlKey || (onMac && event.metaKey));

  // Enter goes on at the line's indent, one step deeper after a colon.
  const newLine = (box) => {
    const before = box.value.slice(0, box.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const indent = /^ */.exec(line)[0] + (/:\s*(#.*)?$/.test(line) ? TAB : "");
    insert(box, `\n${indent}`);
  };
  const insert = (box, text) => { // in a way that Ctrl-Z undoes
    if (document.execCommand("insertText", false, text)) return;
    box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
    box.dispatchEvent(new Event("input"));
  };
  // Backspace before the code of a line takes one step of its indent away.
  const goBack = (box) => {
    const before = box.value.slice(0, box.selectionStart);
    const isIndent = /(^|\n)( {4})+$/.test(before)
      && box.selectionStart === box.selectionEnd;
    if (isIndent) box.selectionStart -= TAB.length - 1;
  };
  const onKey = (event, box, onCheck) => {
    event.stopPropagation(); // the page's own keys, such as /, stay out
    if (isCheck(event)) {
      event.preventDefault();
      onCheck();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      newLine(box);
    } else if (event.key === "Backspace") goBack(box);
  };

  const editor = (text, { label, onChange, onCheck }) => {
    const box = inPage.make("textarea", { value: text, spellcheck: false,
      autocapitalize: "off", autocomplete: "off", rows: rows(text) });
    box.setAttribute("aria-label", label);
    box.setAttribute("autocorrect", "off");
    const place = inPage.make("div", { className: "inpage-editor highlight" }, box);
    let view = null;
    box.addEventListener("input", () => {
      box.rows = rows(box.value);
      onChange(box.value);
    });
    box.addEventListener("keydown", (event) => onKey(event, box, onCheck));
    box.addEventListener("focus", async () => {
      view = await withColours(box, place, { label, onChange, onCheck });
    }, { once: true });
    const put = (next) => {
      if (view) view.dispatch({ changes: {
        from: 0, to: view.state.doc.length, insert: next } });
      else {
        box.value = next;
        box.dispatchEvent(new Event("input"));
      }
    };
    return { place, put,
      text: () => view?.state.doc.toString() ?? box.value };
  };

  const withColours = async (box, place, { label, onChange, onCheck }) => {
    if (!inPage.data.editor) return null;
    let module;
    try {
      module = await import(new URL(inPage.data.editor, location.href));
    } catch {
      return null; // the text box does
    }
    const hadFocus = document.activeElement === box;
    const view = module.edit(box, { label, onChange,
      onCheck: () => { onCheck(); return true; } });
    view.dom.addEventListener("keydown", (event) => event.stopPropagation());
    box.replaceWith(view.dom);
    if (hadFocus) view.focus();
    return view;
  };
  return { editor };
})());
