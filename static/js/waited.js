// How long the model has been silent: one that reads a long prompt on a slow machine is not one that hangs.

const EACH = 1_000;
const SILENT = 10;
const began = new WeakMap();

export function countWaiting() {
  setInterval(() => {
    for (const node of document.querySelectorAll("[data-waited]")) show(node);
  }, EACH);
}

// By this page's clock from what the server had counted, which counts anew at each call: the two clocks need not agree.
function show(node) {
  const waited = node.dataset.waited;
  if (began.get(node)?.waited !== waited) began.set(node, { waited, at: performance.now() - Number(waited) * 1000 });
  const seconds = Math.floor((performance.now() - began.get(node).at) / 1000);
  if (seconds < SILENT) return;
  node.textContent = ` · ${seconds < 60 ? "" : `${Math.floor(seconds / 60)} min `}${seconds % 60} s`;
}
