// The sentence about what doesn't fit, with its words to choose and a bar above each: how much
// weight the last word gives to it.
Object.assign(inPage, (() => {
  const { data, make, number, drawn, picture, label, choice, button, table } = inPage;
  const WIDE = 400, LINE = 74, LETTER = 7.4, BAR = 38; // px, of the picture as it is drawn
  const START = { first: "trophy", second: "suitcase", adjective: "big" };

  const textOf = ({ first, second, adjective }) => `The ${first} does not fit in the ${second} because it is too ${adjective}. What is too ${adjective}? The`;
  // As the model reads it; the first token, a mark for the beginning, stands for no word.
  const wordsOf = (chosen) => `<start> ${textOf(chosen)}`.toLowerCase().replace(/([.?])/g, " $1").split(" ");

  // The middle of each word, in two lines as in the figure; the longest one is 383 px.
  const placed = (words) => {
    let x = 0, line = 0;
    return words.map((word) => {
      const width = word.length * LETTER + 6;
      if (word === "because") { x = 0; line = 1; }
      x += width;
      return { x: x - width / 2, y: LINE * (line + 1) - 8, width };
    });
  };

  // Lists, two buttons, a picture and its numbers; `changed` is told what is chosen.
  const sentence = (changed) => {
    let chosen = { ...START };
    const svg = picture(WIDE, 2 * LINE, "The sentence with a bar above each word: the higher, the more weight the last word gives to it. The table has the largest weights.");
    const numbers = table("The largest weights of the last word", "word", "weight");
    const draw = (weights) => { // {position: weight}
      const words = wordsOf(chosen), places = placed(words.slice(1));
      svg.replaceChildren(...words.slice(1).flatMap((word, j) => {
        const { x, y, width } = places[j], high = BAR * Math.min(1, weights[j + 1] ?? 0);
        return [drawn("rect", { x: x - width / 2 + 3, y: y - 16 - high, width: width - 6, height: high, fill: "var(--weights)" }),
          label(x, y, word, j === words.length - 2 ? { "font-weight": 700 } : {})];
      }));
      const largest = Object.entries(weights).sort((a, b) => b[1] - a[1]).slice(0, 3);
      numbers.show(largest.map(([j, weight]) => [words[j], number(weight)]));
    };

    // Two equal nouns make no sentence: the other one takes the place of what was here.
    const set = (next) => {
      chosen = next;
      for (const [name, { choose }] of Object.entries(lists)) choose(chosen[name]);
      changed(chosen);
    };
    const change = (name) => (word) => {
      const other = { first: "second", second: "first" }[name];
      const swapped = other && word === chosen[other] ? { [other]: chosen[name] } : {};
      set({ ...chosen, ...swapped, [name]: word });
    };
    const lists = {
      first: choice("What does not fit", data.words.nouns, change("first")),
      second: choice("Into what", data.words.nouns, change("second")),
      adjective: choice("It is too", data.words.adjectives, change("adjective")),
    };
    const choices = make("div", { className: "inpage-choices" }, ...Object.values(lists).map(({ element }) => element));
    const moves = [button("Swap the nouns", () => set({ ...chosen, first: chosen.second, second: chosen.first })),
      button("Start over", () => set({ ...START }))];
    return { choices, moves, svg, numbers, draw, start: () => set({ ...START }), text: () => textOf(chosen) };
  };
  return { sentence };
})());
