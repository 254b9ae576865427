// Tables of settings: a field that is added to one is in everything derived from it; what each derivation makes of a field; and
// that the tables of the app hold together.

import assert from 'node:assert/strict';
import test from 'node:test';
import { helpOf, parseCommand, type Command } from '../../electron/cli/command.ts';
import { checkChoicesFit, chosenByFlags, flagsOf } from '../../electron/cli/setting-flags.ts';
import { train } from '../../electron/cli/commands/train.ts';
import { requests, savedSettings } from '../../electron/main/requests.ts';
import { underSaved } from '../../electron/main/saved-settings.ts';
import type { DatasetInfo, DatasetSettings } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { augmentationFields } from '../../engine/settings/augmentation.ts';
import { fieldsFor, type FieldTable, type SettingsOf } from '../../engine/settings/field.ts';
import { declarations } from '../../engine/learners/declared/registry.ts';
import { linearFields } from '../../engine/learners/linear/declaration.ts';
import { completeTraining, usualTraining, type TrainingSpec } from '../../engine/settings/network.ts';
import { largestShown, readingFields } from '../../engine/settings/reading.ts';
import { runFields } from '../../engine/settings/run.ts';
import { schemaOf, storedSchemaOf, wordsTo } from '../../engine/settings/schema.ts';
import { trainingFields, type TrainedOn } from '../../engine/settings/training.ts';
import * as values from '../../engine/settings/values.ts';

const table: TrainedOn = {
  task: 'classification',
  rows: 5000,
  classes: 3,
  pictures: null,
  model: { batchNorm: false, steps: 6000 },
};

/** One line more in the table of the training settings. */
const wider = fieldsFor<TrainedOn>()({
  ...trainingFields,
  'optimizer.lookahead': {
    kind: 'number',
    whole: true,
    label: 'Lookahead',
    help: 'steps that the weights look ahead',
    minimum: 0,
    maximum: 50,
    advanced: true,
    when: { 'optimizer.name': ['sgd'] },
    default: ({ rows }) => (rows > 1000 ? 5 : 0),
  },
});

function commandWith(options: Command['options']): Command {
  return { name: 'try', usage: '', summary: 'Tries.', positionals: [0, 0], options, run: async () => undefined };
}

test('saved settings of a dataset that are none count as no settings', () => {
  const saved = { target: 'price', ignored: ['id'], split: [0.8, 0.1, 0.1] };
  assert.deepEqual(savedSettings(saved), saved);
  for (const none of [null, 'garbage', 7, [], { target: 5 }, { ignored: 'id' }, { types: 'number' }])
    assert.equal(savedSettings(none), null, JSON.stringify(none));
});

test('a dataset whose saved settings are of no use says so, and is as without them', async () => {
  const info = { warnings: [{ code: 'leak', message: 'It leaks.' }] } as unknown as DatasetInfo;
  const settled = { warnings: [] } as unknown as DatasetInfo;
  const describe = async ({ target }: DatasetSettings): Promise<DatasetInfo> => {
    if (target === 'price') return settled;
    throw new InputError('input.target', `There is no column "${target}".`, 'Choose another.');
  };
  assert.equal(await underSaved(info, null, describe), info);
  assert.equal(await underSaved(info, { target: 'price' }, describe), settled);
  const said = async (stored: unknown): Promise<readonly string[]> =>
    (await underSaved(info, stored, describe)).warnings.map(({ message }) => message);
  const end = 'They count as none; what you choose here takes their place.';
  assert.deepEqual(await said({ target: 'cost' }), [
    `The settings saved for this dataset do not fit it. There is no column "cost". ${end}`,
    'It leaks.',
  ]);
  assert.deepEqual(await said({ future: 1 }), [
    `The settings saved for this dataset cannot be read: another version of Trainyard may have made them. ${end}`,
    'It leaks.',
  ]);
});

