// `inspect`: imports a file and says what is in it.

import type { DatasetInfo } from '../../../engine/protocol/data.ts';
import {
  expectedCounts,
  givenSplits,
  leftOutColumns,
  leftOutText,
  splitOrigin,
  splitRule,
  usualSplit,
} from '../../../engine/protocol/use.ts';
import { about } from '../about.ts';
import { numberOption, type Command } from '../command.ts';
import { importFile, readOptions, readOptionDefs } from '../import.ts';
import { withFlag } from '../data-warning.ts';
import { counted, formatBytes, formatCount, formatNumber, type Output } from '../output.ts';
import { datasetSettings, dataOptions } from '../training-options.ts';
import { ownValue } from '../../../engine/protocol/own.ts';

const { target, task, types, ignore, text, split, time, group } = dataOptions;

export const inspect: Command = {
  ...about.inspect,
  positionals: [1, 1],
  options: {
    rows: { type: 'string', value: 'N', help: 'sample rows to show (default 5)' },
    types,
    target,
    task,
    ignore,
    text,
    split,
    time,
    group,
    ...readOptionDefs,
  },
  run: async (context) => {
    const { positionals, options, output, services } = context;
    const limit = numberOption(options, 'rows', { minimum: 0, maximum: 10_000, whole: true }) ?? 5;
    const info = await importFile(
      services.data,
      positionals[0],
      context,
      readOptions(options),
      datasetSettings(options),
    );
    const page = await services.data.rows({ dataset: info.id, offset: 0, limit });
    const names = info.columns.map((column) => column.name);
    const sample = page.rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
    const { id, rows, columns, classes, warnings, reading } = info;
    output.event({
      event: 'dataset',
      dataset: id,
      rows,
      columns,
      source_bytes: info.sourceBytes,
      bytes: info.bytes,
      left_out: info.kind === 'table' ? leftOutColumns(info) : [],
      split: expectedCounts(info, info.settings),
      target: info.target,
      task: info.task,
      classes,
      warnings,
      reading,
      image: info.image,
      sample,
    });
    if (output.json) return;
    describe(output, info);
    if (sample.length === 0) return;
    output.line();
    output.table(
      sample,
      names.slice(0, 8).map((name) => ({
        title: name,
        value: (row: Readonly<Record<string, unknown>>) => shortened(String(ownValue(row, name) ?? '–'), 20),
      })),
    );
    if (names.length > 8) output.line(`… and ${names.length - 8} more columns`);
  },
};

function describe(output: Output, info: DatasetInfo): void {
  output.line(
    `${info.source}: ${counted(info.rows, 'row')}, ${counted(info.columns.length, 'column')}, ${sizes(info)}`,
  );
  const reading = Object.entries(info.reading).map(([name, value]) => `${name} ${value}`);
  if (reading.length > 0) output.line(`read as ${reading.join(', ')}`);
  output.line();
  output.table(info.columns, [
    { title: 'column', value: (column) => (column.name === info.target ? `${column.name} ◂ target` : column.name) },
    { title: 'type', value: (column) => column.type },
    { title: 'missing', value: (column) => (column.missing ? formatCount(column.missing) : '–'), right: true },
    { title: 'distinct', value: (column) => formatCount(column.distinct), right: true },
    { title: 'range', value: (column) => range(column) },
    { title: 'why', value: (column) => column.reason },
  ]);
  output.line();
  if (info.target) output.line(`target ${info.target} (${info.task}): ${info.targetReason}`);
  else output.line(`no target: ${info.targetReason}`);
  if (info.kind === 'table') output.line(`left out: ${leftOutText(leftOutColumns(info))}`);
  output.line(splitText(info));
  for (const warning of info.warnings) output.line(`! ${withFlag(warning)}`);
}

/** Rows, or shares of a text to learn to write: that is cut anywhere, not between its passages. */
function splitText(info: DatasetInfo): string {
  if (info.task === 'language') {
    const [train, validation, test] = (info.settings.split ?? usualSplit).map(
      (share) => `${Math.round(1000 * share) / 10} %`,
    );
    return `split: ${train} of the text train, ${validation} validate, ${test} test`;
  }
  const counts = expectedCounts(info, info.settings);
  const origin = splitRule(info.settings) || splitOrigin({ givenSplits: givenSplits(info), counts });
  return (
    `split: about ${formatCount(counts.train)} train, ${formatCount(counts.validation)} validate, ` +
    `${formatCount(counts.test)} test${origin === '' ? '' : `; ${origin}`}`
  );
}

/** Of the file, and of the copy made of it. */
function sizes({ sourceBytes, bytes }: DatasetInfo): string {
  const source = sourceBytes === null ? '' : `${formatBytes(sourceBytes)}, `;
  return `${source}kept as a copy of ${formatBytes(bytes)}`;
}

function range(column: DatasetInfo['columns'][number]): string {
  if (column.type === 'datetime' && column.minimum !== undefined && column.maximum !== undefined) {
    const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
    return `${day(column.minimum)} … ${day(column.maximum)}`;
  }
  if (column.lengths) {
    const { words, characters } = column.lengths;
    return `${formatCount(words.minimum)} … ${formatCount(words.maximum)} words, ${formatCount(characters.maximum)} characters at most`;
  }
  if (column.minimum !== undefined) return `${formatNumber(column.minimum)} … ${formatNumber(column.maximum)}`;
  return (column.top ?? [])
    .slice(0, 3)
    .map(({ value, count }) => `${shortened(value, 16)} ${count}`)
    .join(', ');
}

/** At most so many characters, with a sign where more would follow. */
const shortened = (text: string, most: number): string => {
  const signs = [...text];
  return signs.length > most ? `${signs.slice(0, most - 1).join('')}…` : text;
};
