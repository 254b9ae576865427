// The space of a search as New run edits it, and what the best of all says it trains.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ready } from '../../engine/learners/search/declaration.ts';
import { candidates } from '../../engine/learners/auto/plan.ts';
import { firstKinds, kindTitles } from '../../engine/learners/declared/first-kinds.ts';
import { searched } from '../../engine/search/ready.ts';
import { addable, askedOf, problemOf, spaceText, valuesText } from '../../renderer/views/new-run/search-space.ts';

const shape = {
  counts: { train: 1_000, validation: 100, test: 100 },
  output: { kind: 'classes', name: 'y', classes: ['a', 'b', 'c'] },
} as const;

test('the ready-made space of each learner stands there, is right, and goes by its name', () => {
  for (const of of searched) {
    const asked = askedOf({ of, space: ready });
    assert.ok(asked && Object.keys(asked).length > 0, of);
    assert.equal(problemOf({ of, space: ready }, shape), undefined, of);
    assert.equal(spaceText(of, asked), ready);
  }
});

test('an end that is changed is written out; one that cannot be is shown with what is wrong', () => {
  const asked = askedOf({ of: 'boosted', space: ready })!;
  const leaves = asked['leaves'] as { readonly kind: 'integer'; readonly low: number; readonly high: number };
  const space = spaceText('boosted', { ...asked, leaves: { ...leaves, high: 64 } });
  assert.equal((askedOf({ of: 'boosted', space })!['leaves'] as typeof leaves).high, 64);
  assert.equal(problemOf({ of: 'boosted', space }, shape), undefined);
  const turned = spaceText('boosted', { ...asked, leaves: { ...leaves, low: 100, high: 64 } });
  assert.ok(askedOf({ of: 'boosted', space: turned }), 'still to be mended in its place');
  assert.match(problemOf({ of: 'boosted', space: turned }, shape)!, /leaves/);
  // As where it is started: what means nothing for its kind is wrong too.
  const odd = JSON.stringify({ leaves: { ...leaves, values: [4, 8] } });
  assert.match(problemOf({ of: 'boosted', space: odd }, shape)!, /leaves has “values”/);
  for (const space of ['{', '[]', '3', 'null']) {
    assert.equal(askedOf({ of: 'boosted', space }), null, space);
    assert.ok(problemOf({ of: 'boosted', space }, shape), space);
  }
});

test('whatever can be added makes a space that can be used, or says what it needs beside it', () => {
  for (const of of searched) {
    const asked = askedOf({ of, space: ready })!;
    const more = addable(of, asked, shape);
    assert.ok(
      more.every(([name]) => !Object.hasOwn(asked, name)),
      of,
    );
    for (const [name, dimension] of more) {
      // Not up to its limit, where that is beyond anything usual.
      if (dimension.kind !== 'choice') assert.ok(dimension.high <= 1e4, `${of} ${name}`);
      const problem = problemOf({ of, space: spaceText(of, { ...asked, [name]: dimension }) }, shape);
      if (problem !== undefined) assert.match(problem, /has no effect, as/, `${of} ${name}`);
    }
  }
});

test('values are in the words of their fields', () => {
  const options = addable('boosted', {}, shape);
  const [, , field] = options.find(([, dimension]) => dimension.kind === 'choice') ?? [];
  assert.equal(valuesText([false, true], { kind: 'switch', label: 'x', help: 'x' }), 'no, yes');
  assert.equal(valuesText([16, 32], undefined), '16, 32');
  assert.equal(valuesText(3, undefined), '–', 'a space that a person writes may hold anything');
  if (field?.kind === 'choice') assert.ok(valuesText(Object.keys(field.choices), field).length > 0);
});

test('the best of all trains first what it says, with texts, without, and of texts alone', () => {
  const output = { kind: 'classes', classes: ['a', 'b', 'c'] } as const;
  const column = { name: 'x' } as never;
  for (const [columns, texts] of [
    [[column], []],
    [[column], [{ name: 't' }]],
    [[], [{ name: 't' }]],
  ] as const) {
    const input = { kind: 'columns', columns, ...(texts.length > 0 ? { texts } : {}) } as never;
    const data = { task: 'classification', output: output as never, input } as const;
    const common = { dataset: 'd', settings: {}, seed: 1, device: 'cpu', threads: 1 } as const;
    const all = [...candidates({ common, data, rows: 800 })].map(({ title }) => title);
    const first = firstKinds({ columns: columns.length, texts: texts.length }).map((kind) => kindTitles[kind]);
    assert.deepEqual(all.slice(0, first.length), first);
    assert.equal(first[0], 'Linear model');
    assert.equal(all.length > first.length, columns.length > 0);
  }
});
