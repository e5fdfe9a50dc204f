// Repairs of the theme for readers who use a keyboard or a screen reader.
const all = (selector) => [...document.querySelectorAll(selector)];

document.addEventListener("DOMContentLoaded", () => {
  // A label other than the text on the button hides that text from speech.
  all(".search-button-field, details.hide > summary").forEach((element) =>
    element.removeAttribute("aria-label"));
  // The icons' titles would be read along with the button's own label.
  all(".theme-switch, .theme-switch title").forEach((icon) => {
    icon.removeAttribute("title");
    icon.removeAttribute("aria-labelledby");
    icon.setAttribute("aria-hidden", "true");
    if (icon.tagName === "title") icon.remove();
  });
  // The book's title stands outside all landmarks.
  all(".sidebar-primary-items__start > :first-child").forEach((title) => {
    title.setAttribute("role", "region");
    title.setAttribute("aria-label", "Book title");
  });
});

// The theme makes wide code and tables scroll in themselves, also with the
// arrow keys; this does the same for wide formulas.
const scrollWideFormulas = () => all(".bd-article .math").forEach((formula) => {
  formula.classList.remove("wide");
  const room = formula.closest("p, li, td, th, div").clientWidth;
  const isWide = formula.querySelector("mjx-container > mjx-math")
    ?.getBoundingClientRect().width > room;
  formula.classList.toggle("wide", isWide);
  if (isWide) formula.tabIndex = 0;
  else formula.removeAttribute("tabindex");
});
// Browsers may break a line between a formula and the comma after it.
const keepPunctuation = () => all("span.math").forEach((formula) => {
  const after = formula.nextSibling;
  const mark = /^[.,;:!?)]+/.exec(after?.nodeValue ?? "")?.[0];
  if (mark) formula.append(after.splitText(mark.length).previousSibling);
});

window.addEventListener("resize", scrollWideFormulas);
document.addEventListener("toggle", scrollWideFormulas, true);
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  keepPunctuation();
  scrollWideFormulas();
});