test('a field added to a table is in types, defaults, requests, flags and help', () => {
  const spec: SettingsOf<typeof wider> = values.defaultsOf(wider, table);
  assert.equal(spec.optimizer.lookahead, 5);
  // @ts-expect-error: one of its settings is missing.
  const without: SettingsOf<typeof wider> = values.defaultsOf(trainingFields, table);
  const wrong = (schema: ReturnType<typeof schemaOf>, value: unknown): string =>
    schema
      .safeParse(value)
      .error!.issues.map(({ path }) => path.join('.'))
      .join();
  assert.equal(wrong(schemaOf(wider), without), 'optimizer.lookahead');
  assert.equal(wrong(schemaOf(wider), values.withValue(spec, 'optimizer.lookahead', 51)), 'optimizer.lookahead');
  assert.deepEqual(schemaOf(wider).parse(spec), spec);

  const command = commandWith(flagsOf(wider));
  assert.match(helpOf(command), /--lookahead N +steps that the weights look ahead \(0 to 50\)/);
  const { options } = parseCommand(command, ['--lookahead', '7', '--patience', '0']);
  assert.deepEqual(chosenByFlags(wider, options), { 'earlyStopping.enabled': false, 'optimizer.lookahead': 7 });
  assert.throws(() => chosenByFlags(wider, { lookahead: '7.5' }), {
    hint: 'It has to be a whole number from 0 to 50.',
  });
});

test('a field added to a table is in forms and comparisons, where it has an effect', () => {
  const sgd = values.withValue(values.defaultsOf(wider, table), 'optimizer.name', 'sgd');
  const labels = (settings: object): readonly string[] =>
    values.shownFields(wider, settings, table).map(([, { label }]) => label);
  assert.ok(labels(sgd).includes('Lookahead'));
  assert.ok(!labels(values.defaultsOf(wider, table)).includes('Lookahead'));
  const fact = values.settingFacts(wider, sgd, (value) => value.toFixed(1)).find(({ label }) => label === 'Lookahead');
  assert.deepEqual(fact, { label: 'Lookahead', value: '5.0', quiet: false });
});

test('forms show what means something for the data, comparisons say what has an effect', () => {
  const usual = values.defaultsOf(trainingFields, table);
  const numbers = { ...table, task: 'regression' } as const;
  const shown = (about: TrainedOn): readonly string[] =>
    values.shownFields(trainingFields, usual, about).map(([name]) => name);
  assert.deepEqual(
    shown(table).filter((name) => !shown(numbers).includes(name)),
    ['classWeights', 'labelSmoothing'],
  );
  const losses = (about: TrainedOn): readonly string[] =>
    values.choicesOf(trainingFields.loss, about).map(({ value }) => value);
  assert.deepEqual(losses(table), ['auto', 'cross_entropy']);
  assert.deepEqual(losses({ ...table, classes: 2 }), ['auto', 'cross_entropy', 'binary_cross_entropy']);
  assert.deepEqual(losses(numbers), ['auto', 'mse', 'mae', 'huber']);
  const said = (settings: object): Readonly<Record<string, string>> =>
    Object.fromEntries(
      values
        .settingFacts(trainingFields, settings, String)
        .flatMap(({ label, value, quiet }) => (quiet ? [] : [[label, value]])),
    );
  assert.equal(said(usual)['Stop early'], 'When validation stalls');
  assert.equal(said(usual)['Epochs without gain'], '20');
  const never = values.withValue(usual, 'earlyStopping.enabled', false);
  assert.equal(said(never)['Stop early'], 'Never');
  assert.equal(said(never)['Epochs without gain'], undefined);
  assert.equal(said({ ...usual, clipNorm: 0.5 })['Clip gradients at'], '0.5');
  assert.equal(said(usual)['Clip gradients at'], undefined);
  assert.deepEqual(
    values
      .settingFacts(linearFields, values.defaultsOf(linearFields, table), String)
      .map(({ value, quiet }) => [value, quiet]),
    [
      ['the best found', false],
      ['None', true],
    ],
  );
});

