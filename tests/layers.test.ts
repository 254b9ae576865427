// Who may import whom: the layers of docs/architecture.md as one table. A failure names the file, the import and what to do.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '..');

interface Rule {
  /** Files this rule is for: the first rule whose prefix fits counts. `*` stands for the name of a folder. */
  readonly files: string;
  /** Prefixes they may import from, besides their own. */
  readonly may: readonly string[];
  /** Packages they may import; `node:` stands for all of Node. */
  readonly packages?: readonly string[];
  /** What to do instead. */
  readonly instead: string;
}

const assemblyScript = /^(kernels\/(shared|assembly)\/|kernels\/[^/]+\/cpu\.ts$|engine\/backends\/cpu\/assembly\/)/;

const protocol = 'engine/protocol/';
const settings = 'engine/settings/';
const pure =
  'It has to run anywhere: take what you need (clock, files, ports) as an argument and let a host or a backend provide it.';
const electronPort = 'Talk to it through a service of engine/protocol and rpc.';

/** What learners say of themselves. */
const declared = ['engine/learners/declared/', 'engine/learners/*/declaration.ts'];

/** What the parts of the window may import, each what those before it stand on as well. */
const forLib = [protocol, 'engine/model/', 'engine/search/', ...declared, settings];
const forApp = [...forLib, 'renderer/lib/'];
const forComponents = [...forApp, 'renderer/app/'];
const forViews = [...forComponents, 'renderer/components/'];
const ofComponents = 'A view is made of components; what two views share belongs to them or to renderer/lib.';

