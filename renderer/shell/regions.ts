// F6: the focus goes round the parts of the window (sidebar, view, inspector, status bar), as people know from other tools.

export function moveBetweenRegions(direction: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')];
  if (regions.length === 0) return;
  const inside = regions.findLastIndex((region) => region.contains(document.activeElement));
  const start = inside < 0 && direction < 0 ? 0 : inside;
  const next = regions[(start + direction + regions.length) % regions.length];
  const first = next.querySelector<HTMLElement>(
    '[aria-current] , a[href], button:not(:disabled):not([tabindex="-1"]), input, select, [tabindex="0"]',
  );
  (first ?? next).focus();
}
