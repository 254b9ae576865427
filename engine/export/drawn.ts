// Rows that a model of others is tried with: those it learned from are not here. Tokens and pixels drawn by counters, the same each time.

import { threefry2x32 } from '../../kernels/threefry.ts';
import { isImagePreprocessing, parseImagePreprocessing } from '../data/images/recipe.ts';
import type { Rows } from '../learners/learner.ts';
import { targetsOf, type InputSpec, type TextColumn } from '../model/spec.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import { textCodes } from '../text/tokenizer.ts';

/** Large models take a second a row. */
const drawnCount = 16;

/** A whole number below `below`: the one of this place of a row. */
const drawn = (row: number, place: number, below: number): number => threefry2x32(0, row, place, 0)[0] % below;

/** Rows of drawn values that the model reads; null: a table with other columns than texts, whose cells nobody can make up. */
export function drawRows(file: ModelFile, recipe: unknown): Pick<Rows, 'data' | 'readShard'> | null {
  const { input, output, task } = file;
  const x = input.kind === 'image' ? pixels(input) : input.kind === 'table' ? texts(input) : null;
  if (x === null) return null;
  const targets = targetsOf(input);
  const image = isImagePreprocessing(recipe) ? parseImagePreprocessing(recipe) : null;
  return {
    data: {
      ...{ handle: '', input, output, task, width: x.length / drawnCount, targets },
      ...{ counts: { train: 0, validation: 0, test: drawnCount }, shardStarts: [0, drawnCount] },
      ...{ classCounts: [], preprocessing: recipe, warnings: [] },
      ...(image && { normalization: { mean: image.mean, deviation: image.deviation } }),
    },
    readShard: () => Promise.resolve({ rows: drawnCount, x, y: new Float32Array(drawnCount * targets) }),
  };
}

function pixels({ channels, height, width }: Extract<InputSpec, { kind: 'image' }>): Uint8Array {
  const area = channels * height * width;
  return Uint8Array.from({ length: drawnCount * area }, (_, at) => drawn(Math.floor(at / area), at % area, 256));
}

/** The first text of a token, the last as long as texts may be, those between of any length. */
function texts({ width, texts = [] }: Extract<InputSpec, { kind: 'table' }>): Float32Array | null {
  if (texts.length === 0 || texts.reduce((sum, { length }) => sum + length, 0) !== width) return null;
  const x = new Float32Array(drawnCount * width);
  for (let row = 0; row < drawnCount; row++) {
    let at = row * width;
    for (const text of texts) {
      const count = tokensOf(text, row);
      for (let place = 0; place < count; place++) {
        x[at + place] = textCodes.first + drawn(row, place + 1, text.vocabulary - textCodes.first);
      }
      at += text.length;
    }
  }
  return x;
}

function tokensOf({ length }: TextColumn, row: number): number {
  if (row === 0) return 1;
  return row === drawnCount - 1 ? length : 1 + drawn(row, 0, length);
}
