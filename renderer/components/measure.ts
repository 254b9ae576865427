// How wide text is, measured as it will be drawn: columns take what they hold instead of a guess that is wrong in another face.

const widths = new Map<string, number>();
let brush: CanvasRenderingContext2D | null | undefined;
let family = '';

/** Pixels of a text in the window's face; `size` in rem pixels. A few thousand texts are remembered. */
export function textWidth(text: string, size: 11 | 12 | 13 = 12, weight: 400 | 600 = 400): number {
  const key = `${size} ${weight} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  brush ??= document.createElement('canvas').getContext('2d');
  family ||= getComputedStyle(document.body).fontFamily;
  if (!brush) return text.length * size * 0.6;
  brush.font = `${weight} ${size}px ${family}`;
  const width = brush.measureText(text).width;
  if (widths.size > 5000) widths.clear();
  widths.set(key, width);
  return width;
}

/** Of the widest text; only the longest few are measured, as digits and letters differ little beside lengths. */
export function widestText(texts: readonly string[], size: 11 | 12 | 13 = 12, weight: 400 | 600 = 400): number {
  const longest = [...new Set(texts)].sort((a, b) => b.length - a.length).slice(0, 4);
  return Math.max(0, ...longest.map((text) => textWidth(text, size, weight)));
}
