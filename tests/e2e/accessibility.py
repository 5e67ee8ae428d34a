"""What WCAG 2.2 asks of a page at level AA, as far as a program can measure it, in the real browser."""

LEAST_CONTRAST = 4.5  # of text (success criterion 1.4.3)

# Each fault is a line of text; no line, no fault.
_FAULTS = r"""(() => {
  const faults = [];
  const luminance = colour => {
    const [r, g, b] = colour.map(part => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parts = text => text.match(/[\d.]+/g).map(Number);
  const background = element => {
    for (; element; element = element.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(element).backgroundColor);
      if (a > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    if (!node.data.trim()) continue;
    const element = node.parentElement;
    const [first, second] = [luminance(parts(getComputedStyle(element).color)), luminance(background(element))];
    const contrast = (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
    if (contrast < LEAST) faults.push(`contrast ${contrast.toFixed(2)}: ${node.data.trim()}`);
  }
  if (!document.documentElement.lang) faults.push("no language");
  if (!document.title) faults.push("no title");
  if (document.querySelectorAll("main").length !== 1) faults.push("not one main part");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) faults.push(`after h${level} comes ${heading.tagName}: ${heading.textContent}`);
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption || !table.caption.textContent.trim()) faults.push("a table without a caption");
  }
  for (const head of document.querySelectorAll("th")) {
    if (!["col", "row"].includes(head.scope)) faults.push(`a head without a scope: ${head.textContent}`);
  }
  for (const picture of document.querySelectorAll("svg, img")) {
    const told = picture.getAttribute("aria-label") || picture.getAttribute("alt");
    if (!told && picture.getAttribute("aria-hidden") !== "true") faults.push("a picture without words");
  }
  for (const link of document.querySelectorAll("a")) {
    if (!link.textContent.trim()) faults.push(`a link without words: ${link.href}`);
    const isHere = link.pathname + link.search === location.pathname + location.search;
    if (link.hash && isHere && !document.getElementById(link.hash.slice(1))) {
      faults.push(`a link that leads nowhere: ${link.href}`);
    }
  }
  for (const element of document.querySelectorAll("*")) {
    if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "auto" && element.tabIndex < 0) {
      faults.push(`it is moved sideways by a mouse alone: ${element.textContent.slice(0, 40)}`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`twice the id ${id}`);
  return faults.join("\n");
})()""".replace("LEAST", str(LEAST_CONTRAST))


def faults_of(browser):
    return browser.value_of(_FAULTS).splitlines()
