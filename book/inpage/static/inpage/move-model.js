// The trained model on the reader's own answers. Python is loaded by the first press.
(() => {
  const { data, make, ask, canRun, handed, sentence, table, button, buttons, move, beside } = inPage;
  const NOT_HERE = "A model of your own needs Python in the page, which runs only where the book is read from a site.";
  const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  move("model", "Your model", () => {
    if (!canRun || !data.answers) return [make("p", { textContent: NOT_HERE })];
    const line = make("p", { className: "inpage-line" });
    const amount = make("p", { className: "inpage-line" }); // not read aloud
    const answer = make("p", { className: "inpage-said" });
    const live = make("div", {}, line, answer);
    live.setAttribute("role", "status");
    const kept = make("p", { className: "inpage-line" });
    const steps = table("Each step of the model", "step", "whose");
    const title = make("summary", { textContent: "The steps" });
    const list = make("details", { hidden: true }, title, beside(steps.element));
    const anyway = make("input", { type: "checkbox", id: "model-anyway" });
    let seed = 0;
    let isBusy = false;
    let next = null; // what was pressed last while something ran

    const say = (text, howFar = "") => {
      if (line.textContent !== text) line.textContent = text;
      amount.textContent = howFar;
    };
    const showKept = () => {
      const { count, foreign } = handed();
      kept.textContent = `This browser keeps your answers to ${count} of the ${data.answers.length} steps.`
        + (foreign ? ` Not counted: ${many(foreign, "text")} that you read from a file and haven't checked yet.` : "");
    };
    const showSteps = (found) => {
      const yours = found.filter((step) => step.yours).length;
      title.textContent = `${yours} of ${found.length} steps are yours`;
      steps.show(found.map((step) => [step.name,
        `${step.yours ? "yours" : "the library's"}${step.why ? `: ${step.why}` : ""}`]));
      list.hidden = false;
    };
    const wish = async (wished) => {
      const result = await ask({ kind: "model", texts: [], answers: handed().text,
        wish: JSON.stringify({ ...wished, anyway: anyway.checked }) }, say);
      say(result.steps ? "" : result.message);
      if (!result.steps) return null;
      showSteps(result.steps);
      return result;
    };

    const press = async (job) => {
      if (isBusy) { next = job; return; }
      isBusy = true;
      await job();
      isBusy = false;
      const waiting = next;
      next = null;
      if (waiting) press(waiting);
    };

    const parts = sentence(() => {
      parts.draw({});
      answer.textContent = "";
    });
    const askIt = async () => {
      const text = parts.text(), result = await wish({ text });
      if (!result || text !== parts.text()) return; // the words were changed meanwhile
      answer.textContent = `${text.slice(text.indexOf("What is"))} ${result.answer}`;
      parts.draw(Object.fromEntries(result.weights.map((weight, j) => [j, weight]).filter(([, weight]) => weight)));
    };
    const writeIt = async () => {
      const result = await wish({ seed: seed += 1, text: "The" });
      if (result) answer.textContent = result.written;
    };
    parts.start();
    showKept();
    for (const event of ["kept", "storage"]) addEventListener(event, showKept);
    const [swap, over] = parts.moves;
    const check = make("p", { className: "inpage-check" }, anyway,
      make("label", { htmlFor: anyway.id, textContent: "Use my functions even if they give other numbers" }));
    const main = button("Ask it", () => press(askIt));
    main.className = "inpage-main";
    return [kept, parts.choices, buttons(main, button("Let it write", () => press(writeIt)), swap, over), check,
      amount, live, beside(parts.svg, parts.numbers.element), list];
  });
})();
