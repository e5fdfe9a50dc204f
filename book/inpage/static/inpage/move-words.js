// The words of a sentence changed, and what the trained model then looks at: numbers of NumPy's,
// computed when the book was built.
(() => {
  const { data, make, number, drawn, picture, label, choice, button, buttons, table, summary, move, beside } = inPage;
  const WIDE = 400, LINE = 74, LETTER = 7.4, BAR = 38; // px, of the picture as it is drawn
  const START = { first: "trophy", second: "suitcase", adjective: "big" };

  // As the model reads it; the first token, a mark for the beginning, stands for no word.
  const wordsOf = ({ first, second, adjective }) => (`<start> the ${first} does not fit in the ${second} because it is too ${adjective} . `
    + `what is too ${adjective} ? the`).split(" ");

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

  move("words", "Change the words", () => {
    let chosen = { ...START };
    const svg = picture(WIDE, 2 * LINE, "The sentence with a bar above each word: the higher, the more weight the last word gives to it. The table has the largest weights.");
    const numbers = table("The largest weights of the last word", "word", "weight");
    const { element: line, say } = summary();

    const show = () => {
      const words = wordsOf(chosen), { first, second, adjective } = chosen;
      const look = data.words.looks[`${first} ${second} ${adjective}`];
      const places = placed(words.slice(1));
      svg.replaceChildren(...words.slice(1).flatMap((word, j) => {
        const { x, y, width } = places[j], high = BAR * (look.weights[j + 1] ?? 0);
        return [drawn("rect", { x: x - width / 2 + 3, y: y - 16 - high, width: width - 6, height: high, fill: "var(--weights)" }),
          label(x, y, word, j === words.length - 2 ? { "font-weight": 700 } : {})];
      }));
      const largest = Object.entries(look.weights).sort((a, b) => b[1] - a[1]).slice(0, 3);
      numbers.show(largest.map(([j, weight]) => [words[j], number(weight)]));
      say(`What is too ${adjective}? The model answers: the ${look.answer}. It gives this word a probability of ${number(look.probability)}.`);
    };

    // Two equal nouns make no sentence: the other one takes the place of what was here.
    const set = (next) => {
      chosen = next;
      for (const [name, { choose }] of Object.entries(lists)) choose(chosen[name]);
      show();
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
    set(START);
    return [make("div", { className: "inpage-choices" }, ...Object.values(lists).map(({ element }) => element)),
      buttons(button("Swap the nouns", () => set({ ...chosen, first: chosen.second, second: chosen.first })),
        button("Start over", () => set({ ...START }))),
      line, beside(svg, numbers.element)];
  });
})();
