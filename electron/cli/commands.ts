// All commands of the command line.

import type { Command } from './command.ts';

/** Commands load when they are called: `runs` need not read the kernels. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  train: async () => (await import('./commands/train.ts')).train,
  check: async () => (await import('./commands/check.ts')).check,
  continue: async () => (await import('./commands/continue.ts')).continueCommand,
  inspect: async () => (await import('./commands/inspect.ts')).inspect,
  runs: async () => (await import('./commands/runs-list.ts')).runs,
  show: async () => (await import('./commands/show.ts')).show,
  compare: async () => (await import('./commands/runs.ts')).compare,
  delete: async () => (await import('./commands/runs.ts')).remove,
  pause: async () => (await import('./commands/control.ts')).pause,
  resume: async () => (await import('./commands/control.ts')).resume,
  stop: async () => (await import('./commands/control.ts')).stop,
  queue: async () => (await import('./commands/queue.ts')).queue,
  datasets: async () => (await import('./commands/datasets.ts')).datasets,
  predict: async () => (await import('./commands/predict.ts')).predict,
  explain: async () => (await import('./commands/explain.ts')).explain,
  evaluate: async () => (await import('./commands/evaluate.ts')).evaluate,
  serve: async () => (await import('./commands/serve.ts')).serve,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/backup.ts')).restore,
  home: async () => (await import('./commands/home.ts')).home,
  repair: async () => (await import('./commands/repair.ts')).repair,
  devices: async () => (await import('./commands/devices.ts')).devices,
  lab: async () => (await import('./commands/lab.ts')).lab,
  bench: async () => (await import('./commands/bench.ts')).bench,
  catalogue: async () => (await import('./commands/catalogue.ts')).catalogue,
  breakeven: async () => (await import('./commands/breakeven.ts')).breakeven,
  forecast: async () => (await import('./commands/forecast.ts')).forecastCommand,
  crossover: async () => (await import('./commands/crossover.ts')).crossover,
  advise: async () => (await import('./commands/advise.ts')).adviseCommand,
  costs: async () => (await import('./commands/costs.ts')).costs,
  demo: async () => (await import('./commands/demo.ts')).demo,
};
