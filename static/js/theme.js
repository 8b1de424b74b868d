// The theme is a cookie, so that the server draws the right one at once.

const YEAR = 31_536_000;

document.addEventListener("submit", (event) => {
  const form = event.target.closest(".theme-form");
  if (!form || !event.submitter) return;
  event.preventDefault();
  const { value } = event.submitter;
  document.documentElement.dataset.theme = value;
  document.cookie = `ccm_theme=${value}; path=/; max-age=${YEAR}; samesite=lax`;
  for (const button of document.querySelectorAll(".theme-form button")) {
    button.setAttribute("aria-pressed", String(button.value === value));
  }
});
