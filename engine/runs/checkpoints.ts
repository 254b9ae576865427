// The states a run has kept: its best weights, the last with everything that going on needs, and those after some epochs. These
// share a budget of disk: when it is full the oldest lose the optimizer's memory first, then they go; best and last stay.

import { declarationOf } from '../learners/declared/registry.ts';
import { TrainyardError } from '../protocol/errors.ts';
import { predictsTokens } from '../model/spec.ts';
import type { Checkpoint, CheckpointChoice, StartWeights, TransferRequest } from '../protocol/going-on.ts';
import { parseRunJson, type ModelFile } from '../protocol/model-file.ts';
import { thinned, type Thinning } from '../protocol/thinning.ts';
import type { RunFile, RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { isCheckpoint } from '../train/checkpoint.ts';
import { decodeSafetensors, encodeSafetensors, shapesInSafetensors } from '../train/safetensors.ts';

type Store = Pick<StoreService, 'run' | 'files' | 'readFile' | 'writeFile' | 'removeFile'>;
/** What reading a state takes. */
export type CheckpointStore = Pick<Store, 'run' | 'files' | 'readFile'>;

const ofEpoch = /^epoch-(\d+)\.(bin|safetensors)$/;

/** What a run has kept, by epoch, best and last first. */
export async function checkpointsOf(store: Pick<Store, 'run' | 'files'>, run: number): Promise<readonly Checkpoint[]> {
  const [record, files] = await Promise.all([store.run({ run }), store.files({ run })]);
  const found = files.flatMap(({ file, bytes }): readonly Checkpoint[] => {
    const [, epoch, form] = ofEpoch.exec(file) ?? [];
    if (file === 'best.safetensors')
      return [{ kept: 'best', epoch: bestEpochOf(record), everything: false, bytes, file }];
    if (file === 'checkpoint.bin') return [{ kept: 'last', epoch: epochsOf(record), everything: true, bytes, file }];
    return epoch === undefined
      ? []
      : [{ kept: 'epoch', epoch: Number(epoch), everything: form === 'bin', bytes, file }];
  });
  const order = ['best', 'last', 'epoch'];
  return found.toSorted((a, b) => order.indexOf(a.kept) - order.indexOf(b.kept) || b.epoch - a.epoch);
}

const bestEpochOf = ({ result }: RunRecord): number => result?.bestEpoch ?? 0;
const epochsOf = ({ result, progress }: RunRecord): number => result?.epochs ?? progress?.epoch ?? 0;

/** Thins the checkpoints of a run to a budget of bytes. */
export async function thinCheckpoints(store: Store, run: number, budget: number): Promise<Thinning> {
  const kept = await checkpointsOf(store, run);
  // To know what weights take, a file may have to be read: not after every epoch while there is room.
  const fits = kept.reduce((sum, { bytes }) => sum + bytes, 0) <= budget;
  const slimBytes = fits ? 0 : await weightBytes(store, kept, run);
  const plan = thinned(kept, budget, slimBytes);
  for (const { file } of plan.removed) await store.removeFile({ run, file });
  for (const { file, epoch } of plan.slimmed) {
    const data = await store.readFile({ run, file });
    if (data === null) continue;
    await store.writeFile({ run, file: `epoch-${epoch}.safetensors`, data: weightsAlone(data) });
    await store.removeFile({ run, file });
  }
  return plan;
}

/** What the weights of a run take: those of its best, or of a checkpoint without its optimizer. */
async function weightBytes(store: Store, kept: readonly Checkpoint[], run: number): Promise<number> {
  const slim = kept.find(({ everything }) => !everything);
  if (slim) return slim.bytes;
  const data = kept.length > 0 ? await store.readFile({ run, file: kept[0].file }) : null;
  return data === null ? 0 : weightsAlone(data).byteLength;
}

/** Not the optimizer's memory, nor the best weights beside the last. */
const isWeight = (name: string): boolean => !/^(optimizer\.|best:)/.test(name);

/** A file of weights alone, of one that has more. */
export function weightsAlone(file: Uint8Array): Uint8Array {
  const { tensors } = decodeSafetensors(file);
  const weights = Object.entries(tensors).filter(([name]) => isWeight(name));
  return encodeSafetensors({ tensors: Object.fromEntries(weights), metadata: { format: 'pt' } });
}

/** The file of a run that holds a state. Throws TrainyardError `run.no_start` where it has kept none. */
export async function checkpointFile(
  store: Pick<Store, 'run' | 'files'>,
  run: number,
  choice: CheckpointChoice,
): Promise<RunFile> {
  if (choice === 'best') return 'best.safetensors';
  if (choice === 'last') return 'checkpoint.bin';
  const kept = await checkpointsOf(store, run);
  const found =
    kept.find(({ kept, epoch }) => kept === 'epoch' && epoch === choice) ?? kept.find(({ epoch }) => epoch === choice);
  if (found) return found.file;
  const { unit } = declarationOf((await store.run({ run })).config);
  const epochs = [...new Set(kept.map(({ epoch }) => epoch))].toSorted((a, b) => a - b).join(', ');
  throw new TrainyardError(
    'run.no_start',
    `Run ${run} has not kept its ${unit.one} ${choice}.`,
    epochs === '' ? 'It has kept nothing.' : `It has kept ${unit.many} ${epochs}.`,
  );
}

/** The weights of a state as a file of their own; null where there are none. */
export async function readWeightsOf(
  store: CheckpointStore,
  run: number,
  choice: CheckpointChoice,
): Promise<Uint8Array | null> {
  const data = await store.readFile({ run, file: await checkpointFile(store, run, choice) });
  return data !== null && isCheckpoint(data) ? weightsAlone(data) : data;
}

/** Names of the classes of a run in the order of its outputs; undefined where it has none, or predicts tokens. */
export async function classesOf(store: Pick<Store, 'readFile'>, run: number): Promise<readonly string[] | undefined> {
  const file = await store.readFile({ run, file: 'model.json' });
  if (file === null) return undefined;
  const found = parseRunJson(new TextDecoder().decode(file), run, 'model.json') as Partial<ModelFile> | null;
  const { input, output } = found ?? {};
  return output?.kind === 'classes' && input && !predictsTokens(input) ? output.classes : undefined;
}

/** What a state has for a model that begins with it: the shapes of its weights, and the classes. Throws TrainyardError `run.no_start` where there are none. */
export async function weightShapes(
  store: CheckpointStore,
  { run, checkpoint = 'best' }: Pick<TransferRequest, 'run' | 'checkpoint'>,
): Promise<StartWeights> {
  const data = await store.readFile({ run, file: await checkpointFile(store, run, checkpoint) });
  if (data === null) {
    throw new TrainyardError('run.no_start', `Run ${run} has kept no such weights.`, 'Choose others, or another run.');
  }
  const shapes = Object.fromEntries(Object.entries(shapesInSafetensors(data)).filter(([name]) => isWeight(name)));
  return { shapes, classes: await classesOf(store, run) };
}
