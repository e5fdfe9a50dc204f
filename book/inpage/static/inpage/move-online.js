// The softmax in one pass: a score at a time, with a maximum that moves.
(() => {
  const { row, number, drawn, picture, label, slider, button, buttons, table, summary, move, beside } = inPage;
  const HIGH = 150; // px of the exponential 1

  // What is known after each score: the maximum, the factor of the old sum, the sum.
  const pass = (scores) => {
    const known = [];
    let most = -Infinity, sum = 0;
    for (const score of scores) {
      const next = Math.max(most, score), factor = Math.exp(most - next);
      sum = sum * factor + Math.exp(score - next);
      most = next;
      known.push({ score, most, factor, sum });
    }
    return known;
  };

  move("online", "Read the scores one by one", () => {
    const { words } = row;
    let scores = [...row.scores], read = 1;
    const svg = picture(320, HIGH + 50, "Bars of the exponentials of the scores read so far, each below 1 or equal to it. The table has the sums.");
    const numbers = table("The pair after each score read", "read", "score", "maximum m", "factor", "sum ℓ");
    const { element: line, say } = summary();
    const on = button("Read the next score", () => go(read + 1));
    const back = button("Take one back", () => go(read - 1));

    const show = () => {
      const known = pass(scores.slice(0, read));
      const { most, factor, sum } = known.at(-1);
      svg.replaceChildren(...words.flatMap((word, j) => {
        if (j >= read) return [label(40 + 80 * j, HIGH + 42, word, { opacity: 0.6 })];
        const e = Math.exp(scores[j] - most), x = 40 + 80 * j, y = HIGH + 22 - HIGH * e;
        return [drawn("rect", { x: x - 25, y, width: 50, height: HIGH * e, fill: "var(--scores)" }),
          label(x, y - 6, number(e)), label(x, HIGH + 42, word)];
      }), drawn("path", { d: `M5 ${HIGH + 22}H315`, stroke: "#000" }));
      numbers.show(known.map((step, j) => [words[j], number(step.score, 2), number(step.most, 2),
        number(step.factor), number(step.sum)]));
      const repaired = read > 1 ? `the old sum is multiplied by ${number(factor)}, ` : "";
      say(`After ${words[read - 1]} the maximum is ${number(most, 2)}, ${repaired}and the sum is ${number(sum)}.`);
    };
    const go = (next) => {
      read = Math.min(words.length, Math.max(1, next));
      // Not disabled: that would take the focus from who presses it by key.
      on.setAttribute("aria-disabled", read === words.length);
      back.setAttribute("aria-disabled", read === 1);
      show();
    };
    const lines = words.map((word, j) => slider(`Score of ${word}`,
      { value: scores[j], min: -5, max: 5, step: 0.1 }, (value) => { scores[j] = value; show(); }));
    const over = () => {
      scores = [...row.scores];
      lines.forEach(({ set }, j) => set(scores[j]));
      go(1);
    };
    go(1);
    return [...lines.map(({ line }) => line), buttons(on, back, button("Start over", over)),
      beside(svg, numbers.element), line];
  });
})();