test('a default or condition that the fields cannot have does not compile', () => {
  fieldsFor<TrainedOn>()({
    // @ts-expect-error: there is no such choice.
    one: { kind: 'choice', label: '', help: '', choices: { a: 'A' }, default: 'b' },
  });
  fieldsFor<TrainedOn>()({
    one: { kind: 'choice', label: '', help: '', choices: { a: 'A' }, default: 'a' },
    // @ts-expect-error: a condition that can never hold.
    two: { kind: 'switch', label: '', help: '', when: { one: ['b'] }, default: true },
  });
  fieldsFor<TrainedOn>()({
    // @ts-expect-error: a condition on nothing.
    two: { kind: 'switch', label: '', help: '', when: { three: [true] }, default: true },
  });
});

test('settings left out are found out: they are missing in types, requests and what flags make', () => {
  const schema = schemaOf(readingFields);
  assert.deepEqual(schema.parse({}), {});
  assert.deepEqual(schema.parse({ image: { size: 256 } }), { image: { size: 256 } });
  assert.equal(schema.safeParse({ image: { size: 257 } }).success, false);
  assert.equal(schema.safeParse({ images: {} }).success, false);
  const options = { delimiter: '\\t', 'no-header': true, 'skip-bad-lines': true, 'image-size': '32' };
  assert.deepEqual(values.withChosen({}, chosenByFlags(readingFields, options)), {
    delimiter: '\t',
    header: false,
    skipBadLines: true,
    image: { size: 32 },
  });
});

test('pictures are asked for in the largest size that they are shown in, whatever size they are learned in', () => {
  const asks = (size: number): boolean => requests.pictures.safeParse({ dataset: 'd', size }).success;
  assert.deepEqual([asks(largestShown), asks(largestShown + 1)], [true, false]);
});

test('a choice has to mean something for the data', () => {
  checkChoicesFit(trainingFields, { loss: 'cross_entropy' }, table);
  assert.throws(() => checkChoicesFit(trainingFields, { loss: 'binary_cross_entropy' }, table), {
    code: 'usage.option',
  });
  checkChoicesFit(trainingFields, { loss: 'binary_cross_entropy' }, { ...table, classes: 2 });
  assert.throws(() => checkChoicesFit(trainingFields, { loss: 'mse' }, table), {
    hint: /one of auto, cross_entropy\.$/,
  });
});

test('the tables hold together: defaults fit their limits, flags are said once', () => {
  const tables: Readonly<Record<string, FieldTable<TrainedOn>>> = { trainingFields, augmentationFields };
  const pictures = { channels: 3, height: 224, width: 200 };
  const abouts = [1, 500, 5000, 50_000, 5e6].flatMap((rows) =>
    (['classification', 'regression'] as const).flatMap((task) =>
      [null, pictures].map((shown) => ({ ...table, rows, task, pictures: shown })),
    ),
  );
  for (const [group, fields] of Object.entries(tables)) {
    for (const about of abouts) {
      const usual = values.defaultsOf(fields, about);
      for (const [name, field] of values.fieldsOf(fields)) {
        assert.equal(values.expectedInstead(field, values.valueAt(usual, name)), undefined, `${group}.${name}`);
      }
    }
  }
  const flags = [trainingFields, readingFields, runFields].flatMap((fields) => Object.keys(flagsOf(fields)));
  assert.equal(new Set(flags).size, flags.length);
});

/**
 * Settings whose default depends on the data. All were there when the first run was recorded, so every run says what they are;
 * one that comes later needs a constant that does what was done before it, or old runs would lack it.
 */
const chosenByData: readonly string[] = [
  ...['optimizer.name', 'optimizer.learningRate', 'schedule.name', 'batch', 'epochs', 'earlyStopping.enabled'],
  ...['labelSmoothing', 'optimizer.weightDecay', 'optimizer.momentum', 'optimizer.nesterov'],
  ...['augmentation.flip', 'augmentation.crop', 'augmentation.cutout'],
];

const learnerTables = declarations.flatMap(({ name, fields, free }) => [
  { of: name, prefix: '', table: fields },
  ...Object.entries(free).map(([group, { table: own }]) => ({ of: name, prefix: `${group}.`, table: own })),
]);

