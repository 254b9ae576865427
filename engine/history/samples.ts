// How the values of one moment are packed into a row of `sample`: for each value the series' number (16 bits) and the
// value (float64), little-endian. NaN and infinities pass as they are.

export const bytesPerValue = 10;

export function packValues(values: readonly { readonly series: number; readonly value: number }[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * bytesPerValue));
  values.forEach(({ series, value }, index) => {
    view.setUint16(index * bytesPerValue, series, true);
    view.setFloat64(index * bytesPerValue + 2, value, true);
  });
  return new Uint8Array(view.buffer);
}

/** Calls `visit` with each value in the order it was packed. */
export function unpackValues(data: Uint8Array, visit: (series: number, value: number) => void): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let offset = 0; offset < data.byteLength; offset += bytesPerValue) {
    visit(view.getUint16(offset, true), view.getFloat64(offset + 2, true));
  }
}

/** The same values under other numbers of their series. */
export function renumberValues(data: Uint8Array, numberOf: (series: number) => number): Uint8Array {
  const copy = Uint8Array.from(data);
  const view = new DataView(copy.buffer);
  for (let offset = 0; offset < copy.byteLength; offset += bytesPerValue) {
    view.setUint16(offset, numberOf(view.getUint16(offset, true)), true);
  }
  return copy;
}
