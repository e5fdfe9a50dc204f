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
  // What unfolds the pages below another one in the sidebar is an icon alone.
  all("details > summary:has(> .toctree-toggle)").forEach((summary) => {
    const above = summary.closest("li")?.querySelector("a")?.textContent.trim();
    summary.setAttribute("aria-label", `Pages below ${above || "this one"}`);
  });
  // The book's title stands outside all landmarks.
  all(".sidebar-primary-items__start > :first-child").forEach((title) => {
    title.setAttribute("role", "region");
    title.setAttribute("aria-label", "Book title");
  });
});

// The theme takes the focus from a pressed button, for its tooltip to go: who
// presses by key goes on there, also after the menu or search that it opened.
let pressed = null;
const goOn = () => {
  if (document.activeElement === document.body) pressed?.focus();
};
document.addEventListener("click", ({ detail, target }) => {
  pressed = detail === 0 ? target.closest("button") : null;
  setTimeout(goOn);
  // On a phone the contents lie over the page: a link leads below them.
  const link = target.closest("dialog a[href]");
  if (link?.hash) link.closest("dialog").close();
}, true);
document.addEventListener("close", () => setTimeout(goOn), true);

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

// On paper nothing unfolds: print what is folded, then fold it again.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = all("details:not([open])");
  unfolded.forEach((details) => { details.open = true; });
});
window.addEventListener("afterprint", () => unfolded.forEach((details) => {
  details.open = false;
}));

// The reader's place: the section on top of the screen, kept in this browser.
const root = new URL(document.documentElement.dataset.content_root ?? "",
                     location.href);
const PLACE = `place in ${root.pathname}`; // other books may share the host
const words = (heading) => heading.innerText.replace(/#$/, "").trim();
const keepPlace = () => {
  const page = DOCUMENTATION_OPTIONS.pagename;
  const section = all(".bd-article section[id]").filter((e) =>
    e.getBoundingClientRect().top < innerHeight / 3).at(-1);
  if (!section || scrollY < 200 || !/\/\d\d_/.test(page)) return;
  const names = [document.querySelector("h1"), section.querySelector("h2, h3")]
    .filter(Boolean); // a short page has but its title
  const place = { url: `${page}.html#${section.id}`, name: names.map(words).join(", ") };
  try {
    localStorage.setItem(PLACE, JSON.stringify(place));
  } catch { /* storage is off or full: the next visit begins at the beginning */ }
};
const keptPlace = () => {
  try {
    const { url, name } = JSON.parse(localStorage.getItem(PLACE));
    const link = new URL(url, root);
    const isHere = link.protocol === root.protocol && link.origin === root.origin;
    return isHere && typeof name === "string" ? { link, name } : null;
  } catch {
    return null; // none was kept, or something else lies there
  }
};
// A link back to it stands below the title of the first page.
const showPlace = () => {
  const place = keptPlace();
  if (!place || DOCUMENTATION_OPTIONS.pagename !== "chapters/index") return;
  const link = document.createElement("a");
  link.className = "last-place";
  link.href = place.link;
  link.textContent = `Read on: ${place.name}`;
  document.querySelector(".page-files").append(link);
};
let settled;
window.addEventListener("scroll", () => {
  clearTimeout(settled);
  settled = setTimeout(keepPlace, 200);
});
document.addEventListener("DOMContentLoaded", showPlace);
