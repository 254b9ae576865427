// Target and task, and the warnings a careful colleague would give.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { DatasetSettings } from '../../../engine/protocol/data.ts';
import { codes, columnOf, importFile, messy, samples, table, writeTable } from './helpers.ts';

const guesses = [
  ['iris.csv', 'species', 'classification'],
  ['wine.csv', 'cultivar', 'classification'],
  ['breast_cancer.csv', 'diagnosis', 'classification'],
  ['digits.csv', 'digit', 'classification'],
  ['diabetes.csv', 'progression', 'regression'],
] as const;

for (const [name, target, task] of guesses) {
  test(`${name}: ${task} of ${target}`, async (context) => {
    const { info } = await importFile(context, table(name));
    assert.deepEqual([info.target, info.task], [target, task]);
    assert.notEqual(info.targetReason, '');
  });
}

test('a usual name wins over the last column', async (context) => {
  const { info } = await importFile(context, `${samples}penguins.csv`);
  assert.equal(info.target, 'species');
  assert.equal(info.targetReason, '"species" is a usual name for what is predicted; 3 classes');
  assert.deepEqual(info.classes[0], { name: 'Adelie', count: 152 });
});

test('target and task can be set', async (context) => {
  const { service, info } = await importFile(context, `${samples}penguins.csv`);
  const mass = await service.describe({ dataset: info.id, settings: { target: 'body_mass_g' } });
  assert.deepEqual([mass.task, mass.classes.length], ['regression', 0]);
  const year = await service.describe({
    dataset: info.id,
    settings: { target: 'flipper_length_mm', task: 'classification' },
  });
  assert.equal(year.classes.length, 55);
  await assert.rejects(service.describe({ dataset: info.id, settings: { target: 'island', task: 'regression' } }), {
    code: 'input.target_type',
  });
});

test('columns that give the class away', async (context) => {
  const { info } = await importFile(context, messy('leaks.csv'));
  const leaks = info.warnings.filter(({ code }) => code === 'leak');
  assert.deepEqual(
    leaks.map(({ columns }) => columns?.[0]),
    ['code', 'twin', 'half'],
  );
  assert.match(leaks[1]?.message ?? '', /twin gives species away: each of its values stands for one class/);
  assert.match(leaks[2]?.message ?? '', /each of its values occurs with one class only/);
});

test('a number that is the target in another unit', async (context) => {
  const { info } = await importFile(context, messy('correlated.csv'));
  const leaks = info.warnings.filter(({ code }) => code === 'leak').flatMap(({ columns }) => columns ?? []);
  assert.deepEqual(leaks, ['feet']);
});

test('real tables have no leaks', async (context) => {
  for (const name of ['iris.csv', 'wine.csv', 'breast_cancer.csv', 'diabetes.csv']) {
    const { info } = await importFile(context, table(name));
    assert.ok(!codes(info.warnings).includes('leak'), name);
  }
});

test('rare classes and strong imbalance', async (context) => {
  const { info } = await importFile(context, messy('unbalanced.csv'));
  assert.match(
    info.warnings.find(({ code }) => code === 'rare_class')?.message ?? '',
    /fewer than 10 rows: rare \(3\)/,
  );
  assert.match(info.warnings.find(({ code }) => code === 'imbalance')?.message ?? '', /117 rows of common, 3 of rare/);
});

test('duplicate rows are counted and the first named', async (context) => {
  const { info } = await importFile(context, messy('duplicates.csv'));
  const warning = info.warnings.find(({ code }) => code === 'duplicates');
  assert.match(warning?.message ?? '', /^50 rows repeat earlier ones/);
  assert.deepEqual(warning?.rows?.slice(0, 3), [51, 52, 53]);
});

test('constant, empty, identifier and text columns', async (context) => {
  const rows = Array.from(
    { length: 30 },
    (_, index) => `${index + 1},same,,u${index},${index % 3},${index % 2 ? 'x' : 'y'}`,
  );
  const path = writeTable(context, 'dull.csv', `nr,unit,note,user,size,label\n${rows.join('\n')}\n`);
  const { info } = await importFile(context, path);
  const warned = info.warnings.map(({ code, columns }) => `${code} ${columns?.join() ?? ''}`);
  for (const expected of ['identifier nr', 'constant unit', 'constant note', 'identifier user']) {
    assert.ok(warned.includes(expected), `${expected} in ${warned.join('; ')}`);
  }
  assert.match(info.warnings.find(({ columns }) => columns?.[0] === 'note')?.message ?? '', /is empty/);
});

test('a split without rows that validate is warned about', async (context) => {
  const warned = async (split: readonly [number, number, number]): Promise<boolean> => {
    const { info } = await importFile(context, table('iris.csv'), {}, { split });
    return info.warnings.some(({ code, message }) => code === 'no_validation' && /No row validates/.test(message));
  };
  assert.deepEqual([await warned([0.9, 0, 0.1]), await warned([0.9, 0.1, 0])], [true, false]);
});

test('ignored columns are not warned about', async (context) => {
  const { service, info } = await importFile(context, messy('leaks.csv'));
  const described = await service.describe({ dataset: info.id, settings: { ignored: ['code', 'twin', 'half'] } });
  assert.ok(!codes(described.warnings).includes('leak'));
});

test('a target of numbers that are 0 and 1 keeps its spelling as classes', async (context) => {
  const rows = Array.from({ length: 40 }, (_, index) => `${index * 3},${index % 2}`);
  const { info } = await importFile(context, writeTable(context, 'binary.csv', `a,target\n${rows.join('\n')}\n`));
  assert.equal(columnOf(info, 'target').type, 'boolean');
  assert.deepEqual(info.classes.map(({ name }) => name).sort(), ['0', '1']);
});

test('a target that cannot be learned is the first warning, in the words of the refusal', async (context) => {
  for (const [name, code] of [
    ['bad-one-class.csv', 'one_class'],
    ['bad-target-missing.csv', 'target_missing'],
  ] as const) {
    const { service, info } = await importFile(context, messy(name));
    const described = await service.describe({ dataset: info.id, settings: { target: 'label' } });
    const [first] = described.warnings;
    assert.deepEqual([first?.code, first?.blocks, first?.columns], [code, true, ['label']]);
    const options = { settings: { target: 'label' }, seed: 0 };
    await assert.rejects(service.prepare({ job: name, dataset: info.id, options }), (error: Error) =>
      first!.message.startsWith(error.message),
    );
    const blocking = async (settings: DatasetSettings): Promise<readonly string[]> => {
      const { warnings } = await service.describe({ dataset: info.id, settings });
      return codes(warnings.filter(({ blocks }) => blocks));
    };
    assert.deepEqual(await blocking({ target: 'x' }), []);
    // The column that was the target is all that is left then, and says nothing.
    assert.deepEqual(await blocking({ target: 'x', ignored: ['z'] }), ['no_features']);
    const third = await importFile(context, messy('tabs.csv'));
    assert.ok(!third.info.warnings.some(({ blocks }) => blocks));
  }
});
