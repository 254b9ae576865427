// The Help pages: each view and each tab has its own, every link leads somewhere, every command and setting that is named exists, and what
// is sought is found.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { metricWord } from '../../renderer/lib/series.ts';
import { viewNames } from '../../renderer/lib/views.ts';
import { blocksOf, inlineOf, sectionId, type Block, type Inline } from '../../renderer/views/help/markdown.ts';
import { helpAddress, helpOrder, nearestSearch, readPages, searchPages } from '../../renderer/views/help/pages.ts';
import { settingGroups, settingLabel } from '../../renderer/views/help/setting-words.ts';

const renderer = path.resolve(import.meta.dirname, '../../renderer');
const folder = path.join(renderer, 'views/help/pages');
const source = (file: string): string => fs.readFileSync(path.join(renderer, file), 'utf8');
const texts = Object.fromEntries(
  fs.readdirSync(folder).map((file) => [path.basename(file, '.md'), source(`views/help/pages/${file}`)]),
);
const pages = readPages(texts);
const known: ReadonlySet<string> = new Set(pages.map(({ id }) => id));

/** Headings of a page, as addresses name them. */
const sectionsOf = (id: string): ReadonlySet<string> =>
  new Set(
    pages.find((page) => page.id === id)?.blocks.flatMap((block) => (block.kind === 'heading' ? [block.id] : [])) ?? [],
  );
