// What a search led to: its words are marked in the message, and the one nearest to the passage comes into view.
// Ranges are marked, not elements: a turn that is read again stays as the server renders it.

const NAME = "found";
const MARKS = globalThis.CSS?.highlights;
// Written without spaces between words: there a word may begin and end anywhere.
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]/;

export function showFound(json) {
  const found = JSON.parse(json);
  const { turn, message, role } = found;
  const article = document.getElementById(`turn-${turn}`);
  const file = article?.querySelector(`details[data-says="${message}"]`);
  if (file) return unfold(file, found);
  const box = article?.querySelector(role === "user" ? ".said" : `[data-message="${message}"]`);
  if (box) mark(box, found);
}

// The text of a file comes when it is unfolded.
function unfold(file, found) {
  const text = file.querySelector(".file-text");
  if (text.querySelector("pre")) return mark(text, found);
  text.addEventListener("htmx:afterSwap", () => mark(text, found), { once: true });
  // Open already, it was unfolded before anybody listened.
  if (file.open) window.htmx.trigger(file, "toggle");
  file.open = true;
}

function mark(box, { at, marks }) {
  const texts = textsOf(box);
  const length = texts.reduce((sum, text) => sum + text.data.length, 0);
  const found = rangesOf(texts, marks);
  const [nearest] = [...found].sort((a, b) => Math.abs(a.from - at * length) - Math.abs(b.from - at * length));
  const block = nearest ? null : blockAt(texts, at * length);
  const ranges = block ? [block] : found.map(({ range }) => range);
  if (MARKS) MARKS.set(NAME, new Highlight(...ranges));
  const target = block ?? nearest?.range;
  const boxes = [box.querySelector("pre"), box, document.getElementById("scroller")];
  if (target) bringIntoView(target, boxes.filter(Boolean));
}

function textsOf(box) {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  return texts;
}

// Each with where in all of the text it begins.
function rangesOf(texts, marks) {
  if (!marks.length) return [];
  const pattern = new RegExp(marks.map(patternOf).sort((a, b) => b.length - a.length).join("|"), "gu");
  const ranges = [];
  let from = 0;
  for (const text of texts) {
    for (const match of text.data.matchAll(pattern)) {
      const range = new Range();
      range.setStart(text, match.index);
      range.setEnd(text, match.index + match[0].length);
      ranges.push({ range, from: from + match.index });
    }
    from += text.data.length;
  }
  return ranges;
}

function patternOf(word) {
  const escaped = word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return UNSPACED.test(word) ? escaped : `(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`;
}

// What means the same in other words: the paragraph that stands there.
function blockAt(texts, place) {
  let from = 0;
  const there = texts.find((text) => (from += text.data.length) >= place);
  const block = there?.parentElement.closest("p, li, pre, td, .said");
  if (!block) return null;
  const range = new Range();
  range.selectNodeContents(block);
  return range;
}

// A long message scrolls by itself.
function bringIntoView(range, boxes) {
  for (const box of boxes) {
    if (box.scrollHeight <= box.clientHeight) continue;
    const seen = box.getBoundingClientRect();
    const here = range.getBoundingClientRect();
    const isSeen = here.top >= seen.top && here.bottom <= seen.bottom;
    if (!isSeen) box.scrollTop += here.top - seen.top - seen.height / 3;
  }
}
