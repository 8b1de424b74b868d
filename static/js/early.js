// What is pressed before the page's other scripts are there is pressed again once they are. Not a module: it must be first.

{
  const held = new Set();

  const hold = (event) => {
    const pressed = event.target.closest("button, [hx-get], [hx-post]");
    if (!pressed || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held.add(pressed);
  };

  document.addEventListener("click", hold, true);
  // On the window, and so after all that the document itself is told.
  window.addEventListener("DOMContentLoaded", () => {
    document.removeEventListener("click", hold, true);
    for (const pressed of held) pressed.click();
  });
}
