// `forecast` and `advise` of trees, linear models and the best of all: their time on this processor and those of the catalogue, what
// they hold in memory, and that no GPU trains them.

import { usableCores } from '../../engine/system/cores.ts';
import { energyText } from '../../engine/hardware/bill.ts';
import type { Catalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { energy, energyCost, wattsPerThread } from '../../engine/hardware/formulas/energy.ts';
import { about } from '../../engine/hardware/run-line.ts';
import { tableMemory } from '../../engine/hardware/tables/memory.ts';
import { isMeasured, learnerSpeed, tableSeconds, unmeasuredSpeed } from '../../engine/hardware/tables/speed.ts';
import { taskOfTable, withoutGpu } from '../../engine/hardware/tables/task.ts';
import { isTableModel, tableLearners, type TableTask } from '../../engine/hardware/tables/work.ts';
import { middleOf } from '../../engine/hardware/time-forecast.ts';
import { configWith, declarationOf, usualSettings } from '../../engine/learners/declared/registry.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { LabResult } from '../../engine/protocol/lab.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { refuseMember } from '../../engine/runs/member-runs.ts';
import type { Electricity } from '../../engine/settings/electricity.ts';
import { numberOption, textOption, type OptionDef, type OptionValues } from './command.ts';
import { runOf } from './forecast-subject.ts';
import { formatBytes, formatCount, rangeText, type Output } from './output.ts';
import type { Services } from './services.ts';

export const tableOptions = {
  trees: { type: 'string', value: 'N', help: 'of trees: how many at most' },
  leaves: { type: 'string', value: 'N', help: 'of boosted trees: leaves of each' },
  minutes: { type: 'string', value: 'N', help: 'of auto: how long it looks for the best' },
} as const satisfies Record<string, OptionDef>;

export interface AskedTable {
  readonly name: string;
  readonly task: TableTask;
}

const usualRows = 10_000;
const usualColumns = 20;

/** The table model that `--model` names, or that of a run; null: it is something else. Throws InputError. */
export async function tableAsked(options: OptionValues, services: Services): Promise<AskedTable | null> {
  const run = runOf(options);
  const name = textOption(options, 'model') ?? '';
  const own = {
    trees: numberOption(options, 'trees', { minimum: 1, maximum: 100_000, whole: true }),
    leaves: numberOption(options, 'leaves', { minimum: 2, maximum: 65_536, whole: true }),
    minutes: numberOption(options, 'minutes', { minimum: 0.02, maximum: 10_000 }),
  };
  const asked = run === undefined ? named(name, options) : await ofRun(run, services);
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  if (asked === null) {
    if (given.length === 0) return null;
    const only = `--${given[0][0]} is for ${tableLearners.join(', ')}.`;
    throw new InputError('usage.option', only, 'Leave it out, or name such a model.');
  }
  const { model } = asked.task;
  const settings: Readonly<Record<string, unknown>> = {
    ...(model as unknown as Record<string, object>)[model.learner],
  };
  const wrong = given.find(([setting]) => !Object.hasOwn(settings, setting));
  if (wrong) {
    throw new InputError('usage.option', `${model.learner} has no --${wrong[0]}.`, 'Leave it out.');
  }
  const changed = { learner: model.learner, [model.learner]: { ...settings, ...Object.fromEntries(given) } };
  return isTableModel(changed) ? { ...asked, task: { ...asked.task, model: changed } } : asked;
}

function named(name: string, options: OptionValues): AskedTable | null {
  if (!(tableLearners as readonly string[]).includes(name)) return null;
  const classes = numberOption(options, 'classes', { minimum: 0, maximum: 10_000, whole: true }) ?? 2;
  const rows = numberOption(options, 'rows', { minimum: 1, maximum: 1e12, whole: true }) ?? usualRows;
  const width = numberOption(options, 'input', { minimum: 1, maximum: 1e6, whole: true }) ?? usualColumns;
  const declaration = declarationOf({ learner: name });
  const task = classes === 0 ? 'regression' : 'classification';
  const about = { task, classes, rows } as Parameters<typeof usualSettings>[1];
  const config = configWith(declaration, {} as Omit<RunConfig, 'learner'>, usualSettings(declaration, about));
  if (!isTableModel(config)) return null;
  return { name, task: { model: config, counts: { train: rows, validation: 0, test: 0 }, columns: width, classes } };
}

async function ofRun(run: number, services: Services): Promise<AskedTable | null> {
  const store = await services.store;
  const record = await store.run({ run });
  const { config, data, progress } = record;
  if (!isTableModel(config) || !data) return null;
  refuseMember(record, 'could be forecast');
  const info = await services.data.describe({ dataset: config.dataset, settings: config.settings });
  return { name: `run ${run}`, task: taskOfTable(config, info, data.counts, progress?.epoch) };
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly basis: 'here' | 'estimate' | 'data sheet';
  readonly fits: boolean | null;
  readonly seconds: readonly [low: number, high: number];
  readonly watts?: number;
}

export interface TableForecastOptions {
  readonly asked: AskedTable;
  readonly catalogue: Catalogue;
  readonly lab: LabResult | null;
  readonly memoryBytes: number;
  readonly electricity: Electricity;
}

/** This processor first, then those of the catalogue by their time. */
function rowsOf({ asked: { task }, catalogue, lab, memoryBytes }: TableForecastOptions): readonly Row[] {
  const cores = usableCores();
  const speed = learnerSpeed(lab?.devices ?? [], cores);
  const needed = tableMemory(task)?.total;
  const fits = (bytes: number | undefined): boolean | null => (needed === undefined || !bytes ? null : needed <= bytes);
  const here: Row = {
    id: 'here-cpu',
    name: lab?.devices.find(({ id }) => id === 'cpu')?.name ?? `a CPU with ${cores} ${cores === 1 ? 'core' : 'cores'}`,
    basis: isMeasured(speed, task.model) ? 'here' : 'estimate',
    fits: fits(memoryBytes),
    seconds: tableSeconds(task, speed),
    watts: wattsPerThread * (task.model.learner === 'linear' ? 1 : cores),
  };
  const others = catalogue.devices.flatMap((device): readonly Row[] => {
    if (device.kind !== 'cpu' || !device.cores || !device.fp32 || task.model.learner === 'auto') return [];
    const seconds = tableSeconds(task, unmeasuredSpeed(device.cores.value, 1e12 * device.fp32.value));
    const memory = device.memory && 1e9 * device.memory.value;
    return [
      {
        id: device.id,
        name: device.name,
        basis: 'data sheet',
        fits: fits(memory),
        seconds,
        watts: device.power?.value,
      },
    ];
  });
  return [here, ...others.toSorted((a, b) => a.seconds[0] - b.seconds[0])];
}

function threadWords({ model }: TableTask): string {
  switch (model.learner) {
    case 'boosted':
      return 'Several cores share the rows of a tree, not one tree after another.';
    case 'forest':
    case 'extra':
      return 'Several cores grow trees side by side, one each.';
    case 'linear':
      return 'They are fitted on one thread: more cores do not help.';
    case 'auto':
      return 'A faster processor tries more models in the same time.';
    default:
      return model satisfies never;
  }
}

const sentence = (words: string): string => `${words[0].toUpperCase()}${words.slice(1)}.`;

/** Prints the forecast, or its one event. */
export function printTableForecast(output: Output, options: TableForecastOptions): void {
  const { asked, electricity } = options;
  const { name, task } = asked;
  const { counts, columns, classes, model } = task;
  const memory = tableMemory(task);
  const rows = counts.train + counts.validation + counts.test;
  const found = rowsOf(options);
  const kwhOf = ({ watts, seconds }: Row): number | null =>
    watts === undefined ? null : energy({ device: watts }, middleOf(seconds) / 3600);
  output.event({
    event: 'forecast',
    model: name,
    learner: model.learner,
    rows,
    columns,
    classes,
    memory: memory && Object.fromEntries(Object.entries(memory).map(([part, bytes]) => [part, Math.round(bytes)])),
    epoch: 'the whole fit',
    gpu: withoutGpu(model),
    devices: found.map((row) => {
      const kwh = kwhOf(row);
      return {
        ...{ id: row.id, name: row.name, fits: row.fits, basis: row.basis },
        seconds_per_epoch: row.seconds.map((seconds) => Number(seconds.toPrecision(4))),
        kwh: kwh === null ? null : Number(kwh.toPrecision(4)),
        cost: kwh === null ? null : Number(energyCost(kwh, electricity.tariff).toPrecision(4)),
      };
    }),
  });
  if (output.json) return;
  const answer = classes === 0 ? 'a number' : `${formatCount(classes)} classes`;
  output.line(`${name}: ${formatCount(rows)} rows of ${formatCount(columns)} columns, ${answer}`);
  output.line(
    memory
      ? `memory: rows ${formatBytes(memory.rows)}, work ${formatBytes(memory.work)}, model up to ${formatBytes(memory.model)}; ${formatBytes(memory.total)} together`
      : 'memory: that of the largest model it tries',
  );
  output.line();
  output.table(found, [
    {
      title: 'device',
      value: (row) =>
        row.basis === 'data sheet' ? row.name : `here: ${row.name}${row.basis === 'estimate' ? ' (a guess)' : ''}`,
    },
    { title: 'fits', value: ({ fits }) => (fits === null ? 'unknown' : fits ? 'yes' : 'no') },
    { title: 'the whole fit', value: ({ seconds }) => rangeText(seconds), right: true },
    { title: 'energy', value: (row) => ((kwh) => (kwh === null ? '–' : energyText(kwh)))(kwhOf(row)), right: true },
  ]);
  output.line(`${sentence(withoutGpu(model))} ${threadWords(task)}`);
  if (found[0].basis === 'estimate')
    output.line('No lab has timed such models here: its row is a guess. `trainyard lab` measures it.');
}

/** The one answer there is: this processor, with its time and why nothing else would help. */
export function printTableAdvice(output: Output, options: TableForecastOptions, deadline: number | undefined): void {
  const { asked } = options;
  const { model } = asked.task;
  const [here] = rowsOf(options);
  const late = deadline !== undefined && here.seconds[1] > deadline;
  const reasons = [sentence(withoutGpu(model)), threadWords(asked.task)];
  const less =
    model.learner === 'auto'
      ? 'Give it fewer minutes: it has an answer at any time.'
      : 'Fewer trees or rows take as much less time.';
  const changes = late ? [less] : [];
  output.event({
    event: 'advice',
    recommendations: [
      {
        ...{ rank: 1, rule: 'no-network', title: 'Stay on this CPU', device: 'cpu' },
        reasons: reasons.map((text) => ({ text, link: 'cost' })),
        changes: changes.map((text) => ({ text, link: 'cost' })),
        seconds: here.seconds.map((seconds) => Number(seconds.toPrecision(4))),
        ...(deadline === undefined ? {} : { meets_deadline: !late }),
      },
    ],
    not_advised: [],
  });
  const words = late ? ', which may miss the deadline' : '';
  output.line(`1. Stay on this CPU: ${here.name}, about ${about(here.seconds)}${words}`);
  for (const text of reasons) output.line(`   ${text}`);
  for (const text of changes) output.line(`   would change it: ${text}`);
  if (here.basis === 'estimate')
    output.line('No lab has timed such models here: the time is a guess. `trainyard lab` measures it.');
}
