// What the reader typed and what is done, in this browser alone.
Object.assign(inPage, (() => {
  const book = new URL(document.documentElement.dataset.content_root ?? "",
    location.href).pathname; // other books may share the host
  const KEY = `answers in ${book}`;
  // typed: {name: text}; done: {name: day}; fromFile: {name: when it was read}, of texts that
  // the reader has read from a file and not yet run.
  const PARTS = ["typed", "done", "fromFile"];

  // Whatever the entry holds, its texts come out, and nothing else.
  const texts = (values) => Object.fromEntries(Object.entries(
    typeof values === "object" && values !== null && !Array.isArray(values) ? values : {})
    .filter(([, value]) => typeof value === "string"));
  const parsed = (text) => {
    let found = null;
    try {
      found = JSON.parse(text);
    } catch { /* damaged: nothing can be read */ }
    return Object.fromEntries(PARTS.map((part) => [part, texts(found?.[part])]));
  };
  let last = { raw: null, found: parsed(null) };
  const stored = () => { // as it is there; not to be edited
    let raw = null;
    try {
      raw = localStorage.getItem(KEY);
    } catch { /* storage is off */ }
    if (raw !== last.raw) last = { raw, found: parsed(raw) };
    return last.found;
  };

  // Edits that the browser has not kept, each by what it is about.
  const pending = new Map();
  let why = "";
  const read = () => {
    const kept = structuredClone(stored());
    pending.forEach((edit) => edit(kept));
    return kept;
  };
  const isOff = () => {
    try {
      return localStorage === null;
    } catch {
      return true;
    }
  };
  // Returns why it could not be kept, or "".
  const change = (about, edit) => {
    pending.delete(about);
    pending.set(about, edit);
    try {
      localStorage.setItem(KEY, JSON.stringify(read()));
      pending.clear();
      why = "";
    } catch {
      why = isOff() ? "storage is switched off" : "storage is full";
    }
    dispatchEvent(new Event("kept"));
    return why;
  };
  const forget = (about) => { // an edit that came to nothing
    pending.delete(about);
    dispatchEvent(new Event("kept"));
  };

  const keep = (name, text, original) => change(`typed ${name}`, (kept) => {
    if (text === original) delete kept.typed[name];
    else kept.typed[name] = text;
    if (text === original) delete kept.fromFile[name];
  });
  const setDone = (name, isDone) => change(`done ${name}`, (kept) => {
    if (isDone) kept.done[name] ??= new Date().toISOString().slice(0, 10);
    else delete kept.done[name];
  });
  const isForeign = (name) => Object.hasOwn(read().fromFile, name);
  const trust = (name) => {
    if (isForeign(name)) change(`trust ${name}`, (kept) => { delete kept.fromFile[name]; });
  };

  // The reader's answers that this page asks for, as the file that the first page saves; none that
  // was read from a file and that nobody has run here.
  const handed = () => {
    const { typed, fromFile } = read();
    const names = (inPage.data.answers ?? []).filter((name) => Object.hasOwn(typed, name));
    const own = names.filter((name) => !Object.hasOwn(fromFile, name));
    const kept = Object.fromEntries(own.map((name) => [name, typed[name]]));
    return { count: own.length, foreign: names.length - own.length,
      text: inPage.data.answers && JSON.stringify({ typed: kept }) };
  };

  // Of the text in a box: what is not as a reader would expect, in one line, or "".
  const state = (name, text, original, button) => {
    const kept = stored().typed[name];
    if ((kept ?? original) === text) return isForeign(name)
      ? `This text was read from a file. It runs only when you press ${button} here.` : "";
    if (pending.has(`typed ${name}`)) return `Not kept, because this browser's ${why}: copy this `
      + `text before you leave the page. ${kept === undefined
        ? "No earlier text of yours is kept." : "An earlier text of yours is kept."}`;
    return "Another tab has changed this text: what stands there is kept, and this is not. "
      + "Type here to keep this instead.";
  };
  return { read, change, forget, keep, setDone, isForeign, trust, handed, state };
})());
