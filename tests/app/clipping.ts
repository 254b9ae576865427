// Finds text that a person cannot read whole: cut by an ellipsis or by the edge of a box, outside the window or outside a pane
// that would have to be scrolled sideways, or lying on other text. Runs in the page. What may end in an ellipsis says so with
// `data-may-truncate` (names that people give) and then has the whole text as its tooltip; tables of people's own data, as wide
// as these are, say `data-scrolls-sideways`: they may be scrolled, but no cell of them may cut its text.

import type { Page } from '@playwright/test';

/**
 * Resolves when nothing has moved for a few frames: widths that follow from other widths come a frame late, or several on a busy
 * machine. A page that never rests is taken as it is.
 */
async function atRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const [quietFrames, mostFrames] = [3, 20];
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    const places = (): string => {
      let sum = 0;
      const elements = document.querySelectorAll('*');
      elements.forEach((element, index) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        sum += (left + 3 * top + 5 * width + 7 * height) * (1 + (index % 97));
      });
      return `${elements.length} ${sum}`;
    };
    let [before, quiet] = ['', 0];
    for (let i = 0; i < mostFrames && quiet < quietFrames; i++) {
      await frame();
      const now = places();
      quiet = now === before ? quiet + 1 : 0;
      before = now;
    }
  });
}

/**
 * One line for each text that is cut once the page is at rest, and at every one of several looks (a busy machine may draw a chart
 * with the size it had before): how, the text, and where it stands.
 */
export async function clippedTexts(page: Page): Promise<readonly string[]> {
  let found = await clippedNow(page);
  for (let look = 1; look < 10 && found.length > 0; look++) found = await clippedNow(page);
  return found;
}

