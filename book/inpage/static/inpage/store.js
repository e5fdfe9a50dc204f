// What the reader typed and what is done, in this browser alone.
Object.assign(inPage, (() => {
  const book = new URL(document.documentElement.dataset.content_root ?? "",
    location.href).pathname; // other books may share the host
  const KEY = `answers in ${book}`;
  const empty = () => ({ typed: {}, done: {} });
  const read = () => {
    try {
      return { ...empty(), ...JSON.parse(localStorage.getItem(KEY)) };
    } catch { // storage is off, or holds something else
      return empty();
    }
  };
  const change = (edit) => {
    const kept = read();
    edit(kept);
    try {
      localStorage.setItem(KEY, JSON.stringify(kept));
    } catch { /* storage is off or full: the page works, and forgets */ }
    dispatchEvent(new Event("kept"));
  };
  const keep = (name, text, original) => change((kept) => {
    if (text === original) delete kept.typed[name];
    else kept.typed[name] = text;
  });
  const setDone = (name, isDone) => change((kept) => {
    if (isDone) kept.done[name] ??= new Date().toISOString().slice(0, 10);
    else delete kept.done[name];
  });
  return { read, change, keep, setDone };
})());
