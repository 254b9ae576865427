// `backup` and `restore`: the whole home as one file, and back.

import path from 'node:path';
import { restoreHistory } from '../../../engine/history/client.node.ts';
import type { ArchiveReport, JobProgress } from '../../../engine/protocol/keeping.ts';
import type { StoreService } from '../../../engine/protocol/store.ts';
import { about } from '../about.ts';
import type { Command, CommandContext } from '../command.ts';
import { counted, formatBytes, formatTime, type Output } from '../output.ts';
import { checkOutput } from '../output-file.ts';
import { quoted } from '../data-warning.ts';

export const backup: Command = {
  ...about.backup,
  positionals: [1, 1],
  options: { datasets: { type: 'boolean', help: 'the imported datasets, too' } },
  run: async (context) => {
    const { positionals, options, output, services } = context;
    const file = path.resolve(positionals[0]);
    await checkOutput(file, output);
    const store = await services.store;
    const report = await withJob(context, store, (job) =>
      store.backUp({ job, file, datasets: options.datasets === true }),
    );
    output.event({ event: 'backup', ...report });
    output.line(`${contentText(report)} written to ${positionals[0]} and read again: ${sizeText(report)}.`);
    output.line(`Bring it back: trainyard restore ${quoted(positionals[0])}`);
  },
};

export const restore: Command = {
  ...about.restore,
  positionals: [1, 1],
  options: {},
  run: async ({ positionals, output, services, interruption }) => {
    const { report, cancel } = await restoreHistory(services.storeProcess, path.resolve(positionals[0]), (progress) =>
      showProgress(output, progress),
    );
    const stop = interruption.listen(cancel);
    try {
      const { head, setAside } = await report;
      output.event({ event: 'restored', ...head, setAside });
      output.line(
        `${contentText(head)} of ${head.machine}, backed up ${formatTime(head.created)}, are in ${services.home}.`,
      );
      if (setAside !== null) output.line(`What was there before is kept in ${setAside}.`);
    } finally {
      output.clearBar();
      stop();
    }
  },
};

let jobs = 0;

/** Does work of the store's that takes long: shows how far it is, and ends it where the command is ended. */
export async function withJob<Result>(
  { output, interruption }: Pick<CommandContext, 'output' | 'interruption'>,
  store: StoreService,
  work: (job: string) => Promise<Result>,
): Promise<Result> {
  const job = `keeping-${process.pid}-${++jobs}`;
  const stopHearing = store.onJob((event) => {
    if (event.job === job) showProgress(output, event.progress);
  });
  const stop = interruption.listen(() => void store.cancelJob({ job }).catch(() => undefined));
  try {
    return await work(job);
  } finally {
    stopHearing();
    stop();
    output.clearBar();
  }
}

function showProgress(output: Output, { stage, share }: JobProgress): void {
  output.bar(share, `${stage}, ${Math.floor(100 * share)} %`);
}

/** `12 runs`, `12 runs and 3 datasets` */
export function contentText({ runs, datasets }: Pick<ArchiveReport, 'runs' | 'datasets'>): string {
  return datasets === 0 ? counted(runs, 'run') : `${counted(runs, 'run')} and ${counted(datasets, 'dataset')}`;
}

export const sizeText = ({ files, bytes }: ArchiveReport): string => `${counted(files, 'file')}, ${formatBytes(bytes)}`;
