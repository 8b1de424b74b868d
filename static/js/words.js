// What scripts say, in the reader's language: a page that is not in English has the texts that scripts need.

// In a translation `{name:said}` is a part that is such a text itself.
const PLACE = /\{(\w+)(?::said)?\}/g;
const block = document.getElementById("words");
const known = block ? JSON.parse(block.textContent) : {};
const patterns = Object.keys(known).filter((text) => text.includes("{")).map((text) => [new RegExp(expression(text), "s"), known[text]]);

// A finished text, however it was put together; what is not known stays as it is.
export function worded(text) {
  if (Object.hasOwn(known, text)) return known[text];
  for (const [pattern, translated] of patterns) {
    const found = text.match(pattern);
    if (found) return translated.replace(PLACE, (place, name) => (place.endsWith(":said}") ? worded(found.groups[name]) : found.groups[name]));
  }
  return text;
}

function expression(text) {
  const parts = text.split(PLACE).map((part, at) => (at % 2 ? `(?<${part}>.+?)` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return `^${parts.join("")}$`;
}
