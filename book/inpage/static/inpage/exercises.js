// Exercises and other cells that can be run where they stand.
(() => {
  const BESIDE = "script.inpage-exercise"; // between a stub and its check
  const ELSEWHERE = ".inpage-elsewhere"; // what a page cannot run
  const { all, make, data, ask, stopIt, editor, read, keep, setDone, isForeign, trust, handed, state } = inPage;
  const button = (text, press, properties = {}) =>
    make("button", { type: "button", textContent: text, onclick: press, ...properties });
  const listing = (cell) => cell.querySelector(".cell_input pre");
  // The copy button's text is not the code's.
  const code = (cell) => listing(cell).textContent.replace(/\n$/, "");

  const cells = []; // {cell, text()} in the page's order: of a text from a file, the original
  const textsAbove = (cell) => {
    const place = cells.findIndex((other) => other.cell === cell);
    return cells.slice(0, place).map((other) => other.text());
  };

  // Messages come with lines of 76 characters; here the page breaks them.
  const WIDTH = 76;
  const unwrap = (text) => text.split("\n").map((line, n, lines) => {
    const before = lines[n - 1] ?? "";
    const isBroken = before && line && !before.startsWith("  ")
      && `${before} ${line.split(" ")[0]}`.length > WIDTH;
    return (n === 0 ? "" : isBroken ? " " : "\n") + line;
  }).join("");

  // Buttons, a line that says what goes on, and the output.
  const panel = (label, buttons) => {
    const line = make("p", { className: "inpage-line" });
    const amount = make("p", { className: "inpage-line" }); // not read aloud
    const output = make("pre", { className: "inpage-output", hidden: true });
    const live = make("div", {}, line, output);
    live.setAttribute("role", "status");
    const say = (text, howFar = "") => {
      if (line.textContent !== text) line.textContent = text;
      amount.textContent = howFar;
    };
    const halt = button("Stop", () => stopIt(say), { disabled: true });
    const row = make("div", { className: "inpage-buttons" }, ...buttons, halt);
    const element = make("div", { className: "inpage-panel" }, row, amount, live);
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", label);
    const show = (text, status = "") => {
      output.hidden = !text;
      output.textContent = text;
      output.dataset.status = status;
    };
    let isBusy = false;
    const busily = async (question) => {
      if (isBusy) return null;
      isBusy = true;
      halt.disabled = false;
      show("");
      const result = await ask(question, say);
      isBusy = false;
      // Who has pressed Stop by key would be left without a place.
      if (document.activeElement === halt) row.firstChild.focus();
      halt.disabled = true;
      say(result.failed || result.stopped ? result.message : "");
      return result;
    };
    return { element, row, say, show, busily };
  };

  // A button that puts the original into the box, and then what it took away.
  const startOver = (button, original, box) => {
    let before = null;
    const show = () => { button.textContent = before === null ? "Start over" : "Bring it back"; };
    const press = () => {
      const text = box().text();
      const [next, taken] = before === null && text !== original ? [original, text] : [before ?? original, null];
      box().put(next); // which forgets
      before = taken;
      show();
    };
    const forget = () => {
      before = null;
      show();
    };
    return { press, forget };
  };

  // Below a box: whether its text is kept, and where it comes from.
  const below = (box, name, original, button) => {
    const line = make("p", { className: "inpage-line" });
    const live = make("div", {}, line);
    live.setAttribute("role", "status");
    const show = () => {
      const text = state(name, box.text(), original, button);
      if (line.textContent !== text) line.textContent = text;
    };
    for (const event of ["kept", "storage"]) addEventListener(event, show); // here, in another tab
    box.place.after(live);
    show();
  };

  const firstTime = `The first check loads Python into this page: ${data.megabytes} MB, once.`;

  const exercise = (stub, script) => {
    const { name, hints } = JSON.parse(script.textContent);
    const original = code(stub);
    let given = 0;

    const check = async () => {
      trust(name);
      const result = await parts.busily({ kind: "check", name,
        source: box.text(), texts: textsAbove(stub) });
      if (!result) return;
      if (result.status) parts.show(unwrap(result.message), result.status);
      if (result.status === "correct") setDone(name, true);
    };
    const hint = () => {
      given = Math.min(given + 1, hints.length);
      parts.show(unwrap(hints[given - 1]), "hint");
    };
    const over = button("Start over", () => undo.press());
    const undo = startOver(over, original, () => box);
    const onChange = (text) => {
      keep(name, text, original);
      undo.forget();
    };
    const parts = panel(`Exercise ${name}`, [
      button("Check", check, { className: "inpage-main", title: "Ctrl-Enter" }),
      button("Hint", hint), over]);
    const box = editor(read().typed[name] ?? original, {
      label: `Your answer to ${name}`, onChange, onCheck: check });
    const done = make("span", { className: "inpage-done" });
    parts.row.append(done);
    parts.say("", firstTime);
    stub.hidden = script.nextElementSibling.hidden = true;
    stub.after(box.place, parts.element);
    below(box, name, original, "Check");
    cells.push({ cell: stub, text: () => isForeign(name) ? original : box.text() });
    const showDone = () => { done.textContent = read().done[name] ? "Done" : ""; };
    addEventListener("kept", showDone);
    showDone();
  };

  // Any other cell: the listing stays, until the reader wants to edit it.
  const other = (cell) => {
    const original = code(cell);
    const key = `${DOCUMENTATION_OPTIONS.pagename} ${original}`;
    const label = `Code cell ${cells.length + 1}`; // one of many in a list of buttons
    let box = null;
    const text = () => isForeign(key) ? original : box?.text() ?? original;
    const run = async () => {
      trust(key);
      const result = await parts.busily({ kind: "run", texts: [...textsAbove(cell), text()],
        answers: handed().text });
      if (result && "restart" in result) parts.show(result.message || "It prints nothing.");
    };
    const openEditor = (kept) => {
      const undo = startOver(edit, original, () => box);
      box = editor(kept ?? original, { label, onCheck: run, onChange: (next) => {
        keep(key, next, original);
        undo.forget();
      } });
      listing(cell).closest(".cell_input").after(box.place);
      below(box, key, original, "Run");
      listing(cell).closest(".cell_input").hidden = true;
      edit.textContent = "Start over";
      edit.onclick = undo.press;
      if (!kept) box.place.querySelector("textarea").focus();
    };
    const edit = button("Edit", () => openEditor());
    const parts = panel(label, [button("Run", run), edit]);
    parts.element.classList.add("inpage-quiet");
    listing(cell).closest(".cell_input").after(parts.element);
    const kept = read().typed[key];
    if (kept) openEditor(kept);
    cells.push({ cell, text });
  };

  const begin = () => {
    if (!inPage.canRun) return all(BESIDE).forEach((script) => {
      script.insertAdjacentHTML("afterend", JSON.parse(script.textContent).offer);
      script.nextElementSibling.classList.add("inpage-from-file");
    });
    const found = all(".bd-article .cell").filter(listing).map((cell) => ({ cell,
      before: cell.previousElementSibling, after: cell.nextElementSibling }));
    for (const { cell, before, after } of found) {
      if (after?.matches(BESIDE)) exercise(cell, after);
      else if (!cell.matches(ELSEWHERE) && !before?.matches(`${BESIDE}, .inpage-colab, .inpage-proof`)
        && !after?.matches(".inpage-colab")) other(cell);
      else cells.push({ cell, text: () => before?.matches(BESIDE) ? "" : code(cell) });
    }
  };
  document.addEventListener("DOMContentLoaded", begin);
  Object.assign(inPage, { panel, button, unwrap, firstTime });
})();
