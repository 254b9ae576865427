// A chart's canvas as a PNG that stands on its own: with its title, on the colour of the surface.

const margin = 16;
const titleHeight = 28;

export async function toPicture(canvas: HTMLCanvasElement, title: string): Promise<Uint8Array> {
  const scale = canvas.width / canvas.clientWidth;
  const style = getComputedStyle(document.documentElement);
  const picture = document.createElement('canvas');
  picture.width = canvas.width + 2 * margin * scale;
  picture.height = canvas.height + (titleHeight + 2 * margin) * scale;
  const context = picture.getContext('2d');
  if (!context) throw new Error('The picture could not be made: no drawing context.');
  context.fillStyle = style.getPropertyValue('--surface').trim();
  context.fillRect(0, 0, picture.width, picture.height);
  context.fillStyle = style.getPropertyValue('--text').trim();
  context.font = `600 ${14 * scale}px ${style.getPropertyValue('--font').trim()}`;
  context.textBaseline = 'top';
  context.fillText(title, margin * scale, margin * scale);
  context.drawImage(canvas, margin * scale, (margin + titleHeight) * scale);
  const blob = await new Promise<Blob | null>((resolve) => picture.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('The picture could not be made: the drawing is too large.');
  return new Uint8Array(await blob.arrayBuffer());
}
