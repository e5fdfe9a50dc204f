// A deck: its formulas first, then reveal.js, so that sizes are known.
// Keys: S speaker view, Esc or O overview, F full screen, ? all of them.
const SMALLEST_TYPE = 20; // px, also for indices of indices
const SMALLEST_FONT = 26; // px, around a formula: that of tables (slides.css)

let ready;
window.deckIsReady = new Promise((resolve) => { ready = resolve; });

window.MathJax = {
  loader: { load: ["ui/safe"] }, // no javascript: in a formula's link
  options: { ignoreHtmlClass: "notes" }, // the speaker's window has no MathJax
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

// The browser itself sets MathML, so that notes need neither script nor style.
const setNotes = () => {
  for (const formula of document.querySelectorAll("aside.notes .math"))
    formula.innerHTML = MathJax.tex2mml(
      formula.textContent.replace(/^\s*\\[([]|\\[)\]]\s*$/g, ""),
      { display: formula.localName === "div" });
};

const start = async () => {
  setNotes();
  const laidOut = new Promise((resolve) => Reveal.on("pdf-ready", resolve));
  await Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false,
    display: "flex", hash: true, transition: "none",
    pdfSeparateFragments: false,
    scrollActivationWidth: null, // or a phone shows an empty page
    plugins: [RevealNotes],
  });
  if (/view=print/.test(location.search)) await laidOut;
  ready();
};
