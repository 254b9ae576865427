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
  run: async (context) => {
    const { output, services } = context;
    output.line('Trainyard trains neural networks on this machine, offline.');
    output.line('Demo: which species is a penguin, by its bill, flippers, weight, island and sex?');
    output.line();
    const run = await trainFile({
      ...context,
      positionals: [fileURLToPath(sample)],
      options: { target: 'species', name: 'Penguins (demo)' },
    });
    output.line();
    output.line(`The run is kept in ${services.home}`);
    // As it is called here: installed, or in a clone.
    const call = process.versions['electron'] === undefined ? 'npm run -s trainyard --' : 'trainyard';
    output.line(`Look at it: ${call} show ${run}      All runs: ${call} runs`);
    output.line(`Your own table: ${call} train data.csv`);
  },
};
