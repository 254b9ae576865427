// A search in words: many trainings of one learner with other settings each, all scored on the same rows, and the settings that predict best.

import type { OutputSpec } from '../../model/spec.ts';
import type { PreparedData } from '../../protocol/data.ts';
import { trainedOn } from '../../model/presets.ts';
import { InputError } from '../../protocol/errors.ts';
import { ownValue } from '../../protocol/own.ts';
import { momentText } from '../../protocol/words.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import { checkKinds, checkSpace, parseSpace, readSpace, type ReadSpace } from '../../search/read-space.ts';
import { readySpace } from '../../search/ready.ts';
import type { samplers } from '../../search/sampler.ts';
import { fieldsFor, type Field, type SettingsOf } from '../../settings/field.ts';
import type { TrainedOn } from '../../settings/training.ts';
import { autoFields } from '../auto/declaration.ts';
import { declare, type ConfigOf } from '../declared/declare.ts';
import { refuseManyScores } from '../declared/many-scores.ts';
import { searchedFields, type Searched } from '../declared/searched-fields.ts';

/** What `space` is where the ready-made one of the learner is meant. */
export const ready = 'ready-made';

export const searchFields = fieldsFor<TrainedOn>()({
  of: {
    kind: 'choice',
    label: 'Of',
    flag: 'learner',
    help: 'what is trained with other settings each time',
    choices: {
      boosted: 'Boosted trees',
      network: 'Network',
      linear: 'Linear model',
      forest: 'Forest',
      extra: 'Extra trees',
    } satisfies Record<Searched, string>,
    default: 'boosted',
  },
  trials: {
    kind: 'number',
    whole: true,
    label: 'Trials',
    help: 'trials at most; 0 = until the minutes are over',
    zero: 'until the minutes are over',
    minimum: 0,
    maximum: 100_000,
    default: 100,
  },
  minutes: {
    kind: 'number',
    label: 'Minutes',
    unit: 'min',
    help: 'minutes to look; 0 = until all trials are done',
    zero: 'until all trials are done',
    minimum: 0,
    maximum: 10_000,
    default: 0,
  },
  sampler: {
    kind: 'choice',
    label: 'Sampler',
    help: 'where the next trial is looked for: where good ones were (tpe), evenly (sobol), anywhere (random)',
    choices: {
      tpe: 'Near the best (TPE)',
      sobol: 'Evenly (Sobol)',
      random: 'Anywhere (random)',
    } satisfies Record<(typeof samplers)[number], string>,
    default: 'tpe',
  },
  asha: {
    kind: 'switch',
    label: 'Stop early by rank',
    help: 'stop trials early that are behind the others so far; those that turn out among the best go on later (ASHA)',
    default: false,
  },
  parallel: {
    kind: 'number',
    whole: true,
    label: 'Trials at a time',
    help: 'trials at a time, each in a thread of its own: pays where one alone uses one core',
    minimum: 1,
    maximum: 64,
    offered: [1, 2, 4],
    quiet: 1,
    default: 1,
    advanced: true,
  },
  parts: autoFields.parts,
  space: {
    kind: 'text',
    label: 'Space',
    flag: null,
    help: 'the settings to choose, as JSON, instead of the ready-made ones',
    hint: 'JSON of settings: {"learningRate": {"kind": "float", "low": 0.01, "high": 0.3, "log": true}}.',
    longest: 100_000,
    advanced: true,
    quiet: ready,
    default: ready,
  },
});

export type SearchSettings = SettingsOf<typeof searchFields>;
export type SearchConfig = ConfigOf<'search', typeof searchFields>;

export const isSearch = (config: RunConfig): config is SearchConfig => config.learner === 'search';

/** Throws InputError `input.space` where it cannot be used. */
export function spaceOf({ of, space }: Pick<SearchSettings, 'of' | 'space'>): ReadSpace {
  const fields = searchedFields[of];
  return space === ready ? readSpace(readySpace(of), fields) : parseSpace(space, fields);
}

