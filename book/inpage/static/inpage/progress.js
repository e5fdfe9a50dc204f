// How much of the book is done: a line in each chapter, all of it on the
// first page, where it can be saved as a file and read again.
(() => {
  const { all, make, data, read, change, forget, setDone } = inPage;
  const FIRST = "chapters/index";
  const to = (page) => new URL(`${page}.html`, new URL(
    document.documentElement.dataset.content_root ?? "./", location.href)).href;
  const tally = (names) => {
    const { done } = read();
    return [names.filter((name) => done[name]).length, names.length];
  };
  const everything = () => data.chapters.flatMap(({ exercises }) => exercises);

  // "2 of 6 exercises of this chapter done, 17 of 58 in the book"
  const inChapter = (chapter) => {
    const line = make("p", { className: "inpage-tally" });
    const show = () => {
      const [done, count] = tally(chapter.exercises);
      const [allDone, allCount] = tally(everything());
      const book = make("a", { href: `${to(FIRST)}#your-progress`,
        textContent: `${allDone} of ${allCount} in the book` });
      line.replaceChildren(`${done} of ${count} exercises of this chapter done, `, book, ".");
    };
    document.querySelector(".bd-article .page-files").after(line);
    return show;
  };

  // What is checked elsewhere is marked by hand.
  const byHand = (offer) => {
    const name = /^check\(["'](\w+)/.exec(
      offer.nextElementSibling.querySelector("pre").textContent)[1];
    const press = () => setDone(name, !read().done[name]);
    const mark = make("button", { type: "button", onclick: press });
    const row = make("span", { className: "inpage-buttons inpage-mark" }, mark);
    offer.append(" ", row);
    return () => {
      const isDone = Boolean(read().done[name]);
      mark.textContent = isDone ? "Done" : "Mark as done";
      mark.setAttribute("aria-label", `${mark.textContent}: ${name}`);
      mark.setAttribute("aria-pressed", isDone);
    };
  };

  // --- the first page ---
  const save = () => {
    const { typed, done } = read();
    const file = new Blob([JSON.stringify({ typed, done }, null, 1)], { type: "application/json" });
    const link = make("a", { href: URL.createObjectURL(file),
      download: "attention-progress.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const isTexts = (values) => typeof values === "object" && values !== null
    && Object.values(values).every((value) => typeof value === "string");
  const load = async (file, say) => {
    let given = null;
    try {
      given = JSON.parse(await file.text());
    } catch { /* said below */ }
    if (!isTexts(given?.done) || !isTexts(given?.typed))
      return say("This file holds no progress that this page has saved.");
    const here = read();
    const names = Object.keys(given.typed).filter((name) => here.typed[name] !== given.typed[name]);
    const changed = names.filter((name) => name in here.typed);
    const isKept = changed.length && !confirm(`This browser holds another text for ${changed.length} of `
      + "the answers in the file. Take the file's, and lose those here?");
    const taken = isKept ? names.filter((name) => !changed.includes(name)) : names;
    const known = everything();
    const done = Object.keys(given.done).filter((name) => known.includes(name) && !here.done[name]);
    const now = new Date().toISOString();
    const why = change("file", (kept) => {
      for (const name of done) kept.done[name] = given.done[name];
      for (const name of taken) {
        kept.typed[name] = given.typed[name];
        kept.fromFile[name] = now; // somebody else's, perhaps: exercises.js doesn't run it unasked
      }
    });
    if (why) {
      forget("file");
      return say(`Nothing was read from ${file.name}, because this browser's ${why}.`);
    }
    say(`Read from ${file.name}: ${count(taken, "text")} and ${count(done, "exercise")} marked as done.`
      + (isKept ? ` Not read, as you chose: ${count(changed, "text")}.` : ""));
  };
  const count = ({ length }, word) => `${length} ${word}${length === 1 ? "" : "s"}`;

  const onFirstPage = () => {
    const total = make("p");
    const list = make("ul");
    const said = make("p", { className: "inpage-line" });
    said.setAttribute("role", "status");
    const say = (text) => { said.textContent = text; };
    const input = make("input", { type: "file", accept: ".json,application/json", hidden: true });
    input.onchange = () => input.files[0] && load(input.files[0], say);
    const buttons = make("p", { className: "inpage-buttons" },
      make("button", { type: "button", textContent: "Save as a file", onclick: save }),
      make("button", { type: "button", textContent: "Read from a file",
        onclick: () => { input.value = ""; input.click(); } }));
    const section = document.getElementById("your-progress");
    section.append(make("h2", { textContent: "Your progress" }), total, list, buttons, input, said);
    section.className = "inpage-book";
    section.hidden = false;
    if (location.hash === "#your-progress") section.scrollIntoView();
    return () => {
      const [done, count] = tally(everything());
      total.textContent = `${done} of ${count} exercises done. This is kept in `
        + "this browser alone, with what you typed: save it as a file before you move.";
      list.replaceChildren(...data.chapters.map(({ page, title, exercises }) => {
        const [some, of] = tally(exercises);
        return make("li", {}, make("a", { href: to(page), textContent: title }),
          `: ${some} of ${of}`);
      }));
    };
  };

  const begin = () => {
    if (!data.chapters) return;
    const shows = all(".inpage-colab").map(byHand);
    const chapter = data.chapters.find(({ page }) => page === data.page);
    if (chapter) shows.push(inChapter(chapter));
    if (data.page === FIRST) shows.push(onFirstPage());
    const showAll = () => shows.forEach((show) => show());
    addEventListener("kept", showAll);
    addEventListener("storage", showAll); // another tab
    showAll();
  };
  document.addEventListener("DOMContentLoaded", begin);
})();
