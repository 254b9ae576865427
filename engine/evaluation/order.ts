// Rows in the order of a value, of equal ones the first row first. Many rows are sorted by the bits of their values, 16 at a time: a fifth of the
// time that comparing them takes.

/** With fewer rows a sort by comparison is as quick. */
const radixRows = 4_096;

/** Places of `values` [N], none of which is NaN, by falling value. */
export const fallingOrder = (values: Float64Array): Uint32Array => ordered(values, true);

/** The same by rising value. */
export const risingOrder = (values: Float64Array): Uint32Array => ordered(values, false);

function ordered(values: Float64Array, falling: boolean): Uint32Array {
  const rows = values.length;
  const order = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) order[row] = row;
  if (rows < radixRows)
    return order.sort(falling ? (a, b) => values[b] - values[a] || a - b : (a, b) => values[a] - values[b] || a - b);
  const bits = risingBits(values);
  // Complemented they fall.
  const turn = falling ? 65_535 : 0;
  let from = order;
  let to = new Uint32Array(rows);
  const starts = new Uint32Array(65_537);
  for (let digit = 0; digit < 4; digit++) {
    const at = littleEndian ? digit : 3 - digit;
    starts.fill(0);
    for (let row = 0; row < rows; row++) starts[(bits[row * 4 + at] ^ turn) + 1]++;
    for (let value = 1; value <= 65_536; value++) starts[value] += starts[value - 1];
    for (let place = 0; place < rows; place++) {
      const row = from[place];
      to[starts[bits[row * 4 + at] ^ turn]++] = row;
    }
    [from, to] = [to, from];
  }
  return from;
}

const littleEndian = new Uint16Array(Float64Array.of(1).buffer)[3] !== 0;

/** [N, 4] Numbers without a sign that rise with the values: of those below 0 all bits are turned, of the others the sign. */
function risingBits(values: Float64Array): Uint16Array {
  const bits = new Uint16Array(values.slice().buffer);
  const sign = littleEndian ? 3 : 0;
  for (let at = 0; at < bits.length; at += 4) {
    // −0 is 0.
    const turned = values[at >> 2] < 0 ? 65_535 : 0;
    if (turned === 0) bits[at + sign] = (bits[at + sign] & 0x7fff) | 0x8000;
    else for (let part = 0; part < 4; part++) bits[at + part] ^= turned;
  }
  return bits;
}