test('a setting has a constant default, or says what it was, for the runs recorded before it was there', () => {
  const byData = learnerTables.flatMap(({ prefix, table: fields }) =>
    values
      .fieldsOf(fields)
      .flatMap(([name, field]) =>
        typeof field.default === 'function' && field.before === undefined ? [prefix + name] : [],
      ),
  );
  assert.deepEqual(byData.toSorted(), chosenByData.toSorted());
});

/** The settings with those that `name` depends on set so that it matters. */
function withConditions(fields: FieldTable<TrainedOn>, settings: object, name: string): object {
  const field = ownValue(fields, name)!;
  const conditions = Object.entries(field.when ?? {}).map(([other, those]) => [other, those[0]] as const);
  if (field.kind === 'number' && field.switchedBy !== undefined) conditions.push([field.switchedBy, true]);
  return conditions.reduce(
    (whole, [other, value]) => values.withValue(withConditions(fields, whole, other), other, value),
    settings,
  );
}

for (const { of, prefix, table: fields } of learnerTables) {
  for (const [name, field] of values.fieldsOf(fields)) {
    test(`${of}: ${prefix}${name} is in help, form and comparisons`, () => {
      const colours = { ...table, pictures: { channels: 3, height: 32, width: 32 } };
      const abouts = [table, { ...table, task: 'regression' }, { ...table, texts: true }, colours] as const;
      const listed = abouts.flatMap((about) => {
        const settings = withConditions(fields, values.defaultsOf(fields, about), name);
        const shown = values.shownFields(fields, settings, about).map(([other]) => other);
        return shown.includes(name) ? [values.settingFacts(fields, settings, String)] : [];
      });
      assert.ok(listed.length > 0, 'no form shows it');
      for (const facts of listed) assert.ok(facts.some(({ label }) => label === field.label));
      // Groups of settings have one flag together.
      if (prefix !== '') return;
      for (const flag of Object.keys(flagsOf({ [name]: field }))) {
        assert.match(helpOf(train), new RegExp(`--${flag}(?![\\w-])`));
      }
    });
  }
}

test('settings written before some were there get those as they were then', () => {
  const { clipNorm, ...stored } = usualTraining(table);
  const { nesterov, epsilon, ...optimizer } = stored.optimizer;
  assert.deepEqual([clipNorm, nesterov, epsilon], [0, false, 1e-8]);
  const whole = completeTraining({ ...stored, epochs: 7, optimizer } as unknown as TrainingSpec);
  assert.equal(whole.clipNorm, 0);
  assert.equal(whole.epochs, 7);
  assert.equal(whole.optimizer.epsilon, 1e-8);
  // What depends on the data is not guessed.
  assert.equal(whole.optimizer.nesterov, undefined);
  assert.equal(storedSchemaOf(trainingFields).safeParse({ ...stored, more: 1 }).success, true);
  assert.equal(storedSchemaOf(trainingFields).safeParse({ ...stored, loss: 'guess' }).success, false);
});

test('a column may be called anything: no word is lost or taken for something else', () => {
  const types = Object.fromEntries([
    ['__proto__', 'text'],
    ['constructor', 'number'],
  ]);
  const schema = requests.describe;
  const accepted = schema.parse({ dataset: 'd', settings: { types, labels: { ['__proto__']: 'cat' } } });
  assert.deepEqual(Object.entries(accepted.settings.types!), Object.entries(types));
  assert.deepEqual(Object.entries(accepted.settings.labels!), [['__proto__', 'cat']]);
  assert.equal(Object.getPrototypeOf(accepted.settings.types), Object.prototype);
  const refused = schema.safeParse({ dataset: 'd', settings: { types: { ['__proto__']: 'guess' } } });
  assert.deepEqual(refused.error!.issues[0].path, ['settings', 'types', '__proto__']);
  for (const wrong of [null, 3, 'text', ['text']]) assert.equal(wordsTo(schema).safeParse(wrong).success, false);
});
