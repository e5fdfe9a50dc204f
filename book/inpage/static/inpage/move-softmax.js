// Scores and a temperature to weights, as bars.
(() => {
  const { row, softmax, number, drawn, picture, label, slider, button, buttons, table, summary, move, beside } = inPage;
  const HIGH = 150; // px of the weight 1

  move("softmax", "Move the scores and the temperature", () => {
    const { words } = row;
    let scores = [...row.scores], temperature = 1;
    const svg = picture(320, HIGH + 50, "Bars of the weights of the four words. The table has their numbers.");
    const numbers = table("The weights at this temperature", "word", "score", "score / T", "weight");
    const { element: line, say } = summary();

    const show = () => {
      const weights = softmax(scores.map((score) => score / temperature));
      svg.replaceChildren(...words.flatMap((word, j) => {
        const high = HIGH * weights[j], x = 40 + 80 * j, y = HIGH + 22 - high;
        return [drawn("rect", { x: x - 25, y, width: 50, height: high, fill: "var(--weights)" }),
          label(x, y - 6, number(weights[j])), label(x, HIGH + 42, word)];
      }), drawn("path", { d: `M5 ${HIGH + 22}H315`, stroke: "#000" }));
      numbers.show(words.map((word, j) => [word, number(scores[j], 2),
        number(scores[j] / temperature, 2), number(weights[j])]));
      const most = weights.indexOf(Math.max(...weights));
      say(`The largest weight is ${number(weights[most])}, of ${words[most]}.`);
    };

    const lines = words.map((word, j) => slider(`Score of ${word}`,
      { value: scores[j], min: -5, max: 5, step: 0.1 }, (value) => { scores[j] = value; show(); }));
    const heat = slider("Temperature T", { value: 1, min: 0.1, max: 10, step: 0.1, least: 0.01 },
      (value) => { temperature = value; show(); });
    const setAll = (next) => {
      scores = next;
      lines.forEach(({ set }, j) => set(Number(scores[j].toFixed(6))));
      show();
    };
    show();
    return [...lines.map(({ line }) => line), heat.line,
      buttons(button("Add 1 to all scores", () => setAll(scores.map((score) => score + 1))),
        button("Start over", () => { temperature = 1; heat.set(1); setAll([...row.scores]); })),
      beside(svg, numbers.element), line];
  });
})();
