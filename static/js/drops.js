// Files that are dropped anywhere on the page, or pasted where one writes.

export function receive(area, field, add) {
  const has = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!has(event)) return;
    event.preventDefault();
    area.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && area.classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    area.classList.remove("dropping");
    if (!has(event)) return;
    event.preventDefault();
    add(event.dataTransfer.files);
  });
  field.addEventListener("paste", (event) => {
    const files = event.clipboardData?.files;
    // A table copied from a spreadsheet comes as a picture too: then its text is meant.
    if (!files?.length || event.clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    add(files);
  });
}
