// What a reader moves by hand, with no Python: the parts that they share.
// A page has a marked place for each; without scripts it stays hidden.
Object.assign(inPage, (() => {
  const { all, make, data } = inPage;
  const row = { words: ["Ada's", "old", "cat", "sleeps"], scores: [1.0, 0.5, 2.5, -0.1] };
  const MOST = 1e6; // larger ones would overflow in a difference

  // As attnlib: where no key may be seen, all weights are 0.
  const softmax = (scores) => {
    const most = Math.max(...scores);
    if (most === -Infinity) return scores.map(() => 0);
    const exps = scores.map((score) => Math.exp(score - most));
    const sum = exps.reduce((a, b) => a + b);
    return exps.map((e) => e / sum);
  };
  const number = (value, digits = 3) => {
    if (value === -Infinity) return "−∞";
    const text = value.toFixed(digits);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  };

  const drawn = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  // A picture `wide` by `high`, with its text for those who cannot see it.
  const picture = (wide, high, text) => {
    const svg = drawn("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": text });
    svg.style.maxWidth = `${wide}px`;
    return svg;
  };
  const label = (x, y, text, more = {}) =>
    drawn("text", { x, y, "text-anchor": "middle", ...more }, text);

  // A slider and a field for the same number; the field takes larger ones, too.
  const slider = (name, { value, min, max, step, least = -MOST }, moved) => {
    const range = make("input", { type: "range", min, max, step, value });
    const field = make("input", { type: "number", min: least, max: MOST, step: "any", value });
    range.setAttribute("aria-label", name);
    field.setAttribute("aria-label", `${name}, as a number`);
    let now = value;
    const take = (from) => {
      if (from.value === "" || !Number.isFinite(from.valueAsNumber)) return;
      const taken = Math.min(MOST, Math.max(least, from.valueAsNumber));
      (from === range ? field : range).value = taken;
      now = taken;
      moved(taken);
    };
    range.oninput = () => take(range);
    field.oninput = () => take(field);
    field.onchange = () => { field.value = now; }; // no other than what is used
    const set = (next) => { range.value = next; field.value = next; now = next; };
    const shown = make("span", { textContent: name });
    shown.setAttribute("aria-hidden", true); // both inputs say it
    const line = make("div", { className: "inpage-slider" }, shown, range, field);
    return { line, set };
  };
  // A list to choose a word from.
  const choice = (name, words, chosen) => {
    const id = `choice-${all("select").length}-${name.replace(/\W/g, "")}`;
    const list = make("select", { id }, ...words.map((word) => make("option", { textContent: word })));
    list.onchange = () => chosen(list.value);
    // Beside the list: a label around it would be read with all the words.
    const element = make("div", {}, make("label", { htmlFor: list.id, textContent: name }), list);
    return { element, choose: (word) => { list.value = word; } };
  };
  const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
  const buttons = (...children) => make("p", { className: "inpage-buttons" }, ...children);

  // The numbers; the first of each row is its name.
  const table = (caption, ...heads) => {
    const th = (textContent, scope) => make("th", { textContent, scope });
    const body = make("tbody");
    const element = make("table", {}, make("caption", { textContent: caption }),
      make("thead", {}, make("tr", {}, ...heads.map((head) => th(head, "col")))), body);
    const show = (rows) => body.replaceChildren(...rows.map(([name, ...cells]) =>
      make("tr", {}, th(name, "row"), ...cells.map((textContent) => make("td", { textContent })))));
    return { element, show };
  };

  // One sentence, read aloud once the reader has stopped moving.
  const summary = () => {
    const element = make("p", { className: "inpage-line" });
    element.setAttribute("aria-live", "polite");
    let timer = 0;
    const say = (text) => {
      clearTimeout(timer);
      timer = setTimeout(() => { element.textContent = text; }, 700);
    };
    return { element, say };
  };

  const move = (kind, title, build) => document.addEventListener("DOMContentLoaded", () => {
    for (const place of all(`[data-move="${kind}"]`)) {
      for (const [role, color] of Object.entries(data.colors))
        place.style.setProperty(`--${role}`, color);
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", title);
      place.append(make("p", { className: "inpage-title", textContent: title }));
      place.append(...build());
      place.hidden = false;
    }
  });
  const beside = (...children) => make("div", { className: "inpage-beside" }, ...children);
  return { row, softmax, number, drawn, picture, label, slider, choice, button, buttons, table, summary, move, beside };
})());
