// What a finished run says pictures are: probabilities, the pictures as the model saw them, and where it looked. On the CPU.

import type { Backend } from '../../engine/backends/backend.ts';
import type { DataService, PreparedData } from '../../engine/protocol/data.ts';
import type { ClassifiedPictures } from '../../engine/protocol/evaluation.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { ClassifierService } from '../../engine/protocol/hosts.ts';
import { predictRows, readTrained } from '../../engine/learners/predict.ts';
import type { Rows } from '../../engine/learners/learner.ts';
import type { ReadShard } from '../../engine/train/resident-rows.ts';
import { withRows } from './with-rows.ts';

const noMaps =
  'This model does not end in a global average pool before its output, so it does not tell where it looked. Small CNN and the ResNets do.';

/** `openBackend` opens the CPU, for one request. */
export function createClassifier(
  rows: Promise<Pick<DataService, 'readShard'>>,
  openBackend: () => Promise<Backend>,
): ClassifierService {
  return {
    async classify({ run, model, weights, data }) {
      const trained = readTrained(model, weights, run);
      const { output } = trained.file;
      if (output.kind !== 'classes') {
        throw new InputError('run.no_classes', `Run ${run} predicts a number, not a class.`, 'Predict a file with it.');
      }
      return withRows(rows, openBackend, data, async (prepared) => {
        const readShard = shardsUpTo(prepared);
        const shown = { ...prepared, readShard };
        const predictions = await predictRows(trained, shown);
        const chosen = Array.from(predictions.values);
        const maps = await trained.attention?.(shown, chosen);
        return {
          classes: output.classes,
          files: data.files ?? chosen.map((_, row) => String(row + 1)),
          probabilities: predictions.probabilities ?? new Float64Array(0),
          ...(await pictures(data, readShard)),
          attention: maps ?? { reason: noMaps },
          attributions: (await trained.attributions?.(shown, chosen)) ?? null,
        };
      });
    },
  };
}

/** Shards of the rows that `data` counts, though the last shard may hold more. */
function shardsUpTo({ data, readShard }: Rows): ReadShard {
  return async (shard) => {
    const { x, y } = await readShard(shard);
    const rows = data.shardStarts[shard + 1] - data.shardStarts[shard];
    return { rows, x: x.subarray(0, rows * data.width), y: y.subarray(0, rows * data.targets) };
  };
}

/** The pictures as RGBA, from planes. */
async function pictures(
  data: PreparedData,
  readShard: ReadShard,
): Promise<Pick<ClassifiedPictures, 'width' | 'height' | 'pixels'>> {
  if (data.input.kind !== 'image') throw new InputError('run.no_pictures', 'These rows are no pictures.');
  const { channels, height, width } = data.input;
  const size = height * width;
  const rows = data.counts.test;
  const pixels = new Uint8Array(rows * size * 4).fill(255);
  for (let shard = 0; shard + 1 < data.shardStarts.length; shard++) {
    const first = data.shardStarts[shard];
    const { x, rows: count } = await readShard(shard);
    for (let row = 0; row < count; row++) {
      for (let place = 0; place < size; place++) {
        for (let colour = 0; colour < 3; colour++) {
          const plane = row * channels + Math.min(colour, channels - 1);
          pixels[((first + row) * size + place) * 4 + colour] = x[plane * size + place];
        }
      }
    }
  }
  return { width, height, pixels };
}
