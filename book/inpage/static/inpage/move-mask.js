// A mask painted cell by cell, and the weights that follow.
(() => {
  const { row, make, softmax, number, drawn, picture, label, button, buttons, table, summary, move, beside } = inPage;
  const SCORES = [[0, 0, 0, 0], [1, 0, 1, 0], [0.25, 0.5, 1, 0.45], row.scores];
  const SIDE = 50; // px of a cell of the picture
  const KINDS = { Causal: (i, j) => j <= i, "Window, 1 back": (i, j) => j <= i && i - j <= 1,
    "Padding after 3": (i, j) => j < 3, "All seen": () => true, "None seen": () => false };

  move("mask", "Paint a mask", () => {
    const { words } = row;
    let mask = null, paints = null, pressed = null; // by a pointer: what it paints, and its first cell
    const svg = picture(300, 4 * SIDE + 32, "A grid of the weights, a row for each query: the stronger its colour, the more weight. The second table has their numbers.");
    const numbers = table("The weights that follow", "query", ...words);
    const { element: line, say } = summary();

    const cells = words.map((query, i) => words.map((key, j) => {
      const cell = make("button", { type: "button" });
      cell.dataset.at = `${i} ${j}`;
      cell.onclick = () => { // by key, or after the pointer that has painted it
        if (pressed !== cell) paint(i, j, !mask[i][j]);
        pressed = null;
      };
      return cell;
    }));
    const th = (textContent, scope) => make("th", { textContent, scope });
    const grid = make("table", { className: "inpage-grid" },
      make("caption", { textContent: "The mask: press or paint what a query may see" }),
      make("thead", {}, make("tr", {}, th("query", "col"), ...words.map((word) => th(word, "col")))),
      make("tbody", {}, ...words.map((word, i) => make("tr", {}, th(word, "row"),
        ...cells[i].map((cell) => make("td", {}, cell))))));

    const at = (element) => element?.dataset.at?.split(" ").map(Number);
    grid.onpointerdown = (event) => {
      const place = at(event.target);
      if (!place || event.button !== 0) return;
      pressed = event.target;
      paints = !mask[place[0]][place[1]];
      paint(...place, paints);
    };
    grid.onpointermove = ({ clientX, clientY, buttons }) => {
      if (!buttons) paints = null;
      const under = document.elementFromPoint(clientX, clientY);
      const place = grid.contains(under) ? at(under) : null;
      if (paints === null || !place || mask[place[0]][place[1]] === paints) return;
      pressed = null;
      paint(...place, paints);
    };
    grid.onpointerup = grid.onpointercancel = () => { paints = null; };

    const show = () => {
      const weights = SCORES.map((scores, i) =>
        softmax(scores.map((score, j) => (mask[i][j] ? score : -Infinity))));
      cells.forEach((line, i) => line.forEach((cell, j) => {
        cell.setAttribute("aria-pressed", mask[i][j]);
        cell.textContent = number(mask[i][j] ? SCORES[i][j] : -Infinity, 2);
        cell.setAttribute("aria-label", `${words[i]} sees ${words[j]}: ${cell.textContent}`);
      }));
      svg.replaceChildren(...words.flatMap((word, i) => [
        label(60, 30 + SIDE * (i + 0.6), word, { "text-anchor": "end" }),
        label(70 + SIDE * (i + 0.5), 20, word),
        ...weights[i].flatMap((weight, j) => [drawn("rect", { x: 70 + SIDE * j, y: 30 + SIDE * i,
          width: SIDE, height: SIDE, fill: "var(--weights)", "fill-opacity": weight, stroke: "#777" }),
        label(70 + SIDE * (j + 0.5), 30 + SIDE * (i + 0.6), number(weight, 2),
          { style: `fill: ${weight > 0.8 ? "#fff" : "#000"}` })])]));
      numbers.show(words.map((word, i) => [word, ...weights[i].map((weight) => number(weight))]));
      const blind = words.filter((word, i) => !mask[i].includes(true));
      say(blind.length ? `${blind.join(", ")} may see no key: all weights there are 0, not a share each.`
        : "Each row of weights sums to 1.");
    };
    const paint = (i, j, seen) => { mask[i][j] = seen; show(); };
    const setAll = (kind) => {
      mask = words.map((_, i) => words.map((__, j) => kind(i, j)));
      show();
    };
    setAll(KINDS.Causal);
    return [grid, buttons(...Object.entries(KINDS).map(([name, kind]) => button(name, () => setAll(kind)))),
      beside(svg, numbers.element), line];
  });
})();
