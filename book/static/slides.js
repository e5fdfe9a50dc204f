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

// A derivation goes down its relation signs: where several formulas stand on a
// slide, their first signs stand below each other, the whole in the middle.
const alignFormulas = (slide) => {
  const lines = [...slide.querySelectorAll('.wall mjx-container[display="true"] > mjx-math')]
    .map((math) => {
      math.parentNode.style.textAlign = "left";
      math.style.marginLeft = "0px";
      const box = math.getBoundingClientRect();
      const sign = math.querySelector(
        ":scope > mjx-mo[space='4'], :scope > mjx-mo:has(> .mjx-c3D)");
      const left = sign ? sign.getBoundingClientRect().left - box.left : 0;
      return { math, box, sign, left, right: box.width - left };
    });
  const signed = lines.filter(({ sign }) => sign);
  const widest = (side) => Math.max(...signed.map((line) => line[side]));
  const [left, width] = [widest("left"), widest("left") + widest("right")];
  const wall = slide.querySelector(".wall"), room = wall?.getBoundingClientRect();
  for (const { math, box, sign, left: own } of lines) {
    const move = room && room.left + (room.width - width) / 2 + left - own - box.left;
    if (sign && signed.length > 1 && width < room.width && move > 0)
      math.style.marginLeft = `${move * wall.offsetWidth / room.width}px`;
    else math.parentNode.style.textAlign = "";
  }
};

// A vote: a minute by yourself, two for the discussion before the second round.
const ROUNDS = [60, 120]; // seconds
const say = (button, seconds) => {
  button.dataset.seconds = seconds;
  button.textContent = `Timer ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  button.classList.toggle("is-over", seconds === 0);
};
const stop = (button) => {
  clearInterval(button.running);
  button.running = null;
};
const startOrStop = (button) => {
  if (button.running) return stop(button);
  if (+button.dataset.seconds === 0) say(button, ROUNDS[0]);
  button.running = setInterval(() => {
    say(button, button.dataset.seconds - 1);
    if (+button.dataset.seconds === 0) stop(button);
  }, 1000);
};
const setTimers = () => {
  const timerOf = (slide) => slide?.querySelector(".timer");
  for (const button of document.querySelectorAll(".timer")) {
    say(button, ROUNDS[0]);
    button.addEventListener("click", () => startOrStop(button));
  }
  const current = () => timerOf(Reveal.getCurrentSlide());
  const onRound = (round) => ({ fragments }) => {
    const button = current();
    if (!button || !fragments.some((part) => part.dataset.fragmentIndex === "0")) return;
    stop(button);
    say(button, ROUNDS[round]);
  };
  Reveal.on("fragmentshown", onRound(1));
  Reveal.on("fragmenthidden", onRound(0));
  Reveal.on("slidechanged", ({ previousSlide }) => {
    if (timerOf(previousSlide)) stop(timerOf(previousSlide));
  });
  Reveal.addKeyBinding({ keyCode: 84, key: "T", description: "Start or stop the timer of a vote" },
    () => current() && startOrStop(current()));
  // After a number is typed, the arrow keys belong to the slides again.
  for (const field of document.querySelectorAll(".counts input"))
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") field.blur();
      event.stopPropagation();
    });
};

// What is moved by hand keeps the keys that it uses while it has the focus. Page Up, Page Down
// (also of a presenter) and Escape leave it, and so does a pointer when it is done.
const setMoved = () => {
  for (const place of document.querySelectorAll(".inpage-move")) {
    let byPointer = false;
    const leave = () => document.activeElement.blur();
    place.dataset.preventSwipe = "";
    place.addEventListener("pointerdown", () => { byPointer = true; });
    for (const event of ["click", "change"])
      place.addEventListener(event, ({ target }) => {
        if (byPointer && !(event === "click" && target.matches("select, [type=number]"))) leave();
      });
    place.addEventListener("keydown", (event) => {
      byPointer = false;
      const { key, target } = event, isPage = /^Page/.test(key);
      if (isPage || key === "Escape") leave();
      if (isPage) event.preventDefault();
      else if (!target.matches("button") || /^( |Enter|Escape)$/.test(key)) event.stopPropagation();
    });
  }
};

const start = async () => {
  setNotes();
  const laidOut = new Promise((resolve) => Reveal.on("pdf-ready", resolve));
  for (const event of ["ready", "slidechanged"])
    Reveal.on(event, ({ currentSlide }) => alignFormulas(currentSlide));
  await Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false,
    display: "flex", hash: true, transition: "none",
    pdfSeparateFragments: false,
    scrollActivationWidth: null, // or a phone shows an empty page
    plugins: [RevealNotes],
  });
  setTimers();
  setMoved();
  if (/view=print/.test(location.search)) {
    await laidOut;
    document.querySelectorAll(".pdf-page section").forEach(alignFormulas);
  }
  ready();
};
