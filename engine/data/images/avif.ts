// Which way up an AVIF is: its boxes say how the decoded picture is turned and mirrored (ISO/IEC 23008-12, 6.5.10 and 6.5.12), and
// what EXIF says of it does not count. Decoders that give pixels alone leave it to whoever shows them.

import type { Orientation } from './picture-format.ts';

interface Box {
  readonly name: string;
  /** Its content. */
  readonly bytes: Uint8Array;
}

/** By quarters anticlockwise: not mirrored, then mirrored top to bottom, then left to right, as libavif tells them. */
const orientations: readonly (readonly [Orientation, Orientation, Orientation])[] = [
  [1, 4, 2],
  [8, 5, 7],
  [3, 2, 4],
  [6, 7, 5],
];

/** Bytes of version and flags, with which "full" boxes begin. */
const fullHeader = 4;
/** Boxes, or items with properties, that are looked at: a picture has a few. */
const mostBoxes = 4096;

/** The orientation of the picture that an AVIF shows first; 1 if it says none, or is broken. */
export function avifOrientation(bytes: Uint8Array): Orientation {
  const meta = find(bytes, 'meta')?.subarray(fullHeader);
  const main = meta && find(meta, 'pitm');
  const properties = meta && find(meta, 'iprp');
  const all = properties && find(properties, 'ipco');
  const links = properties && find(properties, 'ipma');
  if (!main || !all || !links || main.length < 6) return 1;
  const mainView = viewOf(main);
  const item = main[0] === 0 ? mainView.getUint16(fullHeader) : main.length < 8 ? -1 : mainView.getUint32(fullHeader);
  const boxes = boxesOf(all);
  let [quarters, mirrored] = [0, 0];
  for (const index of linkedTo(links, item)) {
    const box = boxes[index - 1];
    if (box?.name === 'irot') quarters = (box.bytes[0] ?? 0) & 3;
    else if (box?.name === 'imir') mirrored = 1 + ((box.bytes[0] ?? 0) & 1);
  }
  return orientations[quarters]?.[mirrored] ?? 1;
}

/** Numbers of the properties of an item, from 1 (ISO/IEC 23008-12, 9.3). */
function linkedTo(links: Uint8Array, item: number): number[] {
  const view = viewOf(links);
  const [wideItems, wideIndices] = [links[0] !== 0, ((links[3] ?? 0) & 1) === 1];
  let at = fullHeader + 4;
  for (let entry = 0; entry < mostBoxes && at + 3 <= links.length; entry++) {
    if (wideItems && at + 5 > links.length) return [];
    const found = wideItems ? view.getUint32(at) : view.getUint16(at);
    at += wideItems ? 4 : 2;
    const count = links[at++] as number;
    const end = at + count * (wideIndices ? 2 : 1);
    if (end > links.length) return [];
    if (found === item) {
      return Array.from({ length: count }, (_, i) =>
        wideIndices ? view.getUint16(at + 2 * i) & 0x7fff : (links[at + i] as number) & 0x7f,
      );
    }
    at = end;
  }
  return [];
}

function find(bytes: Uint8Array, name: string): Uint8Array | undefined {
  return boxesOf(bytes).find((box) => box.name === name)?.bytes;
}

/** The boxes that stand in some bytes, one behind the other (ISO/IEC 14496-12, 4.2). */
function boxesOf(bytes: Uint8Array): Box[] {
  const view = viewOf(bytes);
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length && boxes.length < mostBoxes;) {
    const short = view.getUint32(at);
    if (short === 1 && at + 16 > bytes.length) break;
    const [header, size] =
      short === 1 ? [16, Number(view.getBigUint64(at + 8))] : [8, short === 0 ? bytes.length - at : short];
    if (size < header) break;
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    boxes.push({ name, bytes: bytes.subarray(at + header, Math.min(bytes.length, at + size)) });
    at += size;
  }
  return boxes;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
