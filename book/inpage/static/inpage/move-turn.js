// W_Q rotates the vector of sleeps into its query, and the weights follow.
(() => {
  const { row, softmax, number, drawn, picture, label, slider, button, buttons, table, summary, move, beside } = inPage;
  const VECTORS = [[1.8, -0.8], [-1.5, 1.2], [1.2, 1.8], [-0.6, -1.9]]; // the chapter's; W_K leaves them as they are
  const FAR = 2.5; // the plane, from -FAR to FAR
  const SIZE = Math.sqrt(2); // of a key, for the scale

  const place = ([x, y]) => [140 + (130 / FAR) * x, 140 - (130 / FAR) * y];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const arrow = (to, color) => {
    const [x, y] = place(to);
    return [drawn("path", { d: `M140 140L${x} ${y}`, stroke: `var(--${color})`, "stroke-width": 3 }),
      drawn("circle", { cx: x, cy: y, r: 6, fill: `var(--${color})` })];
  };

  move("turn", "Rotate the query", () => {
    const { words } = row;
    const plane = picture(280, 280, "The plane with the keys of the four words and the query of sleeps as arrows from the origin.");
    const numbers = table("The query of sleeps against each key", "word", "score", "weight");
    const { element: line, say } = summary();

    // x W_Q for W_Q = [[cos, sin], [-sin, cos]], which rotates to the left.
    const show = (degrees) => {
      const angle = (degrees * Math.PI) / 180, [x, y] = VECTORS[3];
      const query = [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];
      const scores = VECTORS.map((key) => dot(query, key) / SIZE), weights = softmax(scores);
      plane.replaceChildren(
        drawn("path", { d: "M10 140H270M140 10V270", stroke: "#999" }),
        ...VECTORS.flatMap((key, j) => [...arrow(key, "key"),
          label(place(key)[0], place(key)[1] + (key[1] > 0 ? -12 : 22), words[j])]),
        ...arrow(query, "query"), // and its name beside it
        label(...place([0.6 * query[0] + 0.3 * query[1], 0.6 * query[1] - 0.3 * query[0]]), "query",
          { style: "fill: var(--query)" }));
      numbers.show(words.map((word, j) => [word, number(scores[j], 2), number(weights[j])]));
      const most = weights.indexOf(Math.max(...weights));
      say(`Rotated by ${number(degrees, 0)} degrees, the query of sleeps gives most weight, ${number(weights[most])}, to ${words[most]}.`);
    };

    const angle = slider("Angle in degrees", { value: 0, min: 0, max: 360, step: 1 }, show);
    const turn = (degrees) => { angle.set(degrees); show(degrees); };
    turn(0);
    return [angle.line,
      buttons(button("Find cat", () => turn(164)), button("Start over", () => turn(0))),
      beside(plane, numbers.element), line];
  });
})();
