// A text field that grows with its text, and stays quick with a very long one.

const LONG = 20_000;

export function fit(field) {
  // Chromium lays out a long text of unknown direction in quadratic time.
  field.dir = field.value.length > LONG ? "ltr" : "auto";
  if (CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
