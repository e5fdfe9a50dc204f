// Proofs whose lines the reader takes in order: lists with buttons, so that keys and speech do.
document.addEventListener("DOMContentLoaded", () => {
  const { all, make, panel, button, unwrap, firstTime, read, keep, setDone, trust, canRun } = inPage;

  const form = (script) => {
    const { name, text, lines } = JSON.parse(script.textContent);
    const key = `order ${name}`;
    const call = (letters) => `from attncourse.exercises import order\n\norder("${name}", "${letters}")`;
    const known = (text) => [...new Set(text)].filter((letter) => letter in lines);
    let taken = known(read().typed[key] ?? "");

    const proof = make("ol", {});
    const rest = make("ul", {});
    const rests = () => Object.keys(lines).filter((letter) => !taken.includes(letter));
    const item = (letter, ...actions) => {
      const text = make("span", { innerHTML: `${letter}) ${lines[letter]}` });
      return make("li", {}, text, make("span", { className: "inpage-buttons" }, ...actions.map(
        ([word, press, isOff]) => {
          const found = button(word, press, { disabled: Boolean(isOff) });
          found.setAttribute("aria-label", `${word}: line ${letter}`);
          found.dataset.action = `${word} ${letter}`;
          return found;
        })));
    };
    const show = () => {
      proof.replaceChildren(...taken.map((letter, place) => item(letter,
        ["Up", () => move(letter, place - 1), place === 0],
        ["Down", () => move(letter, place + 1), place === taken.length - 1],
        ["Leave out", () => move(letter, -1)])));
      rest.replaceChildren(...rests().map((letter) =>
        item(letter, ["Take", () => move(letter, taken.length)])));
      empty.hidden = taken.length > 0;
    };
    // Who has pressed a key goes on at the same line, or at the next one of its list.
    const goOn = (...actions) => actions.map((action) =>
      box.querySelector(`[data-action="${action}"]:enabled`)).find(Boolean)?.focus();
    const move = (letter, place) => {
      const wasTaken = taken.includes(letter);
      const list = wasTaken ? taken : rests();
      const next = list[list.indexOf(letter) + 1] ?? list[list.indexOf(letter) - 1];
      const word = document.activeElement?.dataset.action?.replace(/ \w$/, "");
      taken = taken.filter((other) => other !== letter);
      if (place >= 0) taken.splice(place, 0, letter);
      keep(key, taken.join(""), "");
      parts.show("");
      show();
      parts.say(place < 0 ? `Line ${letter} is left out.`
        : `Line ${letter} is number ${place + 1} of ${taken.length}.`);
      goOn(`${word} ${wasTaken && place >= 0 ? letter : next}`, `Up ${letter}`, `Down ${letter}`,
        `Leave out ${letter}`);
    };
    const check = async () => {
      if (!taken.length) return parts.say("Take a line first.");
      trust(key);
      const result = await parts.busily({ kind: "run", texts: ["", call(taken.join(""))] });
      if (!result?.message || result.failed || result.stopped) return;
      const isDone = result.message.startsWith(`${name}: proved.`);
      parts.show(unwrap(result.message), isDone ? "correct" : "incorrect");
      if (isDone) setDone(key, true);
    };

    const parts = panel(`Proof ${name}`, [button("Check", check, { className: "inpage-main" })]);
    const done = make("span", { className: "inpage-done" });
    parts.row.append(done);
    const titled = (title, list) => {
      list.setAttribute("aria-label", title);
      return [make("p", { className: "inpage-title", textContent: title }), list];
    };
    const empty = make("p", { className: "inpage-line", textContent: "No line is taken yet." });
    const box = make("div", { className: "inpage-order" },
      make("p", { innerHTML: text }), ...titled("Your proof", proof), empty,
      ...titled("Lines to take, some of them wrong", rest));
    const cell = script.nextElementSibling;
    cell.hidden = true;
    cell.after(box, parts.element);
    show();
    parts.say("", firstTime);
    const isElsewhere = () => { // another tab has moved a line
      const kept = known(read().typed[key] ?? "");
      if (kept.join("") !== taken.join("")) (taken = kept, show());
      done.textContent = read().done[key] ? "Done" : "";
    };
    for (const event of ["kept", "storage"]) addEventListener(event, isElsewhere);
    isElsewhere();
  };
  if (canRun) all("script.inpage-proof").forEach(form);
});