/** Ids and labels of tabs: their files load components, which Node cannot. */
const tabsOf = (file: string): readonly { readonly id: string; readonly label: string }[] =>
  [...source(file).matchAll(/\{ id: '(\w*)', label: '([^']+)'/g)].map(([, id, label]) => ({ id, label }));
/** Commands that there are in every view: those of another one are not there while Help is open, and nothing would stand in their place. */
const commandIds: ReadonlySet<string> = new Set(
  ['shell/app-commands.ts', 'app/run-commands.ts'].flatMap((file) =>
    [...source(file).matchAll(/\bid: '([\w-]+)'|^ {2}'([\w-]+)': \{ title/gm)].map(([, id, named]) => id ?? named),
  ),
);

const inlinesOf = (block: Block): readonly Inline[] => {
  if (block.kind === 'paragraph') return block.content;
  return block.kind === 'list' ? block.items.flat() : [];
};
const inlines = pages.flatMap(({ id, blocks }) => blocks.flatMap(inlinesOf).map((part) => ({ id, part })));

test('every view has a page, and every page a place in the list', () => {
  const missing = viewNames.filter((view) => view !== 'help' && !known.has(view));
  assert.deepEqual(missing, [], 'views without a page of Help: write renderer/views/help/pages/VIEW.md');
  assert.deepEqual(Object.keys(texts).sort(), [...helpOrder].sort());
  assert.ok(known.has(helpAddress('help').split('/')[1]));
});

test('every tab of a run and of Hardware has a section', () => {
  for (const view of ['run', 'hardware']) {
    const tabs = tabsOf(`views/${view}/tabs.ts`);
    assert.ok(tabs.length >= 8);
    const missing = tabs.filter(({ label }) => !sectionsOf(view).has(sectionId(label)));
    assert.deepEqual(missing, [], `sections missing in ${view}.md`);
  }
});

test('every link leads to a page, a section or a view', () => {
  const tabs: ReadonlySet<string> = new Set(tabsOf('views/hardware/tabs.ts').map(({ id }) => id));
  const leadsSomewhere = (address: string): boolean => {
    const [view, first, second] = address.slice(1).split('/');
    if (view === 'help') return known.has(first) && (second === undefined || sectionsOf(first).has(second));
    if (view === 'hardware' && first !== undefined) return tabs.has(first);
    return (viewNames as readonly string[]).includes(view) && first === undefined;
  };
  const links = inlines.flatMap(({ id, part }) => (part.kind === 'link' ? [`${id}: ${part.address}`] : []));
  assert.ok(links.length > 10);
  assert.deepEqual(
    links.filter((link) => !leadsSomewhere(link.split(': ')[1])),
    [],
  );
});

test('a sketch of a view has parts that stand in it under these titles', () => {
  const places = { new: '{views/new-run,components/hardware}' } as Readonly<Record<string, string>>;
  const curves = ['loss', 'accuracy'].map(metricWord);
  const sketches = pages.flatMap(({ id, blocks }) =>
    blocks.flatMap((block) => (block.kind === 'sketch' ? block.rows.flat().map(({ parts }) => ({ id, parts })) : [])),
  );
  assert.ok(sketches.length > 15);
  const wrong = sketches.flatMap(({ id, parts }) => {
    const place = places[id] ?? `views/${id}`;
    const all = fs.globSync(`${place}/**/*.{svelte,ts}`, { cwd: renderer }).map(source).join('\n');
    const standsThere = (part: string): boolean =>
      new RegExp(`(?:[>'"}]\\s*|\\} )${part}[<'"\`\\n]`).test(all) ||
      curves.includes(part.replace('Validation ', '').toLowerCase());
    return parts.filter((part) => !standsThere(part)).map((part) => `${id}: ${part}`);
  });
  assert.deepEqual(wrong, []);
});

test('every setting, table of settings and command that is named exists', () => {
  const wrong = inlines.flatMap(({ id, part }) => {
    if (part.kind === 'setting') return settingLabel(part.name) === undefined ? [`${id}: ${part.name}`] : [];
    if (part.kind !== 'keys' && part.kind !== 'command') return [];
    return commandIds.has(part.name) ? [] : [`${id}: ${part.name}`];
  });
  assert.deepEqual(wrong, []);
  for (const { id, blocks } of pages)
    for (const block of blocks)
      if (block.kind === 'settings') assert.ok((settingGroups(block.table) ?? []).length > 0, `${id}: ${block.table}`);
  assert.equal(settingLabel('training.epoch'), undefined);
});

test('what a page says of a setting is what its table says', () => {
  const [training] = settingGroups('training') ?? [];
  const batch = training.settings.find(({ label }) => label === 'Batch size');
  assert.match(batch?.limits ?? '', /1 to 1,000,000/);
  assert.ok((settingGroups('learners') ?? []).some(({ title }) => /trees/i.test(title ?? '')));
});

test('a page that is no Markdown of these pages is refused, and words that look like HTML stay words', () => {
  assert.throws(() => blocksOf('Press {key help}.'), /“Press {key help}\.”/);
  assert.throws(() => inlineOf('[a page](https://example.org)'), /no Markdown/);
  assert.deepEqual(inlineOf('a <b>b</b> **c** `d`'), [
    { kind: 'text', text: 'a <b>b</b> ' },
    { kind: 'bold', text: 'c' },
    { kind: 'text', text: ' ' },
    { kind: 'code', text: 'd' },
  ]);
});

test('what is sought is found where all of its words stand, headings first', () => {
  assert.equal(searchPages(pages, 'test split')[0].address, '#help/dataset/split');
  assert.equal(searchPages(pages, 'STEP time')[0].address, '#help/run/step-time');
  const [momentum] = searchPages(pages, 'nesterov');
  assert.equal(momentum.address, '#help/training/network');
  assert.match(momentum.excerpt, /Nesterov/);
  assert.deepEqual(searchPages(pages, 'zyzzyva'), []);
  for (const words of ['delete dataset', 'undo']) assert.ok(searchPages(pages, words).length > 0, words);
  assert.deepEqual(searchPages(pages, '  '), []);
});

test('words with a slip are told as what was meant', () => {
  const meant = ['Nesterof', 'learnig rate', 'overftting', 'confusoin matrix', 'zyzzyva', 'äöü'].map((words) =>
    nearestSearch(pages, words),
  );
  assert.deepEqual(meant, ['nesterov', 'learning rate', 'overfitting', 'confusion matrix', null, null]);
});

test('marks part words; what was written together, or as a question, leads to what there is', () => {
  for (const words of ['early-stopping', 'GPU?', '--device']) assert.ok(searchPages(pages, words).length > 0, words);
  assert.equal(nearestSearch(pages, 'batchsize'), 'batch size');
  assert.equal(nearestSearch(pages, 'how do I get my predictions out?'), 'predictions');
  assert.equal(nearestSearch(pages, 'zyzzyva split'), 'split');
  assert.equal(nearestSearch(pages, '!!!'), null);
});