const rules: readonly Rule[] = [
  {
    files: 'kernels/',
    may: [],
    instead: 'A kernel knows nothing of graphs, models or devices: pass values as parameters.',
  },
  {
    files: 'engine/settings/schema.ts',
    may: ['engine/settings/'],
    packages: ['zod'],
    instead: 'Checks are made from the tables of settings; a table itself needs none.',
  },
  {
    files: 'engine/settings/',
    may: [],
    instead: 'A table of settings is plain data that everything may import: it imports nothing but other tables.',
  },
  { files: 'engine/graph/', may: ['kernels/', 'engine/plan/'], instead: pure },
  { files: 'engine/text/', may: [protocol], packages: ['zod'], instead: pure },
  {
    files: 'engine/model/',
    may: ['kernels/', 'engine/graph/', protocol, 'engine/optim/', settings],
    instead: pure,
  },
  { files: 'engine/optim/', may: ['kernels/', 'engine/graph/', 'engine/model/', protocol], instead: pure },
  {
    files: 'engine/plan/',
    may: ['kernels/', 'engine/graph/', 'engine/model/', 'engine/optim/', protocol],
    instead: pure,
  },
  {
    files: 'engine/protocol/port.',
    may: [],
    packages: ['node:'],
    instead: 'A port adapter wraps one kind of message port and nothing else.',
  },
  { files: protocol, may: ['engine/model/', 'engine/data/schema.ts', settings], packages: ['zod'], instead: pure },
  {
    files: 'engine/backends/cpu/',
    may: ['kernels/', 'engine/plan/', 'engine/backends/', 'engine/system/cores.ts', protocol],
    packages: ['node:'],
    instead: 'A backend executes plans: what it needs to know belongs into the plan.',
  },
  {
    files: 'engine/backends/webgpu/node.',
    may: ['engine/backends/', protocol],
    packages: ['node:', 'webgpu'],
    instead: 'Only these files look for the GPU under Node; the rest of the backend runs in a window too.',
  },
  {
    files: 'engine/backends/',
    may: ['kernels/', 'engine/plan/', protocol],
    packages: ['webgpu'],
    instead: 'A backend executes plans: what it needs to know belongs into the plan.',
  },
  {
    files: 'engine/train/',
    may: [
      'kernels/',
      'engine/graph/',
      'engine/model/',
      'engine/optim/',
      'engine/plan/',
      'engine/backends/backend.ts',
      'engine/backends/host-arrays.ts',
      'engine/text/',
      protocol,
    ],
    instead: `Take a Backend and callbacks instead. ${pure}`,
  },
  ...declared.map((files) => ({
    files,
    may: [protocol, 'engine/model/', 'engine/search/', settings, ...declared],
    instead: 'What a learner says of itself is read by the window and the history too; what it does stands beside it.',
  })),
  {
    files: 'engine/learners/trees/model-schema.ts',
    may: [],
    packages: ['zod'],
    instead: 'What a model file holds is read where no learner works.',
  },
  {
    files: 'engine/learners/*/file.ts',
    may: [protocol, 'engine/model/', settings, ...declared, 'engine/learners/trees/model-schema.ts'],
    packages: ['zod'],
    instead: 'What a model file holds is read where no learner works.',
  },
  {
    files: 'engine/learners/auto/',
    may: [
      'engine/learners/',
      'engine/model/',
      'engine/optim/',
      'engine/train/',
      'engine/data/preprocess/joint-recipe.ts',
      'engine/data/preprocess/modelled-rows.ts',
      protocol,
      settings,
    ],
    instead: `It alone makes of rows what each of several models learns from. ${pure}`,
  },
  {
    files: 'engine/learners/',
    may: [
      'engine/search/',
      'kernels/',
      'engine/model/',
      'engine/optim/',
      'engine/train/',
      'engine/doctor/',
      'engine/plan/plan.ts',
      'engine/backends/backend.ts',
      'engine/backends/host-arrays.ts',
      protocol,
      settings,
    ],
    instead: `A learner takes its rows and its device as arguments. ${pure}`,
  },
  {
    files: 'engine/doctor/',
    may: [
      'engine/graph/',
      'engine/model/',
      'engine/optim/',
      'engine/plan/',
      'engine/train/',
      ...declared,
      'engine/backends/backend.ts',
      protocol,
      settings,
    ],
    instead: `A check takes rows, settings and a device as arguments; what a learner lets be examined it says itself. ${pure}`,
  },
  {
    files: 'engine/export/returned/find.node.ts',
    may: ['engine/export/returned/', protocol],
    packages: ['node:'],
    instead: 'It alone looks at files that come back; what is in them is read from values.',
  },
  {
    files: 'engine/export/',
    may: [
      'kernels/',
      'engine/graph/',
      'engine/model/',
      'engine/optim/',
      'engine/plan/',
      'engine/train/',
      'engine/learners/',
      'engine/hardware/',
      'engine/data/preprocess/recipe.ts',
      'engine/data/images/recipe.ts',
      'engine/data/schema/stored.ts',
      'engine/data/schema/numbers.ts',
      'engine/data/schema/spelling.ts',
      'engine/text/',
      protocol,
      settings,
    ],
    packages: ['onnx-proto'],
    instead: `An export is made of what a run keeps, handed over as values. ${pure}`,
  },
  {
    files: 'engine/pretrained/paths.node.ts',
    may: ['engine/protocol/returned.ts'],
    packages: ['node:'],
    instead: 'It tells a model by names alone: what reads files is find.node.ts.',
  },
  {
    files: 'engine/pretrained/find.node.ts',
    may: ['engine/pretrained/', protocol],
    packages: ['node:'],
    instead: 'It alone looks at files; what is in them is read by the others, from ranges of bytes.',
  },
  {
    files: 'engine/pretrained/run.node.ts',
    may: ['engine/pretrained/', protocol],
    packages: ['node:'],
    instead: 'It joins the others and hashes what they have read.',
  },
  {
    files: 'engine/pretrained/',
    may: ['kernels/half.ts', 'engine/graph/', 'engine/model/', 'engine/train/', 'engine/text/', protocol],
    packages: ['zod'],
    instead: `A foreign model is read from ranges of bytes and texts that are handed over. ${pure}`,
  },
  {
    files: 'engine/search/',
    may: ['engine/optim/random.ts', protocol, settings],
    instead: `Where a search looks follows from numbers alone; what trains is a learner's work. ${pure}`,
  },
  {
    files: 'engine/evaluation/',
    may: ['engine/optim/random.ts', 'engine/model/', protocol],
    instead: `Every figure is a function of the prediction table: what makes the table is a learner's work. ${pure}`,
  },
  {
    files: 'engine/serving/',
    may: [
      'engine/text/',
      'engine/train/generate.ts',
      'engine/data/preprocess/',
      'engine/learners/',
      'engine/backends/backend.ts',
      'engine/model/',
      protocol,
    ],
    packages: ['node:', 'zod'],
    instead:
      'A served model takes the files of a run and a device as arguments; it knows neither the store nor who asks.',
  },
  {
    files: 'engine/explanation/rows.ts',
    may: [
      'engine/explanation/',
      'engine/learners/',
      'engine/train/scores.ts',
      'engine/data/preprocess/modelled-rows.ts',
      'engine/data/preprocess/recipe.ts',
      'engine/data/preprocess/text-codes.ts',
      'engine/model/',
      protocol,
    ],
    instead: `It alone joins a trained model to what explains it. ${pure}`,
  },
  {
    files: 'engine/explanation/',
    may: ['engine/evaluation/', 'engine/optim/random.ts', 'engine/model/', ...declared, protocol, settings],
    instead: `Every explanation is made by asking: what is asked comes as an argument. ${pure}`,
  },
  {
    files: 'engine/hardware/',
    may: [
      'kernels/',
      'engine/graph/',
      'engine/model/',
      'engine/optim/',
      'engine/plan/',
      'engine/train/session-sizes.ts',
      'engine/backends/cpu/arena.ts',
      'engine/backends/cpu/threads.ts',
      'engine/backends/webgpu/sizes.ts',
      protocol,
      settings,
    ],
    packages: ['zod'],
    instead: `Facts, formulas and forecasts alone: what is measured comes as an argument. ${pure}`,
  },
  {
    files: 'engine/system/',
    may: [],
    packages: ['node:'],
    instead: 'What the operating system knows, and nothing of ours.',
  },
  {
    files: 'engine/data/',
    may: [
      'engine/system/',
      protocol,
      'engine/model/',
      'engine/optim/',
      'engine/text/',
      'engine/backends/cpu/native.ts',
      settings,
    ],
    packages: ['node:', 'zod', '@duckdb/node-api', 'apache-arrow', '@napi-rs/image', 'image-size', 'yauzl'],
    instead: 'Data knows formats and rows; models and runs come to it through DataService.',
  },
  {
    files: 'engine/history/',
    may: ['engine/system/', protocol, 'engine/model/', ...declared, settings],
    packages: ['node:', 'zod', 'better-sqlite3'],
    instead: 'The history stores what services hand it.',
  },
  {
    files: 'engine/runs/',
    may: [
      'engine/system/',
      protocol,
      'engine/model/',
      'engine/learners/',
      'engine/train/',
      'engine/hardware/memory-forecast.ts',
      'engine/hardware/run-here.ts',
      'engine/hardware/tables/',
    ],
    packages: ['node:', 'zod'],
    instead: 'The run manager reaches stores, data and hosts through their services.',
  },
  {
    files: 'engine/bench/',
    may: ['engine/', 'kernels/'],
    packages: ['node:'],
    instead: 'Benchmarks measure the engine from outside.',
  },
  {
    files: 'engine/lab/',
    may: ['kernels/', 'engine/bench/', 'engine/plan/', 'engine/backends/backend.ts', protocol],
    packages: ['zod'],
    instead: `The lab takes the devices it measures as arguments. ${pure}`,
  },
  {
    files: 'renderer/gpu/',
    may: [
      'engine/bench/profiler.ts',
      'engine/lab/',
      'engine/serving/',
      'engine/learners/',
      'engine/train/',
      'engine/backends/',
      'engine/model/',
      'engine/plan/',
      protocol,
      'kernels/',
    ],
    instead: 'The GPU page trains and nothing else.',
  },
  {
    files: 'renderer/lib/',
    may: forLib,
    packages: ['svelte'],
    instead:
      'Words, numbers and names alone: what draws is a component, what a person changes is state of renderer/app.',
  },
  {
    files: 'renderer/app/',
    may: forApp,
    packages: ['svelte'],
    instead: 'The state of the window knows neither what draws it nor the views.',
  },
  {
    files: 'renderer/components/hardware/',
    may: [...forViews, 'engine/hardware/', 'engine/bench/calibrated.ts'],
    packages: ['svelte', 'zod'],
    instead: 'Figures come from the formulas and forecasts of engine/hardware/: a component shows them.',
  },
  {
    files: 'renderer/components/',
    may: forComponents,
    packages: ['svelte', 'chart.js', 'chartjs-plugin-zoom'],
    instead: 'A component serves every view and knows none.',
  },
  {
    files: 'renderer/views/run/',
    may: [...forViews, 'renderer/views/runs/', 'engine/evaluation/', 'engine/explanation/'],
    packages: ['svelte'],
    instead: ofComponents,
  },
  {
    files: 'renderer/views/dataset/',
    may: [...forViews, 'engine/text/'],
    packages: ['svelte'],
    instead: ofComponents,
  },
  {
    files: 'renderer/views/compare/',
    may: [...forViews, 'renderer/views/run/', 'engine/evaluation/'],
    packages: ['svelte'],
    instead: ofComponents,
  },
  {
    files: 'renderer/views/hardware/',
    may: [
      ...forViews,
      'engine/hardware/',
      'engine/lab/conditions.ts',
      'engine/lab/machine.ts',
      'engine/bench/calibrated.ts',
    ],
    packages: ['svelte', 'zod'],
    instead: 'Figures come from the formulas and forecasts of engine/hardware/: a view shows them.',
  },
  {
    files: 'renderer/views/',
    may: forViews,
    packages: ['svelte'],
    instead: ofComponents,
  },
  {
    files: 'renderer/',
    may: forLib,
    packages: ['svelte', 'chart.js', 'chartjs-adapter', 'virtua', '@fontsource', 'zod'],
    instead: `The window shows; ask the main process through AppService. ${electronPort}`,
  },
  {
    files: 'electron/preload/',
    may: [protocol],
    packages: ['electron'],
    instead: 'The preload hands over ports; everything else belongs to the main process.',
  },
  {
    files: 'electron/main/',
    may: [
      protocol,
      settings,
      ...declared,
      'engine/runs/',
      'engine/lab/',
      'engine/model/',
      'engine/history/home.ts',
      'engine/history/measuring.ts',
      'engine/pretrained/paths.node.ts',
      'engine/history/owner.ts',
      'engine/hardware/catalogue/',
      'engine/backends/webgpu/node.driver.ts',
      'engine/system/',
    ],
    packages: ['node:', 'electron', 'zod'],
    instead: `The main process orchestrates: no tensors, SQL or parsing. ${electronPort}`,
  },
  {
    files: 'electron/hosts/',
    may: ['engine/', 'kernels/', 'package.json'],
    packages: ['node:', 'electron', 'zod', 'webgpu', 'onnxruntime-web'],
    instead:
      'A host puts engine parts together and serves them; a part it shares with the command line belongs into engine/.',
  },
  {
    files: 'electron/cli/',
    may: ['engine/', 'kernels/', 'electron/hosts/', 'package.json'],
    packages: ['node:', 'zod', 'webgpu'],
    instead: 'The command line knows no Electron; a part it shares with the app belongs into engine/.',
  },
];

