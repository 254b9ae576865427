// What each command is for, apart from what it does: `--help` tells of all of them and loads none.

import type { Command } from './command.ts';

type About = Pick<Command, 'name' | 'usage' | 'summary'>;

/** By name, in the order of the help. */
export const about = {
  train: {
    name: 'train',
    usage: '[PATH]',
    summary: 'Trains on a file and keeps the run; `--resume RUN` continues one.',
  },
  search: {
    name: 'search',
    usage: '[PATH]',
    summary: 'Tries many settings on a file and keeps the best as a model; `--resume ID` goes on with one.',
  },
  check: {
    name: 'check',
    usage: '[DATASET|FILE]',
    summary:
      'Checks in some ten seconds whether a run would learn, and says what to try; it takes the flags of `train`.',
  },
  continue: {
    name: 'continue',
    usage: 'RUN',
    summary: 'Goes on where a finished or stopped run was, for longer or with other settings, as a new run.',
  },
  inspect: {
    name: 'inspect',
    usage: 'PATH',
    summary: 'Reads a file and shows its columns, the target it suggests and what to look at.',
  },
  runs: {
    name: 'runs',
    usage: '[export RUN… FILE | import FILE]',
    summary: 'Lists past runs, newest first; carries runs to another machine and takes them up there.',
  },
  show: { name: 'show', usage: 'RUN', summary: 'Shows one run: settings, result, best epoch.' },
  compare: {
    name: 'compare',
    usage: 'RUN RUN…',
    summary: 'Puts runs side by side: settings that differ, and results.',
  },
  delete: {
    name: 'delete',
    usage: 'RUN…',
    summary: 'Moves runs to the trash; `--restore` brings them back, `--purge` removes them for good.',
  },
  pause: { name: 'pause', usage: 'RUN', summary: 'Pauses a run that trains in another process.' },
  resume: { name: 'resume', usage: 'RUN', summary: 'Lets a paused run go on.' },
  stop: {
    name: 'stop',
    usage: 'RUN',
    summary: 'Stops a run that trains in another process; it keeps its best weights.',
  },
  queue: {
    name: 'queue',
    usage: '[move RUN | pause | resume | clear | run]',
    summary: 'Shows what waits to be trained, changes its order, and works it off without the app.',
  },
  datasets: {
    name: 'datasets',
    usage: '[remove DATASET…]',
    summary: 'Lists the imported datasets; `datasets remove` frees their space.',
  },
  predict: { name: 'predict', usage: 'RUN [PATH]', summary: 'Predicts every row of a file with a finished run.' },
  'import-model': {
    name: 'import-model',
    usage: 'PATH',
    summary:
      'Makes a finished run of a model that others have trained (a safetensors file, a folder of Hugging Face), or of a training that comes back from a cluster.',
  },
  generate: {
    name: 'generate',
    usage: 'RUN',
    summary:
      'Writes text with a run that learned a language model: `--prompt TEXT`, `--tokens`, `--temperature`, `--top-p`.',
  },
  explain: {
    name: 'explain',
    usage: 'RUN [PATH]',
    summary:
      'Shows what a finished run goes by: which columns matter, how its answer moves with them, and why one row, or each row of a file, got its answer.',
  },
  evaluate: {
    name: 'evaluate',
    usage: 'RUN [PATH]',
    summary:
      'Shows how good a finished run is: on a split of its data (the validation split unless said otherwise, the test split where the run has none), or on another file.',
  },
  serve: {
    name: 'serve',
    usage: 'RUN',
    summary: 'Answers other programs of this machine with a finished run, over HTTP on 127.0.0.1 alone.',
  },
  export: {
    name: 'export',
    usage: 'RUN',
    summary: 'Writes a run for other tools: its model, its curves, or all of it.',
  },
  backup: {
    name: 'backup',
    usage: 'FILE',
    summary: 'Writes runs, their files, labs, settings and own prices to one file, while runs train.',
  },
  restore: {
    name: 'restore',
    usage: 'FILE',
    summary: 'Brings a home back from a backup; what was there is kept beside it.',
  },
  home: {
    name: 'home',
    usage: '',
    summary: 'Shows what takes how much room on the disk, and frees what can be freed.',
  },
  repair: {
    name: 'repair',
    usage: '',
    summary: 'Rebuilds a damaged history from its backup and the folders of the runs; keeps the damaged file.',
  },
  devices: { name: 'devices', usage: '', summary: 'Lists the CPU and the GPUs of this machine.' },
  lab: {
    name: 'lab',
    usage: '',
    summary: 'Measures this machine: products, memory, latencies and training steps of every device.',
  },
  bench: { name: 'bench', usage: '', summary: 'Times the benchmark workloads on this machine.' },
  catalogue: {
    name: 'catalogue',
    usage: '',
    summary: 'Lists devices and what renting them costs, or checks a file of own entries.',
  },
  breakeven: {
    name: 'breakeven',
    usage: '',
    summary: 'Says after how many hours buying a card costs no more than renting one.',
  },
  forecast: { name: 'forecast', usage: '', summary: 'Forecasts memory, time, energy and cost of training a model.' },
  crossover: {
    name: 'crossover',
    usage: '',
    summary: 'Finds the batch or width from which one device overtakes another with a model.',
  },
  advise: { name: 'advise', usage: '', summary: 'Says what to train a model on, and why.' },
  costs: { name: 'costs', usage: '', summary: 'Adds up time, energy, carbon and money of all runs, month by month.' },
  completions: {
    name: 'completions',
    usage: 'bash|zsh|fish|man',
    summary: 'Writes completions of the commands for a shell, or the manual page.',
  },
  demo: {
    name: 'demo',
    usage: '',
    summary: 'Trains on a bundled table of 344 penguins and shows where the run is kept.',
  },
} as const satisfies Readonly<Record<string, About>>;
