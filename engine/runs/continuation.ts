// What a run that goes on takes over from the one it goes on from: which file, and how far that was.

import { declarationOf } from '../learners/declared/registry.ts';
import { learnerNamed } from '../learners/registry.ts';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import { checkpointFile, classesOf } from './checkpoints.ts';
import type { JobStart } from '../protocol/hosts.ts';
import {
  hasSeenRows,
  type CheckpointChoice,
  type ContinuationRequest,
  type TransferRequest,
} from '../protocol/going-on.ts';
import type { RunStart } from '../protocol/family.ts';
import { isCrossValidation } from '../protocol/folds.ts';
import { isPretrained } from '../protocol/pretrained.ts';
import { refuseMember } from './member-runs.ts';
import { finalStates, type RunConfig, type RunFile, type RunRecord } from '../protocol/runs.ts';
import type { Family, StoreService } from '../protocol/store.ts';

type Place = Required<Pick<RunStart, 'epoch' | 'step' | 'seconds'>>;

/** What a run that goes on takes over, and its settings. Throws InputError `input.continue`, `input.run_active`, `run.no_start` where it cannot, or not like this. */
export async function continuationOf(
  store: StoreService,
  parent: RunRecord,
  { config, checkpoint = parent.state === 'diverged' ? 'best' : 'last' }: Omit<ContinuationRequest, 'run'>,
): Promise<{ readonly family: Family; readonly config: RunConfig }> {
  refuseLive(parent);
  refusePretrained(parent);
  refuseFolds(parent);
  refuseMember(parent, 'could go on');
  const { goesOn, begunAnew, units, unit, title, trees } = declarationOf(parent.config);
  if (!goesOn) {
    const solved = parent.state === 'completed';
    throw new InputError(
      'input.continue',
      solved
        ? `${title}: it is solved to its end, and nothing is left to go on with.`
        : `${title}: a run of it that did not come to its end goes on as the same run.`,
      solved ? 'Train it again with other settings.' : `Resume it: train --resume ${parent.id}.`,
    );
  }
  refuseOtherData(parent.config, config);
  const changes = goesOn(parent.config, config, parent.result?.reason);
  if (trees && checkpoint !== 'last') {
    throw new InputError('input.continue', 'Trees go on from the last there are.', 'Leave --checkpoint out.');
  }
  const { file, place } = await chosenFile(store, parent, checkpoint);
  if (units(config) <= place.epoch) {
    throw new InputError(
      'input.continue',
      `Run ${parent.id} has done ${place.epoch} ${unit.many}: there is nothing to do up to ${units(config)}.`,
      `Give it more: --epochs +10 makes it ${place.epoch + 10}.`,
    );
  }
  const start: RunStart = { ...place, ...changes };
  // Weights alone bring no schedule with them.
  const anew = changes.anew === true || !file.endsWith('.bin');
  return {
    family: { parent: parent.id, relation: 'continued', start, file, untilStep: place.step },
    config: anew && begunAnew ? begunAnew(parent.config, config) : config,
  };
}

/** What a run that starts from the weights of another takes over, and the file with them. */
export async function transferOf(
  store: StoreService,
  config: RunConfig,
  { run, checkpoint = 'best', upTo }: TransferRequest,
): Promise<Family & { readonly job: JobStart }> {
  const parent = await store.run({ run });
  refuseFolds(parent);
  refuseMember(parent, 'another could begin with');
  const { checkStart } = learnerNamed(config.learner);
  if (!checkStart || parent.config.learner !== config.learner) {
    const what = checkStart ? `Run ${run} is ${declarationOf(parent.config).noun}` : declarationOf(config).title;
    throw new InputError(
      'input.from',
      `${what}: only a network starts from the weights of a network.`,
      'Leave --from out.',
    );
  }
  const { file, place } = await chosenFile(store, parent, checkpoint);
  const bytes = await store.readFile({ run, file });
  if (bytes === null) {
    throw new TrainyardError('run.no_model', `Run ${run} has no trained model yet.`, 'Train it to its end first.');
  }
  const seen = hasSeenRows(parent.config, config);
  const classes = await classesOf(store, run);
  const start: RunStart = {
    ...place,
    ...(upTo === undefined ? {} : { upTo }),
    ...(classes ? { classes } : {}),
    ...(seen ? { seen } : {}),
  };
  const relation = 'started from';
  return { parent: run, relation, start, file, job: { ...start, parent: run, relation, file: bytes } };
}

