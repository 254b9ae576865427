// `demo`: trains on the bundled penguins table, for a first look and where there is no screen.

import { fileURLToPath } from 'node:url';
import { about } from '../about.ts';
import type { Command } from '../command.ts';
import { trainFile } from './train.ts';

const sample = new URL('../../../samples/penguins.csv', import.meta.url);

export const demo: Command = {
  ...about.demo,
  positionals: [0, 0],
  options: {},
  run: async ({ output, services, interruption, endWith }) => {
    output.line('Trainyard trains neural networks on this machine, offline.');
    output.line('Demo: which species is a penguin, by its bill, flippers, weight, island and sex?');
    output.line();
    const run = await trainFile({
      positionals: [fileURLToPath(sample)],
      options: { target: 'species', name: 'Penguins (demo)' },
      output,
      services,
      interruption,
      endWith,
    });
    output.line();
    output.line(`The run is kept in ${services.home}`);
    output.line(`Look at it: npm run -s trainyard -- show ${run}      All runs: npm run -s trainyard -- runs`);
    output.line('Your own table: npm run -s trainyard -- train data.csv');
  },
};
