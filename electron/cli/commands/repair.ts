// `repair`: a damaged history is set aside and built again of its backup and the folders of the runs.

import { repairHistory } from '../../../engine/history/client.node.ts';
import type { Command } from '../command.ts';
import { counted, type Output } from '../output.ts';

export const repair: Command = {
  name: 'repair',
  usage: '',
  summary: 'Rebuilds a damaged history from its backup and the folders of the runs; keeps the damaged file.',
  positionals: [0, 0],
  options: {},
  run: async ({ output, services }) => {
    const report = await repairHistory({ home: services.home });
    output.event({ event: 'repaired', ...report });
    if (report.problem === null) {
      output.line('The history is whole: there is nothing to repair.');
      return;
    }
    output.line(report.problem);
    if (report.setAside) output.line(`The damaged file is kept as ${report.setAside}.`);
    say(output, report.fromBackup, `from the backup ${report.backup ?? ''}`);
    say(output, report.salvaged, 'read from the damaged file: some of their figures may be missing or changed');
    say(output, report.rebuilt, 'rebuilt from their folders: their curves and logs since the last backup are lost');
    say(output, report.silent, 'lost: their folders, which stay as they are, do not say enough');
    const kept = report.fromBackup.length + report.salvaged.length + report.rebuilt.length;
    output.line(kept === 0 ? 'The history is empty now.' : `The history holds ${counted(kept, 'run')} now.`);
    if (report.incomplete) output.line('Parts of the damaged file could not be read: what only stood there is lost.');
  },
};

function say(output: Output, runs: readonly number[], what: string): void {
  if (runs.length === 0) return;
  const shown = runs.slice(0, 20).join(', ') + (runs.length > 20 ? ', …' : '');
  output.line(`${runs.length === 1 ? 'Run' : `${runs.length} runs`} (${shown}) ${what}.`);
}
