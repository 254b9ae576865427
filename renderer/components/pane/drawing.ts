// The drawing of a pane as it leaves it: as an SVG that stands on its own, and as a PNG.

/** Of what is drawn: style sheets do not go with a file. */
const drawn = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'opacity',
  'font-size',
  'font-weight',
  'text-anchor',
  'paint-order',
] as const;
const margin = 16;
const titleHeight = 28;

/** The drawing with its title, on the colour of the surface. */
export function svgOf(drawing: SVGSVGElement, title: string): { readonly text: string; readonly size: Size } {
  const { width, height } = drawing.getBoundingClientRect();
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const own = [...drawing.querySelectorAll<SVGElement>('*')];
  copy.querySelectorAll<SVGElement>('*').forEach((element, i) => {
    const style = getComputedStyle(own[i]);
    for (const name of drawn) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ['class', 'style', 'role', 'tabindex']) element.removeAttribute(name);
  });
  const page = getComputedStyle(document.documentElement);
  const of = (token: string): string => page.getPropertyValue(token).trim();
  const make = (name: string, attributes: Readonly<Record<string, string | number>>, text = ''): SVGElement => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    element.textContent = text;
    return element;
  };
  const size = { width: Math.ceil(width) + 2 * margin, height: Math.ceil(height) + titleHeight + 2 * margin };
  const whole = make('svg', { ...size, viewBox: `0 0 ${size.width} ${size.height}`, 'font-family': of('--font') });
  const place = make('g', { transform: `translate(${margin} ${margin + titleHeight})` });
  place.append(...copy.childNodes);
  const heading = { x: margin, y: margin + 14, fill: of('--text'), 'font-size': 14, 'font-weight': 600 };
  whole.append(make('rect', { ...size, fill: of('--surface') }), make('text', heading, title), place);
  return { text: new XMLSerializer().serializeToString(whole), size };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The same as a PNG, at twice its size on paper. */
export async function pngOf(drawing: SVGSVGElement, title: string): Promise<Uint8Array> {
  const { text, size } = svgOf(drawing, title);
  const address = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [2 * size.width, 2 * size.height];
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (!blob) throw new Error('The picture could not be made: the drawing is too large.');
    return new Uint8Array(await blob.arrayBuffer());
  } finally {
    URL.revokeObjectURL(address);
  }
}
