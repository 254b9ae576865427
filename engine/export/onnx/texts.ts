// Texts as cells of a file hold them, looked up whatever spaces stand around them: a cell is split at its spaces (StringSplit) and its words are
// joined by one again. N rows; texts are [N,1].

import type { OnnxBuilder, ValueName } from './builder.ts';

/** Where StringSplit splits: the spaces of ASCII. */
const wordsOf = (text: string): readonly string[] => text.split(/[ \t\n\r\f\v]+/).filter((word) => word !== '');

/** The words of a text with one space between them, and as many spaces behind as there is room for more. */
const keyOf = (text: string, room: number): string =>
  Array.from({ length: room }, (_, index) => wordsOf(text)[index] ?? '').join(' ');

/**
 * Numbers [N,1] of type int64 of the texts [N,1] of a column: as they stand, else without the spaces around and the double ones within; 0 for
 * any other.
 */
export function lookUp(onnx: OnnxBuilder, column: ValueName, numbers: ReadonlyMap<string, number>): ValueName {
  const texts = [...numbers.keys()];
  // Room for one word more than any has: a cell of so many is none of them.
  const room = Math.max(...texts.map((text) => wordsOf(text).length), 0) + 1;
  const keys = new Map<string, number>();
  const alike = new Set<string>();
  for (const [text, number] of numbers) {
    const key = keyOf(text, room);
    if (keys.has(key) && keys.get(key) !== number) alike.add(key);
    keys.set(key, number);
  }
  for (const key of alike) keys.delete(key);
  const spaced = encoder(onnx, joined(onnx, column, room), keys);
  if (alike.size === 0) return spaced;
  const exact = encoder(onnx, column, numbers);
  return onnx.one('Where', [onnx.one('Greater', [exact, onnx.int64([0])]), exact, spaced]);
}

function encoder(onnx: OnnxBuilder, text: ValueName, numbers: ReadonlyMap<string, number>): ValueName {
  return onnx.ml('LabelEncoder', [text], {
    keys_strings: { texts: [...numbers.keys()] },
    values_int64s: { ints: [...numbers.values()] },
    default_int64: { int: 0 },
  });
}

/** The first words of each cell joined by spaces [N,1]. */
function joined(onnx: OnnxBuilder, column: ValueName, room: number): ValueName {
  const words = onnx.first('StringSplit', [column], 2);
  // As many empty ones behind as are looked at: a batch has as many columns of words as its longest cell.
  const shape = onnx.one('Concat', [onnx.one('Shape', [column]), onnx.int64([room])], { axis: { int: 0 } });
  const none = onnx.one('Expand', [onnx.strings(['']), shape]);
  const all = onnx.one('Concat', [words, none], { axis: { int: 2 } });
  const word = (index: number): ValueName => onnx.one('Gather', [all, onnx.int64([index], [])], { axis: { int: 2 } });
  let text = word(0);
  for (let index = 1; index < room; index++) {
    text = onnx.one('StringConcat', [onnx.one('StringConcat', [text, onnx.strings([' '])]), word(index)]);
  }
  return text;
}