async function clippedNow(page: Page): Promise<readonly string[]> {
  await atRest(page);
  return page.evaluate(() => {
    interface Box {
      left: number;
      right: number;
      top: number;
      bottom: number;
    }
    const found = new Map<string, string>();
    const tolerance = 1.5;
    /** A dialog covers what is under it. */
    const root = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
    const styles = new Map<Element, CSSStyleDeclaration>();
    const styleOf = (element: Element): CSSStyleDeclaration => {
      const known = styles.get(element) ?? getComputedStyle(element);
      styles.set(element, known);
      return known;
    };
    const pathOf = (element: Element): string => {
      const names: string[] = [];
      for (let at: Element | null = element; at && at !== document.body && names.length < 5; at = at.parentElement) {
        const name = [...at.classList].filter((part) => !part.startsWith('svelte-')).join('.');
        const label = at.getAttribute('aria-label');
        names.unshift(at.tagName.toLowerCase() + (name && `.${name}`) + (label ? `[${label}]` : ''));
      }
      return names.join(' > ');
    };
    const report = (how: string, text: string, element: Element): void => {
      const line = `${how}: “${text.trim().replace(/\s+/g, ' ').slice(0, 60)}” in ${pathOf(element)}`;
      if (!found.has(line)) found.set(line, line);
    };
    const clipsBy = (style: CSSStyleDeclaration): boolean =>
      style.contentVisibility === 'auto' || /strict|content|paint/.test(style.contain);
    const scrolls = (overflow: string): boolean => overflow === 'auto' || overflow === 'scroll';
    const marked = (element: Element): Element | null => element.closest('[data-may-truncate]');

    /** Whether a shortened text keeps the promises of its mark: a name, legible, whole in its tooltip. */
    function mayTruncate(element: Element): boolean {
      const holder = marked(element);
      if (!holder) return false;
      const text = (holder.textContent ?? '').trim().replace(/\s+/g, ' ');
      const tip = (holder.closest('[title]')?.getAttribute('title') ?? '').replace(/\s+/g, ' ');
      const isNumber = /^[−-]?[\d,. ]+\s?[%a-zA-Z]{0,2}$/.test(text);
      const { width, height } = holder.getBoundingClientRect();
      return tip.includes(text) && !isNumber && Math.max(width, height) >= 60;
    }

    /** What a field shows: it cannot be measured through its own box. */
    function fieldText(field: Element): string {
      if (field instanceof HTMLSelectElement) return field.selectedOptions[0]?.label ?? '';
      if (field instanceof HTMLInputElement && !['checkbox', 'radio'].includes(field.type))
        return field.value || field.placeholder;
      return '';
    }

    const brush = document.createElement('canvas').getContext('2d')!;
    for (const field of root.querySelectorAll('select, input')) {
      const text = fieldText(field);
      const style = styleOf(field);
      if (text === '' || Number(style.opacity) === 0 || !field.checkVisibility() || marked(field)) continue;
      if (field.closest('.unseen')) continue;
      brush.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      if (brush.measureText(text).width > room + tolerance) report('field too narrow', text, field);
    }

    const seen: { text: string; box: Box; element: Element }[] = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? '';
      const element = node.parentElement;
      if (text.trim() === '' || !element || element.closest('.unseen, option, script, style, title')) continue;
      if (!element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) continue;
      range.selectNodeContents(node);
      const lines = [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
      if (lines.length === 0) continue;
      const box: Box = {
        left: Math.min(...lines.map((line) => line.left)),
        right: Math.max(...lines.map((line) => line.right)),
        top: Math.min(...lines.map((line) => line.top)),
        bottom: Math.max(...lines.map((line) => line.bottom)),
      };
      let inSight = true;
      /** Words for a screen reader alone. */
      let spoken = false;
      for (let at: Element | null = element; at && at !== root; at = at.parentElement)
        spoken ||= styleOf(at).clipPath === 'inset(50%)';
      if (spoken) continue;
      for (let at: Element | null = element; at && inSight; at = at.parentElement) {
        const style = styleOf(at);
        const edge = at.getBoundingClientRect();
        const inline = style.display === 'inline';
        const outside = box.left < edge.left - tolerance || box.right > edge.right + tolerance;
        const under = box.top < edge.top - tolerance || box.bottom > edge.bottom + tolerance;
        if (!inline && (style.overflowX !== 'visible' || clipsBy(style))) {
          if (scrolls(style.overflowX)) {
            if (outside && !at.closest('[data-scrolls-sideways]')) report('needs scrolling sideways', text, element);
            box.left = Math.max(box.left, edge.left);
            box.right = Math.min(box.right, edge.right);
            inSight = box.right - box.left > 1;
          } else if (outside) {
            if (!mayTruncate(element)) report('cut', text, element);
            box.left = Math.max(box.left, edge.left);
            box.right = Math.min(box.right, edge.right);
          }
        } else if (
          outside &&
          (at.matches('button, td, th, li, kbd, label, dt, dd, [role=cell], [role=gridcell], [role=columnheader]') ||
            at === document.body) &&
          !mayTruncate(element)
        ) {
          report('spills', text, element);
        }
        if (!inline && inSight && (style.overflowY !== 'visible' || clipsBy(style))) {
          if (scrolls(style.overflowY)) {
            box.top = Math.max(box.top, edge.top);
            box.bottom = Math.min(box.bottom, edge.bottom);
            inSight = box.bottom - box.top > 1;
          } else if (under) {
            if (!mayTruncate(element)) report('cut in height', text, element);
            box.top = Math.max(box.top, edge.top);
            box.bottom = Math.min(box.bottom, edge.bottom);
            inSight = box.bottom - box.top > 1;
          }
        }
        if (
          inSight &&
          at === element &&
          !scrolls(style.overflowX) &&
          style.overflowX !== 'visible' &&
          at.scrollWidth > at.clientWidth + 1 &&
          !mayTruncate(element)
        ) {
          report('cut', text, element);
        }
        if (at === root) break;
      }
      if (inSight && !element.closest('.toasts, [data-over]')) {
        const fixed = marked(element)?.getBoundingClientRect();
        for (const line of lines) {
          seen.push({
            text,
            element,
            box: {
              left: Math.max(line.left, box.left, fixed?.left ?? 0),
              right: Math.min(line.right, box.right, fixed?.right ?? Infinity),
              top: Math.max(line.top, box.top),
              bottom: Math.min(line.bottom, box.bottom),
            },
          });
        }
      }
    }

    const sticky = (element: Element): boolean => {
      for (let at: Element | null = element; at && at !== root; at = at.parentElement)
        if (['sticky', 'fixed'].includes(styleOf(at).position)) return true;
      return false;
    };
    seen.sort((a, b) => a.box.left - b.box.left);
    seen.forEach((a, i) => {
      for (let j = i + 1; j < seen.length && seen[j].box.left < a.box.right - 2; j++) {
        const b = seen[j];
        const tall = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        if (tall <= 5 || b.box.right - b.box.left <= 2 || a.element === b.element) continue;
        if (sticky(a.element) !== sticky(b.element)) continue;
        report(`on “${b.text.trim().slice(0, 40)}”`, a.text, a.element);
      }
    });
    return [...found.values()];
  });
}
