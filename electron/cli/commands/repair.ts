// `repair`: a damaged history is set aside and built again of its backup and the folders of the runs.

import { repairHistory } from '../../../engine/history/client.node.ts';
import { repairText } from '../../../engine/protocol/repair-text.ts';
import { about } from '../about.ts';
import type { Command } from '../command.ts';

export const repair: Command = {
  ...about.repair,
  positionals: [0, 0],
  options: {},
  run: async ({ output, services }) => {
    const report = await repairHistory(services.storeProcess);
    output.event({ event: 'repaired', ...report });
    for (const line of repairText(report)) output.line(line);
  },
};
