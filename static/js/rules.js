// "Make this a rule": of a message in which something is selected, only that.

let selected = "";

// A press on the link clears the selection before the click.
document.addEventListener("pointerdown", (event) => {
  selected = event.target.closest("[data-make-rule]") ? selectionIn(event.target.closest(".msg")) : "";
}, true);

document.body.addEventListener("htmx:configRequest", (event) => {
  if (!event.target.matches("[data-make-rule]")) return;
  const text = selected || selectionIn(event.target.closest(".msg"));
  if (text) event.detail.parameters.text = text;
  selected = "";
});

function selectionIn(message) {
  const selection = getSelection();
  const said = message.querySelector(".said");
  return said.contains(selection.anchorNode) && said.contains(selection.focusNode) ? String(selection).trim() : "";
}
