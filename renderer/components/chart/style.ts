// Colours and font of a drawing, read from the design tokens at the moment of drawing.

import type { Drawing } from './drawing.ts';

/** Size of labels and ticks, rem. */
const labelSize = 0.6875;

export function chartStyle(): Pick<Drawing, 'colour' | 'font'> {
  const computed = getComputedStyle(document.documentElement);
  const forced = window.matchMedia('(forced-colors: active)').matches;
  const size = Number.parseFloat(computed.fontSize) * labelSize;
  const family = computed.getPropertyValue('--font').trim();
  return {
    colour: (token) => (forced ? systemColour(token) : computed.getPropertyValue(`--${token}`).trim()),
    font: (weight) => `${weight} ${size}px ${family}`,
  };
}

/** In the system's high-contrast mode: lines of the grid are none of the data. */
function systemColour(token: string): string {
  if (token === 'surface') return 'Canvas';
  return token.startsWith('line') ? 'GrayText' : 'CanvasText';
}