/** Tokenizers of the text columns, in their order. */
function tokenizersOf(preprocessing: unknown): readonly string[] {
  const { features = [] } = (preprocessing ?? {}) as {
    readonly features?: readonly { readonly tokenizer?: unknown }[];
  };
  return features.flatMap(({ tokenizer }) => (tokenizer === undefined ? [] : [JSON.stringify(tokenizer)]));
}

/**
 * Throws `input.from` where a run would begin with the weights of one whose texts were cut by another tokenizer: an id would mean another
 * token, which no shape tells.
 */
export async function refuseOtherTokens(store: StoreService, parent: number, preprocessing: unknown): Promise<void> {
  const kept = await store.readFile({ run: parent, file: 'preprocessing.json' });
  const before = kept === null ? [] : tokenizersOf(JSON.parse(new TextDecoder().decode(kept)));
  const now = tokenizersOf(preprocessing);
  // Several columns may be read by the one tokenizer there was.
  const wanted = before.length === 1 && now.length > 1 ? now.map(() => before[0]) : before;
  if (before.length === 0 || wanted.join() === now.join()) return;
  throw new InputError(
    'input.from',
    `Run ${parent} reads texts by a tokenizer of its own, and the texts here are cut by another: its weights would see other tokens.`,
    'Begin the run anew with --from, or in the window under Start from: then it takes over the tokenizer.',
  );
}

/** A cross-validation is the mean of several models: no one of them is what it would go on with. */
function refuseFolds({ id, config }: RunRecord): void {
  if (!isCrossValidation(config)) return;
  throw new InputError(
    'input.continue',
    `Run ${id} is a cross-validation, the mean of the models of its folds: there is no one of them to go on with.`,
    'Train its settings without folds, or go on with the run of a fold.',
  );
}

/** Its rows are not here. */
function refusePretrained({ id, config }: RunRecord): void {
  if (!isPretrained(config)) return;
  throw new InputError(
    'input.continue',
    `Run ${id} is a model that others have trained: the rows it learned from are not here.`,
    `Begin a run on your own data with it: train DATA --from ${id}.`,
  );
}

function refuseLive({ id, state, deletedAt }: RunRecord): void {
  if (!finalStates.has(state)) throw new InputError('input.run_active', `Run ${id} is ${state}.`, 'Stop it first.');
  if (deletedAt !== null) throw new InputError('input.run_deleted', `Run ${id} is in the trash.`, 'Restore it first.');
}

/** What it has learned is of these rows in these splits: with others its scores would be of rows it was trained on. */
function refuseOtherData(before: RunConfig, after: RunConfig): void {
  const same =
    before.learner === after.learner &&
    before.dataset === after.dataset &&
    before.seed === after.seed &&
    JSON.stringify(before.settings) === JSON.stringify(after.settings);
  if (same) return;
  throw new InputError(
    'input.continue',
    'A run goes on with the rows, the splits and the seed it has.',
    'To take its weights elsewhere, train with --from, or “Transfer” in the app.',
  );
}

async function chosenFile(
  store: StoreService,
  parent: RunRecord,
  choice: CheckpointChoice,
): Promise<{ readonly file: RunFile; readonly place: Place }> {
  if (isPretrained(parent.config)) return { file: 'best.safetensors', place: { epoch: 0, step: 0, seconds: 0 } };
  if (choice !== 'last') {
    const epoch = choice === 'best' ? (parent.result?.bestEpoch ?? 0) : choice;
    const file = await checkpointFile(store, parent.id, choice);
    return { file, place: await placeAfter(store, parent.id, epoch) };
  }
  const file: RunFile = 'checkpoint.bin';
  const bytes = await store.readFile({ run: parent.id, file });
  const { placeOf } = learnerNamed(parent.config.learner);
  if (bytes === null || !placeOf) throw noCheckpoint(parent);
  return { file, place: placeOf(bytes) };
}

/** Where a run was after an epoch, as its curves say. */
async function placeAfter(store: StoreService, run: number, epoch: number): Promise<Place> {
  const points = await store.metrics({ run, series: ['train_loss'] });
  const found = points.find((point) => point.epoch === epoch);
  if (epoch > 0 && found) return { epoch, step: found.step, seconds: found.seconds };
  throw new TrainyardError('run.no_start', `Run ${run} has no epoch ${epoch}.`, 'Choose one that it has done.');
}

function noCheckpoint({ id, config }: RunRecord): TrainyardError {
  return new TrainyardError(
    'run.no_start',
    `Run ${id} has kept no checkpoint of its end, as runs of earlier versions: all it has is its best ${declarationOf(config).trees ? 'trees' : 'weights'}.`,
    declarationOf(config).trees
      ? 'Train it again with more trees: the first are the same.'
      : 'Go on from those: --checkpoint best.',
  );
}
