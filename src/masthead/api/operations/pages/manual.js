// Adds to the pages of the documentation, which work without it: buttons that copy code, a key for
// the search, and the search of a static site (that of a server needs no script).
"use strict";
const copiedShownMs = 2000;
const field = document.querySelector(".search input");

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    button.textContent = (await copied(block)) ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), copiedShownMs);
  });
  block.append(button);
}

// Copies the code of a block; where a browser does not allow that (plain HTTP), selects it.
async function copied(block) {
  const code = block.querySelector("code");
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  }
  getSelection().selectAllChildren(code);
  return document.execCommand("copy");
}

document.querySelector(".search kbd").hidden = false;
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.select();
  }
});

// The page that is shown stays in sight in the list of pages.
const here = document.querySelector(".side [aria-current]");
if (here) {
  const side = document.querySelector(".side");
  side.scrollTop = Math.max(0, here.offsetTop - side.clientHeight / 2);
}

// The search of a static site: as masthead.api.operations.manual.searching does it on a server.
// In the index, a word has in turns the distance of a section from the one before, and its score.
const [wordsMax, hitsMax, hitsOfPageMax, prefixMin, prefixPercent] = [8, 20, 3, 3, 60];

function search(index, query) {
  const words = wordsOf(query).slice(0, wordsMax);
  const isHeading = (number) =>
    words.length > 1 && wordsOf(index.sections[number][2]).join(" ") === words.join(" ");
  const totals = new Map();
  for (const word of words) {
    for (const [number, score] of scoresOf(index, word)) {
      const [count, total] = totals.get(number) || [0, 0];
      totals.set(number, [count + 1, total + score]);
    }
  }
  const most = Math.max(0, ...[...totals.values()].map(([count]) => count));
  const ofPages = new Map();
  return [...totals]
    .filter(([, [count]]) => count === most)
    .map(([number, [, total]]) => [isHeading(number) ? 0 : 1, -total, number])
    .sort((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2])
    .map(([, , number]) => index.sections[number])
    .filter(([page]) => ofPages.set(page, (ofPages.get(page) || 0) + 1).get(page) <= hitsOfPageMax)
    .slice(0, hitsMax);
}

function wordsOf(text) {
  const words = text.toLowerCase().match(/d-\d+|[\p{L}\p{N}_]+/gu) || [];
  return words.map((word) => word.replace(/(?:(.{4,})(?:ing|ed|es|e)|(..+[^s])s)$/u, "$1$2"));
}

function scoresOf(index, word) {
  const found = new Map();
  const isCommon = Object.hasOwn(index.scores, word) && index.scores[word].length === 0;
  if (isCommon) return found;
  const add = (pairs, percent) => {
    let number = 0;
    for (let at = 0; at < pairs.length; at += 2) {
      number += pairs[at];
      const score = Math.floor((pairs[at + 1] * percent) / 100);
      found.set(number, Math.max(found.get(number) || 0, score));
    }
  };
  for (const [other, pairs] of Object.entries(index.scores)) {
    if (other === word) add(pairs, 100);
    else if (word.length >= prefixMin && other.startsWith(word)) add(pairs, prefixPercent);
  }
  return found;
}

function show(hits, query) {
  const found = document.getElementById("found");
  const list = document.createElement("ol");
  list.className = "hits";
  for (const [page, anchor, title, pageTitle, excerpt] of hits) {
    const item = document.createElement("li");
    const link = Object.assign(document.createElement("a"), { textContent: title });
    link.href = `${page}.html#${anchor}`;
    const place = Object.assign(document.createElement("span"), { textContent: pageTitle });
    const text = Object.assign(document.createElement("p"), { textContent: excerpt });
    item.append(link, ...(title === pageTitle ? [] : [" ", place]), text);
    list.append(item);
  }
  found.replaceChildren(hits.length ? list : `No page has these words: ${query}.`);
}

// The index is a script after this one, and only the search page of a static site has it.
addEventListener("DOMContentLoaded", () => {
  const query = new URLSearchParams(location.search).get("q");
  if (query && typeof searchIndex !== "undefined") {
    field.value = query;
    show(search(searchIndex, query), query);
  }
});
