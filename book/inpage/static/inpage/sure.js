// How sure readers are before they open a choice, and at the end of the chapter how that fared.
document.addEventListener("DOMContentLoaded", () => {
  const { all, make, button, read, keep } = inPage;
  const LEVELS = [50, 70, 80, 90, 99]; // percent, besides a guess
  const KEPT = /^([a-d]) (\d\d) (right|wrong) ([34])$/; // of which choice, out of how many
  const keyOf = (name) => `predict ${name}`;
  const answer = (key) => {
    const found = KEPT.exec(read().typed[key] ?? "");
    if (!found) return null;
    const [, letter, percent, verdict, count] = found;
    const choices = Number(count);
    const sure = Math.max(percent / 100, 1 / choices);
    const isRight = verdict === "right";
    const given = isRight ? sure : (1 - sure) / (choices - 1);
    return { letter, percent, choices, sure, isRight, loss: -Math.log(given) };
  };
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  const ask = (text) => {
    const key = keyOf(text.dataset.question);
    const choices = all("details", text.parentNode);
    const guess = Math.round(100 / choices.length);
    let chosen = null;
    let isOpen = false;
    const levels = [guess, ...LEVELS].map((percent) => button(
      percent === guess ? `${percent} %, a guess` : `${percent} %`,
      () => (chosen = percent, show()), { value: percent }));
    const row = make("div", { className: "inpage-buttons" }, ...levels);
    const lead = "How sure are you of your choice? Say so first, then open it.";
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", lead);
    const line = make("p", { className: "inpage-line" });
    line.setAttribute("role", "status");
    text.after(make("p", { className: "inpage-line", textContent: lead }), row, line);
    const show = () => {
      const found = answer(key);
      for (const level of levels) {
        level.setAttribute("aria-pressed", Number(level.value) === Number(found?.percent ?? chosen));
        level.disabled = Boolean(found) || isOpen;
      }
      line.textContent = found ? `You were ${found.percent} % sure of choice ${found.letter}, and `
        + `it's ${found.isRight ? "right" : "wrong"}: a cross-entropy of ${found.loss.toFixed(2)}. `
        + `A guess costs ${Math.log(found.choices).toFixed(2)}.` : "";
    };
    choices.forEach((choice, place) => choice.querySelector("summary").addEventListener("click", () => {
      if (chosen !== null && !isOpen && !answer(key)) {
        const isRight = choice.querySelector("p > b").textContent === "Yes.";
        keep(key, `${"abcd"[place]} ${chosen} ${isRight ? "right" : "wrong"} ${choices.length}`, "");
      }
      isOpen = true;
      show();
    }));
    for (const event of ["kept", "storage"]) addEventListener(event, show);
    show();
    return { key, reset: () => (chosen = null, isOpen = false) };
  };

  // --- at the end of the chapter ---
  const fared = (answers) => {
    const n = answers.length;
    const right = answers.filter(({ isRight }) => isRight).length;
    const expected = sum(answers.map(({ sure }) => sure));
    const spread = Math.sqrt(sum(answers.map(({ sure }) => sure * (1 - sure))));
    const loss = sum(answers.map(({ loss }) => loss)) / n;
    const guess = sum(answers.map(({ choices }) => Math.log(choices))) / n;
    const verdict = Math.abs(right - expected) <= 2 * spread ? "The difference may be chance."
      : `You are ${right < expected ? "too sure" : "not sure enough"}.`;
    return `${right} of ${n} right; given how sure you were, ${expected.toFixed(1)} were expected, `
      + `give or take ${spread.toFixed(1)}. ${verdict} Mean cross-entropy ${loss.toFixed(2)}, where `
      + `guessing costs ${guess.toFixed(2)}.`;
  };
  const groups = (answers) => [...new Set(answers.map(({ percent }) => percent))].sort().map((percent) => {
    const group = answers.filter((one) => one.percent === percent);
    return { percent, count: group.length,
      right: group.filter(({ isRight }) => isRight).length / group.length };
  });
  const drawn = (points) => {
    const x = (share) => 40 + 180 * share;
    const y = (share) => 200 - 180 * share;
    const spots = points.map(({ percent, right }) => [x(percent / 100), y(right)]);
    const ticks = [0, 0.5, 1].map((at) => `<text x="${x(at)}" y="218" text-anchor="middle">`
      + `${100 * at}</text><text x="34" y="${y(at) + 5}" text-anchor="end">${100 * at}</text>`);
    const holder = make("div", { innerHTML: `<svg viewBox="0 0 240 250" role="img"
      aria-label="Percent of right answers against how sure you were; the table has the numbers.">
      <path d="M40 20V200H220M40 200L220 20" fill="none" stroke="#5f6368"/>${ticks.join("")}
      <text x="130" y="240" text-anchor="middle">how sure, in %</text>
      <polyline points="${spots.join(" ")}" fill="none" stroke="#96307f" stroke-width="2"/>
      ${spots.map(([a, b]) => `<circle cx="${a}" cy="${b}" r="5" fill="#96307f"/>`).join("")}</svg>` });
    return holder.firstChild;
  };
  const table = (points) => {
    const line = (tag, ...texts) => make("tr", {}, ...texts.map((text) =>
      make(tag, { textContent: text, ...(tag === "th" && { scope: "col" }) })));
    return make("table", {}, make("caption", { textContent: "All your answers in the book" }),
      make("thead", {}, line("th", "how sure", "answers", "right")),
      make("tbody", {}, ...points.map(({ percent, count, right }) =>
        line("td", `${percent} %`, count, `${Math.round(100 * right)} %`))));
  };

  const asked = all("[data-question]").map(ask);
  if (!asked.length) return;
  const place = make("div", { className: "inpage-move" });
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", "How sure you were");
  const article = document.querySelector(".bd-article");
  const end = article.querySelector(".versions");
  if (end) end.before(place);
  else article.append(place);
  const forget = () => {
    for (const { key, reset } of asked) {
      reset();
      keep(key, "", "");
    }
    place.focus();
  };
  place.tabIndex = -1;
  const sumUp = () => {
    const here = asked.map(({ key }) => answer(key)).filter(Boolean);
    const everywhere = Object.keys(read().typed).filter((key) => key.startsWith("predict "))
      .map(answer).filter(Boolean);
    const points = groups(everywhere);
    place.replaceChildren(make("p", { className: "inpage-title", textContent: "How sure you were" }),
      make("p", { textContent: here.length ? `In this chapter: ${fared(here)}`
        : "Before you open a choice above, say how sure you are of it. Here you will then see how "
          + "often you were right. It's kept only in this browser." }));
    if (everywhere.length) place.append(make("p", { textContent: `In the book: ${fared(everywhere)}` }),
      make("div", { className: "inpage-beside" }, drawn(points), table(points)));
    if (here.length) place.append(make("div", { className: "inpage-buttons" },
      button("Forget this chapter's answers", forget)));
  };
  for (const event of ["kept", "storage"]) addEventListener(event, sumUp);
  sumUp();
});
