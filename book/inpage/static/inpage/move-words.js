// The words of a sentence changed, and what the trained model then looks at: numbers of NumPy's,
// computed when the book was built.
(() => {
  const { data, number, sentence, buttons, summary, move, beside } = inPage;

  move("words", "Change the words", () => {
    const { element: line, say } = summary();
    const parts = sentence(({ first, second, adjective }) => {
      const look = data.words.looks[`${first} ${second} ${adjective}`];
      parts.draw(look.weights);
      say(`What is too ${adjective}? The model answers: the ${look.answer}. It gives this word a probability of ${number(look.probability)}.`);
    });
    parts.start();
    return [parts.choices, buttons(...parts.moves), line, beside(parts.svg, parts.numbers.element)];
  });
})();