/** What people call a setting of a search: the label of its field. */
export function labelIn({ of }: Pick<SearchSettings, 'of'>, setting: string): string {
  return ownValue<Field>(searchedFields[of], setting)?.label ?? setting;
}

/** Settings that decide what a loss is: with other ones each, losses on the way are of different kinds. */
const ofLoss: ReadonlySet<string> = new Set([
  'loss',
  'objective',
  'labelSmoothing',
  'huberDelta',
  'quantile',
  'classWeights',
]);

/** Whether losses of trainings that are under way can be held against each other. */
export const comparesLosses = ({ space }: Pick<ReadSpace, 'space'>): boolean =>
  !Object.keys(space).some((name) => ofLoss.has(name));

/** What scores are called. */
export const metricOf = ({ kind }: OutputSpec): string => (kind === 'classes' ? 'log loss' : 'RMSE');

/**
 * What limits and choices of the settings tried depend on: a table, of which a column of texts among others is learned from too.
 */
export function aboutSearched({ counts, output }: Pick<PreparedData, 'counts' | 'output'>): TrainedOn {
  const [task, classes] =
    output.kind === 'classes' ? (['classification', output.classes.length] as const) : (['regression', 0] as const);
  return { ...trainedOn(counts.train, task, { classes }), texts: true };
}

/** Throws InputError `input.space` for one that cannot be used with this data. */
export function checkSearched(
  search: Pick<SearchSettings, 'of' | 'space'>,
  data: Pick<PreparedData, 'counts' | 'output'>,
): void {
  const space = spaceOf(search);
  if (search.space !== ready) checkKinds(search.space);
  checkSpace(space, searchedFields[search.of], aboutSearched(data));
}

function check(
  { search, until }: Pick<SearchConfig, 'search' | 'until'>,
  data: Pick<PreparedData, 'counts' | 'output'>,
): void {
  checkSearched(search, data);
  refuseManyScores('a search', data);
  if (search.parallel > 1 && until !== undefined) {
    throw new InputError(
      'input.search',
      'A search that is to be done by a time trains one trial after the other.',
      'Leave out how many at a time, or give it minutes instead of the time.',
    );
  }
  if (search.trials > 0 || search.minutes > 0 || until !== undefined) return;
  throw new InputError('input.search', 'The search has no end.', 'Give it trials, minutes or a time to be done by.');
}

export const declaration = declare({
  name: 'search',
  title: 'Search',
  noun: 'a search',
  summary: 'One learner with other settings each time, looking for those that predict best',
  about: {
    title: () => 'A search of settings',
    text: 'Trials are trained on the same rows, each where good ones were found. With stopping early, those that fall behind end before the others. What predicts best is kept as a model; the test rows are not looked at.',
  },
  fields: searchFields,
  forms: ['columns'],
  unit: { one: 'trial', many: 'trials' },
  curves: true,
  doneBy: 'It looks until then, where its trials do not end it before; 0 trials: the time alone decides.',

  check,
  parts: ({ search }) => search.parts,
  // As of the best of all: all rows that are not tested are trained on, and each of them validates in turn.
  settled: (config) => ({ ...config, settings: { ...config.settings, joined: true } }),
  formats: ['onnx', 'html', 'tensorboard', 'mlflow', 'json'],
  units: ({ search }) => Math.max(1, search.trials),
  preset: ({ search }) => `${search.of} search`,
  modelTitle: ({ search }) => `Search of ${searchFields.of.choices[search.of].toLowerCase()}`,
  label: ({ search }) => `search of ${search.of}`,
  facts: ({ search, seed, until }) => [
    ['model', `the best ${search.of} of a search`],
    [
      'training',
      [
        ...(search.trials > 0 ? [`${search.trials} trials`] : []),
        ...(search.minutes > 0 ? [`${search.minutes} min`] : []),
        ...(until === undefined ? [] : [`until ${momentText(until)}`]),
        search.sampler,
        ...(search.parallel > 1 ? [`${search.parallel} at a time`] : []),
        ...(search.asha ? ['stopped early by rank'] : []),
        `seed ${seed}`,
      ].join(', '),
    ],
  ],
});
