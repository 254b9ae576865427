// `explain RUN PICTURE|FOLDER`: where a net looked and which pixels speak for its answer, as pictures or as numbers.

import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { PreparedData } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { ClassifiedPictures } from '../../engine/protocol/evaluation.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { readModelFiles } from '../../engine/runs/model-files.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createClassifier } from '../hosts/classifier.ts';
import { openCpu } from '../hosts/trusted-cpu.ts';
import { runNumber, textOption, type CommandContext, type OptionValues } from './command.ts';
import { withProgress } from './import.ts';
import { pngOf, sideBySide, type MapOfPicture } from './map-picture.ts';
import { checkOutput, makeOutputFolder, refuseInputs, writeOutput } from './output-file.ts';
import { counted, formatNumber, type Output } from './output.ts';

type Explained = Omit<ClassifiedPictures, 'total' | 'notes'>;

/** Throws InputError `usage.option` where an option speaks of columns. */
function refuseColumnOptions(options: OptionValues): void {
  for (const name of ['split', 'row', 'class', 'group', 'shuffles', 'columns', 'draws', 'force']) {
    if (ownValue(options, name) === undefined) continue;
    throw new InputError(
      'usage.option',
      `--${name} is about tables, and this run learned from pictures.`,
      'Leave it out: each picture is explained by what speaks for its predicted class.',
    );
  }
}

/** Picture by picture: each has the time that one alone has in the window. */
export async function explainPictures(context: CommandContext, preprocessing: unknown): Promise<void> {
  const { positionals, options, output, services, interruption } = context;
  refuseColumnOptions(options);
  const run = runNumber(positionals[0]);
  const folder = textOption(options, 'out');
  const store = await services.store;
  const { model, weights } = await readModelFiles(store, run);
  const { data } = services;
  const prepared = await withProgress(data, context, (job) =>
    data.transform({ job, path: path.resolve(positionals[1]), preprocessing }),
  );
  let opened: Backend | null = null;
  // One for all pictures: a request gives back what it was lent, and nothing is closed.
  const lend = async (): Promise<Backend> => {
    const cpu = (opened ??= await openCpu({ home: services.home }));
    const { device, dataBudget } = cpu;
    return { device, dataBudget, compile: (plan) => cpu.compile(plan), close: () => Promise.resolve() };
  };
  try {
    const files = prepared.files ?? [];
    const names = folder === undefined ? [] : freeNames(files);
    if (folder !== undefined) await openFolder(folder, names, path.resolve(positionals[1]), files, output);
    for (const { message } of prepared.warnings) output.line(`! ${message}`);
    for (const [row, file] of files.entries()) {
      interruption.check();
      output.bar(row / files.length, `Explaining ${file}`);
      const { one, readShard } = await onlyRow(prepared, row, (shard) =>
        data.readShard({ handle: prepared.handle, shard }),
      );
      const found = await createClassifier(Promise.resolve({ readShard }), lend).classify({
        ...{ run, model, weights },
        data: one,
      });
      const written = folder === undefined ? null : path.join(folder, names[row]);
      if (written !== null) await writeOutput(written, [drawn(found)], output);
      output.clearBar();
      output.event({ event: 'picture', run, ...eventOf(found), out: written });
      if (!output.json) print(output, found, row === 0);
    }
    output.clearBar();
    output.event({ event: 'finished', run, pictures: files.length, out: folder ?? null });
    if (!output.json && folder !== undefined) {
      output.line(
        `${counted(files.length, 'picture')} written to ${folder}: as the model sees it, then what explains it`,
      );
    }
  } finally {
    await (opened as Backend | null)?.close();
    await data.release({ handle: prepared.handle });
  }
}

/** A picture of several as if it were alone. */
async function onlyRow(
  data: PreparedData,
  row: number,
  readShard: (shard: number) => ReturnType<CommandContext['services']['data']['readShard']>,
): Promise<{ readonly one: PreparedData; readonly readShard: () => ReturnType<typeof readShard> }> {
  const shard = data.shardStarts.findLastIndex((start) => start <= row);
  const { x, y } = await readShard(shard);
  const at = row - data.shardStarts[shard];
  const own = {
    rows: 1,
    x: x.slice(at * data.width, (at + 1) * data.width),
    y: y.slice(at * data.targets, (at + 1) * data.targets),
  };
  const counts = { train: 0, validation: 0, test: 1 };
  return {
    one: { ...data, counts, shardStarts: [0, 1], files: data.files?.slice(row, row + 1) },
    readShard: () => Promise.resolve(own),
  };
}

/** `some red.png` for `new/some red.jpg`; with a number where several have that name. */
function freeNames(files: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const { name } = path.parse(file);
    let free = `${name}.png`;
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${name} (${number}).png`;
    taken.add(free.toLowerCase());
    return free;
  });
}

/** Makes a folder, where names can be written and are none of the pictures read at `source`. Throws as `checkOutput` and `refuseInputs`. */
async function openFolder(
  folder: string,
  names: readonly string[],
  source: string,
  files: readonly string[],
  output: Output,
): Promise<void> {
  await makeOutputFolder(folder);
  const root = (await stat(source)).isDirectory() ? source : path.dirname(source);
  const written = names.map((name) => path.join(folder, name));
  await refuseInputs(
    written,
    files.map((file) => path.join(root, file)),
  );
  if (written.length > 0) await checkOutput(written[0], output);
}

function mapsOf({ attention, attributions }: Explained): readonly MapOfPicture[] {
  return [...('reason' in attention ? [] : [attention]), ...(attributions ? [attributions] : [])];
}

const drawn = (found: Explained): Uint8Array => pngOf(sideBySide(found, mapsOf(found)));

const bestOf = ({ probabilities }: Explained): number => probabilities.indexOf(Math.max(...probabilities));

function print(output: Output, found: Explained, first: boolean): void {
  const { files, classes, probabilities, attention, attributions } = found;
  const best = bestOf(found);
  output.line(`${files[0]}: ${classes[best]}, p = ${formatNumber(probabilities[best])}`);
  const [sums] = attributions?.pictures ?? [];
  if (sums) {
    output.line(
      `  its pixels add up to ${formatNumber(sums.sum)} of the score’s ${formatNumber(sums.difference)} above the mean colour, in ${sums.steps} steps`,
    );
  }
  if (first && 'reason' in attention) output.line(`! ${attention.reason}`);
}

const eventOf = (found: Explained): object => {
  const { files, classes, probabilities, attention, attributions } = found;
  const plain = ({ width, height, values }: MapOfPicture): object => ({ width, height, values: [...values] });
  return {
    file: files[0],
    class: classes[bestOf(found)],
    probabilities: Object.fromEntries(classes.map((name, place) => [name, probabilities[place]])),
    class_activation: 'reason' in attention ? null : plain(attention),
    integrated_gradients: attributions && { ...plain(attributions), ...attributions.pictures[0] },
  };
};
