// A query against keys in the plane: its weights, and its output among the values.
(() => {
  const { row, make, softmax, number, drawn, picture, label, slider, button, buttons, table, summary, move, beside } = inPage;
  const KEYS = [[0, 1], [0.75, -1], [1, 0.5], [-0.8, 1.5]];
  const VALUES = [[0, 1], [2, 2], [3, 0], [1, -1]]; // in the order of their hull
  const START = [2, 1]; // its dot products with the keys are the book's row
  const FAR = 2.5; // the plane of the keys, from -FAR to FAR
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];

  // From a point of a plane to a place of its picture.
  const keyPlace = ([x, y]) => [140 + (130 / FAR) * x, 140 - (130 / FAR) * y];
  const valuePlace = ([x, y]) => [50 + 60 * x, 170 - 60 * y];
  const point = (place, color, name, size = 5) => [
    drawn("circle", { cx: place[0], cy: place[1], r: size, fill: `var(--${color})` }),
    label(place[0], place[1] - size - 5, name)];

  move("hull", "Move the query", () => {
    const { words } = row;
    let query = [...START], isHeld = false;
    const plane = picture(280, 280, "The plane of the keys, with the four keys as points and the query as an arrow from the origin. Two sliders move it, too.");
    plane.classList.add("inpage-plane");
    const handle = drawn("circle", { r: 22, class: "inpage-handle" }); // as large as a finger
    const points = drawn("g");
    plane.append(points, handle);
    const hull = picture(280, 280, "The plane of the values, with their hull and the output inside it. The area of each point is like its weight. The table has the numbers.");
    const numbers = table("The query against each key", "word", "score q · k", "weight", "value");
    const { element: line, say } = summary();

    const show = () => {
      const scores = KEYS.map((key) => dot(query, key)), weights = softmax(scores);
      const output = [0, 1].map((c) => dot2(weights, VALUES.map((value) => value[c])));
      const [x, y] = keyPlace(query.map((part) => Math.max(-FAR, Math.min(FAR, part))));
      handle.setAttribute("cx", x);
      handle.setAttribute("cy", y);
      points.replaceChildren(
        drawn("path", { d: "M10 140H270M140 10V270", stroke: "#999" }),
        ...KEYS.flatMap((key, j) => point(keyPlace(key), "key", words[j])),
        drawn("path", { d: `M140 140L${x} ${y}`, stroke: "var(--query)", "stroke-width": 3 }),
        drawn("circle", { cx: x, cy: y, r: 11, fill: "var(--query)" }),
        label(x, Math.max(14, y - 16), "query"));
      const [u, v] = valuePlace(output);
      hull.replaceChildren(
        drawn("path", { d: `M${VALUES.map(valuePlace).join("L")}Z`, fill: "var(--value)", "fill-opacity": 0.12, stroke: "var(--value)" }),
        ...VALUES.flatMap((value, j) => point(valuePlace(value), "value", words[j], 2 + 14 * Math.sqrt(weights[j]))),
        drawn("path", { d: `M${u} ${v - 8}l8 8l-8 8l-8 -8Z`, fill: "var(--output)", stroke: "#fff", "stroke-width": 1.5 }));
      numbers.show([...words.map((word, j) => [word, number(scores[j], 2), number(weights[j]), `(${VALUES[j].map((part) => number(part, 0)).join(", ")})`]),
        ["output", "", "", `(${output.map((part) => number(part)).join(", ")})`]]);
      const most = weights.indexOf(Math.max(...weights));
      say(`The output is ${output.map((part) => number(part)).join(", ")}; the largest weight is ${number(weights[most])}, of ${words[most]}.`);
    };
    const dot2 = (weights, parts) => weights.reduce((sum, weight, j) => sum + weight * parts[j], 0);

    const lines = ["first", "second"].map((name, c) => slider(`Query, ${name} feature`,
      { value: START[c], min: -FAR, max: FAR, step: 0.1 }, (value) => { query[c] = value; show(); }));
    const setQuery = (next) => {
      query = next;
      lines.forEach(({ set }, c) => set(query[c]));
      show();
    };
    const drag = (event) => {
      if (event.type === "pointerdown") {
        // A finger beside the query scrolls the page.
        if (event.pointerType === "touch" && event.target !== handle) return;
        plane.setPointerCapture(event.pointerId);
        isHeld = true;
      }
      if (!isHeld) return;
      const { left, top, width } = plane.getBoundingClientRect(), one = (width / 280) * (130 / FAR);
      const part = (pixels) => Math.max(-FAR, Math.min(FAR, Math.round((10 * pixels) / one) / 10));
      setQuery([part(event.clientX - left - width / 2), part(top + width / 2 - event.clientY)]);
    };
    // Chromium takes no touch-action from a shape inside a picture that has moved: the page would scroll away with the finger.
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    plane.onpointerdown = plane.onpointermove = drag;
    plane.onpointerup = plane.onpointercancel = () => { isHeld = false; };
    show();
    return [make("p", { className: "inpage-line", textContent: "Drag the query, or use the sliders. A score here is the plain dot product, without the scale." }),
      ...lines.map(({ line }) => line), buttons(button("Start over", () => setQuery([...START]))),
      beside(plane, hull), beside(numbers.element), line];
  });
})();