for (const rule of rules) {
  test(`${rule.files} imports only what its layer may`, () => {
    const wrong = sources()
      .filter((file) => ruleFor(file) === rule)
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => !allowed(rule, target))
          .map((target) => ({ file, target })),
      );
    const text = wrong.map(({ file, target }) => `${file} imports ${target}.`).join('\n');
    assert.equal(
      wrong.length,
      0,
      `${text}\n${rule.files} may import ${rule.may.join(', ') || 'nothing'}. ${rule.instead}`,
    );
  });
}

test('every source file belongs to a layer, and nothing imports tests', () => {
  for (const file of sources()) {
    assert.ok(ruleFor(file), `${file} belongs to no layer: put it into one of the folders of docs/architecture.md.`);
    const test = importsOf(file).find((target) => target.startsWith('tests/'));
    assert.equal(test, undefined, `${file} imports ${test}: move what it needs out of tests/.`);
  }
});

test('no file imports itself by way of others', () => {
  const imports = new Map(sources().map((file) => [file, importsOf(file).filter((target) => !target.startsWith('#'))]));
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (file: string): void => {
    if (way.includes(file)) assert.fail(`${[...way.slice(way.indexOf(file)), file].join(' → ')}: move what both need.`);
    if (done.has(file)) return;
    way.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    way.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
});

function ruleFor(file: string): Rule | undefined {
  return rules.find((rule) => begins(file, rule.files));
}

/** Whether a path begins with a prefix, in which `*` stands for the name of a folder. */
function begins(file: string, prefix: string): boolean {
  const [start, end] = prefix.split('*');
  if (end === undefined) return file.startsWith(prefix);
  return (
    file.startsWith(start) &&
    file
      .slice(start.length)
      .replace(/^[^/]+/, '')
      .startsWith(end)
  );
}

function allowed(rule: Rule, target: string): boolean {
  const inside = target.startsWith('#')
    ? (rule.packages ?? []).some((name) => target.slice(1).startsWith(name))
    : begins(target, rule.files) || rule.may.some((prefix) => begins(target, prefix));
  // The port adapters share the Port type.
  return inside || (rule.files.endsWith('port.') && target.startsWith(protocol));
}

function sources(): string[] {
  const folders = ['kernels', 'engine', 'electron', 'renderer'];
  return folders
    .flatMap((folder) =>
      fs.readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((f) => `${folder}/${f}`),
    )
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.(ts|svelte)$/.test(file) && !assemblyScript.test(file));
}

/** What a file imports: paths from the root, packages with a `#` before them. */
function importsOf(file: string): string[] {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const script = file.endsWith('.svelte')
    ? [...text.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map((m) => m[1]).join('\n')
    : text;
  return ts.preProcessFile(script, true, true).importedFiles.map(({ fileName }) => {
    const relative = fileName.startsWith('.');
    return relative ? path.posix.normalize(path.posix.join(path.posix.dirname(file), fileName)) : `#${fileName}`;
  });
}
