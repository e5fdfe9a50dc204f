// A deck: its formulas first, then reveal.js, so that sizes are known.
// Keys: S speaker view, Esc or O overview, F full screen, ? all of them.
const SMALLEST_TYPE = 20; // px, also for indices of indices
const SMALLEST_FONT = 26; // px, around a formula: that of tables (slides.css)

let ready;
window.deckIsReady = new Promise((resolve) => { ready = resolve; });

window.MathJax = {
  options: { ignoreHtmlClass: "notes" },
  // A hidden slide has no font to measure.
  chtml: { matchFontHeight: false },
  startup: {
    ready() {
      const { MmlMath } = MathJax._.core.MmlTree.MmlNodes.math;
      MmlMath.defaults.scriptminsize = `${SMALLEST_TYPE / SMALLEST_FONT}em`;
      MathJax.startup.defaultReady();
      MathJax.startup.promise.then(start);
    },
  },
};

const start = async () => {
  const laidOut = new Promise((resolve) => Reveal.on("pdf-ready", resolve));
  await Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false,
    hash: true, slideNumber: "c/t", transition: "none",
    pdfSeparateFragments: false,
    scrollActivationWidth: null, // or a phone shows an empty page
    plugins: [RevealNotes],
  });
  if (/view=print/.test(location.search)) await laidOut;
  ready();
};
