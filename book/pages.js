// What a browser shows of a page: problems as sentences, and counts.
// pages.py calls these functions in each page that it opens.
window.bookPages = (() => {
  const all = (selector, within = document) =>
    [...within.querySelectorAll(selector)];
  const shown = (element) => element.checkVisibility({
    visibilityProperty: true, opacityProperty: true });
  const short = (text, length = 60) =>
    text.replace(/\s+/g, " ").trim().slice(0, length);
  const named = (element) =>
    `<${element.tagName.toLowerCase()}> ${JSON.stringify(short(
      element.getAttribute("aria-label") || element.innerText
      || element.outerHTML))}`;

  const tex = (formula) =>
    MathJax.startup.document.getMathItemsWithin(formula)[0]?.math
    ?? formula.textContent;  // in notes MathML alone
  const formulas = () => all(".math").flatMap((formula) => {
    const error = formula.querySelector(
      "mjx-merror, merror, [data-mjx-error], [mathcolor=red], [style*='color: red']");
    if (error) return [`formula with an error: ${short(tex(formula))}: ${
      error.dataset.mjxError ?? "unknown command"}`];
    return formula.querySelector("mjx-container, .notes math")
      ? [] : [`formula not rendered: ${short(formula.textContent)}`];
  });

  // Text stands beside each figure for those who cannot see it.
  const wordless = () => all("img, svg[role=img], canvas, video").filter(
    (figure) => figure.getBoundingClientRect().width > 64  // no icon
      && !figure.closest("[aria-hidden=true], mjx-container")).flatMap(
    (figure) => {
      const text = figure.getAttribute("alt")
        || figure.getAttribute("aria-label") || "";
      const isSentence = text.length >= 20 && text.split(/\s+/).length >= 4
        && !text.includes("_build");
      return isSentence ? [] : [`figure without a text: ${short(
        figure.outerHTML, 100)}`];
    });

  const scrollsItself = (element, top) => {
    for (let e = element.parentElement; e && e !== top; e = e.parentElement)
      if (getComputedStyle(e).overflowX !== "visible") return true;
    return false;
  };
  const sideways = () => {
    const root = document.documentElement;
    const excess = root.scrollWidth - root.clientWidth;
    if (excess <= 0) return [];
    const wide = all("body *").filter((e) => shown(e)
      && e.getBoundingClientRect().right > root.clientWidth + 0.5
      && !scrollsItself(e, document.body));
    return [`the page scrolls sideways by ${excess} px: ${
      wide.length ? named(wide.at(-1)) : "the cause is not visible"}`];
  };

  // On paper nothing scrolls: what is wider than its box is cut off.
  const edge = (element) => {
    let right = innerWidth;
    for (let e = element; e && e !== document.body; e = e.parentElement)
      if (getComputedStyle(e).overflowX !== "visible")
        right = Math.min(right, e.getBoundingClientRect().left
          + e.clientLeft + e.clientWidth);
    return right;
  };
  const cutOff = () => all("article :is(pre, table, mjx-math, img)")
    .filter((e) => shown(e) && e.getBoundingClientRect().left
      + Math.max(e.scrollWidth, e.offsetWidth) > edge(e) + 2)
    .map((e) => `cut off in print: ${named(e)}`);

  const cutFormulas = () => all("article mjx-math").filter((e) => shown(e)
    && e.getBoundingClientRect().right > edge(e) + 2)
    .map((e) => `formula wider than the page: ${short(tex(e.closest(".math")))}`);

  // Without scripts nothing may be hidden that is text of the page.
  const hidden = () => all("article :is(h1, h2, h3, p, li, pre, td)")
    .filter((e) => e.textContent.trim() && !e.closest("details, dialog")
      && !shown(e))
    .map((e) => `hidden without scripts: ${short(e.textContent)}`);

  const reachable = "a[href], button, input, select, textarea, summary, "
    + "[tabindex], [contenteditable=true], audio[controls], video[controls]";
  const focusable = () => all(reachable).filter((e) => shown(e)
    && !e.disabled && !e.closest("[inert]")
    && (e.tabIndex >= 0 || e.matches("a, button, summary, input")));
  let visited = new Set();
  const watchFocus = () => {
    visited = new Set();
    document.addEventListener("focusin", (event) => visited.add(event.target));
    document.activeElement?.blur();
    return focusable().length;
  };
  const unreached = () => [
    // Parts of a section unfold in the contents only while the section is in view.
    ...focusable().filter((e) => !visited.has(e) && !e.closest(".section-nav .section-nav")),
    // A hand over something that no key can press.
    ...all("body *").filter((e) => shown(e)
      && getComputedStyle(e).cursor === "pointer"
      && getComputedStyle(e.parentElement).cursor !== "pointer"
      && !e.closest(`${reachable}, label`)),
  ].map((e) => `the keyboard does not reach ${named(e)}`);

  // The copy button's own script runs; only the clipboard is ours.
  const copied = (button) => {
    let text = null;
    document.execCommand = () => {
      const field = document.activeElement;
      text = field?.value?.slice(field.selectionStart, field.selectionEnd)
        ?? String(getSelection());
      return true;
    };
    button.click();
    delete document.execCommand;
    return text?.replaceAll("\r\n", "\n");
  };
  // Of a session at Python's prompt what was typed, and nothing that it said.
  const typed = (code) => (/^>>> /.test(code)
    ? code.split("\n").filter((line) => /^(>>>|\.\.\.) /.test(line))
      .map((line) => line.slice(4)).join("\n") : code);
  const badCopies = () => all(".highlight:has(pre)").flatMap((block) => {
    const code = typed(block.querySelector("pre").textContent.trimEnd());
    const button = block.querySelector("button.copybtn");
    const text = button && copied(button)?.trimEnd();
    if (!button) return [`no copy button: ${short(code)}`];
    if (text !== code) return [
      `copies ${JSON.stringify(short(text ?? ""))} and not ${short(code)}`];
    return /^(>>>|\.\.\.|\$|In \[\d*\]:) |\u00a0/m.test(text)
      ? [`copies more than code: ${short(text)}`] : [];
  });

  // Who speaks to the page says what stands on a button or beside a field: its name has that.
  const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  const nameOf = (element) => element.getAttribute("aria-labelledby")
    ? element.getAttribute("aria-labelledby").split(/\s+/).map((id) =>
      document.getElementById(id)?.textContent ?? "").join(" ")
    : element.getAttribute("aria-label");
  const misnamed = (within = document) => all("a[href], button, summary, input, select, textarea, "
    + "[role=button], [role=link], [role=menuitem], [role=tab]", within).filter(shown).flatMap((e) => {
    const text = plain(e.labels?.length ? [...e.labels].map((label) => label.innerText).join(" ")
      : e.matches("input, select, textarea") ? "" : e.innerText);
    const name = nameOf(e);
    return name && !plain(name).includes(text)
      ? [`named ${JSON.stringify(short(name))} over the text ${JSON.stringify(short(text))}`] : [];
  });

  // Of all texts that look alike on alike ground one is enough: axe takes longer over the
  // contrast of thousands of them than over everything else.
  const ground = (element) => {
    const found = [];
    for (let e = element; e; e = e.parentElement) {
      const { backgroundColor: colour, backgroundImage: image, opacity, position } = getComputedStyle(e);
      found.push(opacity, /absolute|fixed|sticky/.test(position) ? `${e.tagName} ${e.className}` : "");
      if (colour !== "rgba(0, 0, 0, 0)" || image !== "none") found.push(colour, image);
      if (/^rgb\(/.test(colour) && image === "none") break;
    }
    return found.join(" ");
  };
  const unlike = (within) => {
    const walker = document.createTreeWalker(within === document ? document.body : within,
      NodeFilter.SHOW_TEXT);
    const found = new Map();
    while (walker.nextNode()) {
      const e = walker.currentNode.parentElement;
      // What axe passes over may not stand for others: hidden, disabled, a single letter, a sign.
      if (!/[\p{L}\p{N}][^]*[\p{L}\p{N}]/u.test(walker.currentNode.data) || !shown(e)) continue;
      const { color, fontSize, fontWeight, textShadow, textDecoration } = getComputedStyle(e);
      const around = e.closest("a") ? getComputedStyle(e.closest("a").parentElement).color : "";
      const passed = [":disabled, [aria-disabled=true], label", "[aria-hidden=true]"].map((kind) =>
        e.closest(kind)?.tagName).concat(e.getBoundingClientRect().width < 2);
      const look = [color, fontSize, fontWeight, textShadow, textDecoration, around, passed,
        ground(e)].join("; ");
      if (!found.has(look)) found.set(look, e);
    }
    return [...found.values()];
  };
  const COLOURS = ["color-contrast", "link-in-text-block"];
  const off = (rules) => Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]));
  const violations = async (context, options) =>
    (await axe.run(context, { resultTypes: ["violations"], preload: false, ...options })).violations
      .map((v) => `axe ${v.id}: ${v.help} (${v.nodes.length}x, first ${short(v.nodes[0].html, 100)})`);
  const colours = async (context = document) => {
    const texts = unlike(context);
    return texts.length ? violations({ include: texts }, { runOnly: COLOURS }) : [];
  };
  const accessibility = async (context = document) => {
    // What comes and goes under a pointer, and here by the check's own clicks.
    all(".tooltip").forEach((tip) => tip.remove());
    return [...misnamed(context), ...await violations(context, { rules: { ...off(COLOURS),
      "label-content-name-mismatch": { enabled: true } } }), // experimental: off otherwise
    ...await colours(context)];
  };
  // A slide alone: axe goes through all that a page holds, shown or not, each time.
  const accessibilityOfSlide = async () => {
    const current = Reveal.getCurrentSlide();
    const others = Reveal.getSlides().filter((slide) => slide !== current)
      .map((slide) => [slide, document.createComment("")]);
    others.forEach(([slide, place]) => slide.replaceWith(place));
    try { return await accessibility(); } finally {
      others.forEach(([slide, place]) => place.replaceWith(slide));
    }
  };

  const links = () => [...document.links].map((link) => link.href);
  const count = () => ({ formulas: all(".math").length,
    figures: all("article img, .slides img").length });

  // The smallest letters of a figure are of 9 points where it is 6 inches wide
  // (tests/test_plot.py), and its margin is a tenth of an inch. A figure for one column of a
  // slide is narrower; it has 300 pixels to the inch.
  const FIGURE_TYPE = 9 / 72 / 6.2;
  const SHARP = 1.5;  // a figure's own pixels for each of a slide's: 1920 for 1280

  // Decks: one slide after the other, as on the wall.
  const slides = () => Reveal.getSlides().length;
  const showSlide = (number) => {
    const { h, v } = Reveal.getIndices(Reveal.getSlides()[number]);
    Reveal.slide(h, v, 99);
  };
  const textIn = (slide) => {
    const walker = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (walker.currentNode.data.trim() && shown(parent)
        && !parent.closest("mjx-assistive-mml, aside.notes")) found.push(parent);
    }
    return [...found, ...all("mjx-c", slide)];
  };
  // What a slide may not say: it points at what is not on it. "Above 11.1" and "far below
  // the loss" compare and have an object; "the sum above" and "as said below," have none.
  const POINTING = new RegExp("\\b((above|below)(?!\\s+(an?|the|it|them|its|their|this|that|"
    + "all|one|zero|half|any|each|every|x|[-\u2212+]?\\d))|overleaf|the following|"
    + "(run|change) (the|this|your) (cell|check)|"
    + "(the|this|next|last|previous) (cell|page))\\b", "i");
  const MARKDOWN = /\*\*|`[^`]+`|\]\(|^ *\|.*\| *$|^ *#{1,6} |^ *> /m;
  const SENTENCE = /(\S+\s+){3,}\S+[.?!:]\W*$/;
  // Words, without code and formulas.
  const wordsOf = (element) => {
    const copy = element.cloneNode(true);
    all("aside.notes, .footer, pre, code, mjx-container, script", copy)
      .forEach((e) => e.replaceWith(e.matches("code, mjx-container") ? "x" : ""));
    return copy.textContent;
  };
  // In a drawing, letters grow with it.
  const typeOf = (element) => parseFloat(getComputedStyle(element).fontSize)
    * (element.ownerSVGElement ? element.getScreenCTM().a / Reveal.getScale() : 1);
  const titleOf = (slide) => JSON.stringify(short(
    slide.querySelector("h1, h2")?.innerText ?? slide.innerText, 40));
  const sideOf = (slide, side, within = "*") => Math.max(...all(within, slide)
    .filter((e) => !e.closest("aside.notes, .footer, mjx-assistive-mml"))
    .map((e) => e.getBoundingClientRect()).filter((box) => box.height > 0)
    .map((box) => box[side]));

  // Sizes: once for each size of the wall.
  const badSizes = (smallest) => {
    const slide = Reveal.getCurrentSlide(), { width, height } = Reveal.getConfig();
    const title = titleOf(slide), found = [], scale = Reveal.getScale();
    const frame = document.querySelector(".slides").getBoundingClientRect();
    const bottom = (sideOf(slide, "bottom") - frame.top) / scale;
    const right = (sideOf(slide, "right") - frame.left) / scale;
    const footer = slide.querySelector(".footer")?.getBoundingClientRect();
    const room = footer ? (footer.top - frame.top) / scale : height;
    if (bottom > room + 0.5) found.push(
      `${title} is ${Math.round(bottom)} px high, and the footer begins at ${Math.round(room)}`);
    if (right > width + 0.5)
      found.push(`${title} is ${Math.round(right)} px wide, the frame ${width}`);
    const small = textIn(slide).find((e) => typeOf(e) < smallest - 0.01);
    if (small) found.push(`${title} has type of ${
      +typeOf(small).toFixed(1)}px: ${short(small.textContent || small.outerHTML)}`);
    for (const figure of all("img", slide).filter((e) => !e.matches("[aria-hidden]"))) {
      const isHalf = figure.naturalWidth > 900 && figure.naturalWidth < 1500; // for a column
      const type = figure.offsetWidth * (isHalf ? 37.5 / figure.naturalWidth : FIGURE_TYPE);
      if (type < smallest - 0.01) found.push(
        `${title} has a figure with type of ${type.toFixed(0)}px`);
      if (figure.naturalWidth < SHARP * figure.offsetWidth && !/\.svg$/.test(figure.src))
        found.push(`${title} has a figure of ${figure.naturalWidth} pixels that is ${
          Math.round(SHARP * figure.offsetWidth)} wide on a wall of 1920`);
    }
    const pre = all("pre", slide).find((e) => e.scrollWidth > e.clientWidth + 1);
    if (pre) found.push(`${title} cuts code off: ${short(pre.textContent)}`);
    return found;
  };
  // Words: the first slide has none but names.
  const badWords = () => {
    const slide = Reveal.getCurrentSlide(), found = [];
    if (slide.matches(".title")) return found;
    const title = titleOf(slide), text = wordsOf(slide);
    const lines = all("h2, p, li, td, th", slide).filter((e) =>
      !e.closest("aside.notes") && !e.matches(".footer, .section"));
    if (!lines.some((e) => SENTENCE.test(wordsOf(e).trim())))
      found.push(`${title} has no sentence`);
    if (!all("p, li, pre, table, img, svg, .math", slide).some((e) =>
      !e.closest("aside.notes, h2") && !e.matches(".footer, .section") && shown(e)))
      found.push(`${title} has nothing but its title`);
    const pointing = POINTING.exec(text), markdown = MARKDOWN.exec(text);
    if (pointing) found.push(`${title} says "${pointing[0]}" of what is not on it`);
    if (markdown) found.push(`${title} has raw Markdown: ${short(markdown[0])}`);
    return found;
  };
  // Answers: on no slide before their question, nor with it.
  const earlyAnswers = () => {
    const slides = Reveal.getSlides(), found = [];
    slides.forEach((slide, place) => {
      const { question, shows } = slide.dataset;
      for (const e of all("[data-gives-away]", slide)) found.push(
        `${titleOf(slide)} has the code of ${e.dataset.givesAway} before its exercise`);
      if (!question) return;
      if (all(".answer", slide).some((e) => !e.closest(".fragment")))
        found.push(`${titleOf(slide)} shows its answer at once`);
      const before = slides.slice(0, place).find((e) => {
        const copy = e.cloneNode(true);
        all("aside.notes, mjx-container", copy).forEach((part) => part.remove());
        return copy.textContent.includes(shows);
      });
      if (before) found.push(
        `${titleOf(before)} has ${JSON.stringify(shows)}, the answer of ${question}, before it`);
    });
    return found;
  };

  return { formulas, wordless, sideways, cutOff, cutFormulas, hidden, watchFocus, unreached,
    badCopies, accessibility, accessibilityOfSlide, colours, links, count, slides, showSlide,
    badSizes, badWords, earlyAnswers };
})();
