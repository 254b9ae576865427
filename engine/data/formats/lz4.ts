// LZ4 frames, the usual packing of Arrow and Feather files, unpacked: frame format 1.6 and block format of lz4.org. Checksums
// are skipped; a damaged block is noticed by its lengths.

const frameMagic = 0x184d2204;

/** Unpacks one frame. @throws RangeError if it is damaged. */
export function unpackLz4(frame: Uint8Array): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint32(0, true) !== frameMagic) throw new RangeError('not an LZ4 frame');
  const flags = view.getUint8(4);
  const [blockChecksum, hasSize, hasDictionary] = [(flags & 16) !== 0, (flags & 8) !== 0, (flags & 1) !== 0];
  let at = 6 + (hasSize ? 8 : 0) + (hasDictionary ? 4 : 0) + 1;
  let output = new Uint8Array(hasSize ? Number(view.getBigUint64(6, true)) : frame.length * 4);
  let length = 0;
  for (;;) {
    const size = view.getUint32(at, true);
    at += 4;
    if (size === 0) return output.subarray(0, length);
    const bytes = size & 0x7fffffff;
    const block = frame.subarray(at, at + bytes);
    if (block.length < bytes) throw new RangeError('an LZ4 block is cut off');
    at += bytes + (blockChecksum ? 4 : 0);
    if ((size & 0x80000000) !== 0) {
      output = withRoom(output, length + bytes);
      output.set(block, length);
      length += bytes;
    } else [output, length] = unpackBlock(block, output, length);
  }
}

/** Room for `length` bytes, more than asked for when it has to grow. */
function withRoom(output: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (length <= output.length) return output;
  const larger = new Uint8Array(Math.max(length, output.length * 2));
  larger.set(output);
  return larger;
}

/** Unpacks a block behind what is there already, on which it may call back. */
function unpackBlock(
  block: Uint8Array,
  given: Uint8Array<ArrayBuffer>,
  start: number,
): [output: Uint8Array<ArrayBuffer>, length: number] {
  let output = given;
  let to = start;
  let at = 0;
  const more = (nibble: number): number => {
    let length = nibble;
    if (nibble < 15) return length;
    for (let byte = 255; byte === 255;) {
      if (at >= block.length) throw new RangeError('an LZ4 length is cut off');
      byte = block[at++] as number;
      length += byte;
    }
    return length;
  };
  while (at < block.length) {
    const token = block[at++] as number;
    const literals = more(token >> 4);
    if (at + literals > block.length) throw new RangeError('LZ4 literals are cut off');
    output = withRoom(output, to + literals);
    output.set(block.subarray(at, at + literals), to);
    to += literals;
    at += literals;
    // The last sequence of a block has literals alone.
    if (at >= block.length) break;
    const offset = (block[at] as number) | ((block[at + 1] as number) << 8);
    at += 2;
    const match = more(token & 15) + 4;
    if (offset === 0 || offset > to) throw new RangeError('an LZ4 match points outside');
    output = withRoom(output, to + match);
    // Byte by byte: a match may overlap what it writes.
    for (let index = 0; index < match; index++, to++) output[to] = output[to - offset] as number;
  }
  return [output, to];
}
