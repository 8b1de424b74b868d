// "Make this a rule" and "Keep in the ledger": of a message in which something is selected, only that.

const LINKS = "[data-make-rule], [data-keep]";
const SAID = ".said, .prose";
let selected = "";
let about = null;

// A press, on the menu or on the link in it, clears the selection before the click.
document.addEventListener("pointerdown", (event) => {
  const message = event.target.closest(".tools")?.closest(".msg") ?? null;
  if (message !== about) selected = "";
  about = message;
  if (message) selected = selectionIn(message) || selected;
}, true);

document.body.addEventListener("htmx:configRequest", (event) => {
  if (!event.target.matches(LINKS)) return;
  const text = selected || selectionIn(event.target.closest(".msg"));
  if (text) event.detail.parameters.text = text;
  selected = "";
});

function selectionIn(message) {
  const selection = getSelection();
  const both = [selection.anchorNode, selection.focusNode];
  const said = [...message.querySelectorAll(SAID)].some((node) => both.every((end) => node.contains(end)));
  return said ? String(selection).trim() : "";
}
