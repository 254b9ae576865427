// `home`: what takes how much room, and having it back.

import { freedBy, usageNote, usageWords } from '../../../engine/protocol/usage-words.ts';
import { about } from '../about.ts';
import type { Command } from '../command.ts';
import { counted, formatBytes } from '../output.ts';

export const home: Command = {
  ...about.home,
  positionals: [0, 0],
  options: {
    compact: { type: 'boolean', help: 'write the history anew without the gaps in it' },
    'empty-trash': { type: 'boolean', help: 'remove the runs in the trash and their files for good' },
    'drop-set-aside': { type: 'boolean', help: 'remove damaged histories and homes that were kept for safety' },
  },
  run: async ({ options, output, services }) => {
    const store = await services.store;
    if (options['empty-trash'] === true) {
      const { runs, bytes } = await store.purge({});
      output.event({ event: 'purged', runs, bytes });
      output.line(`The trash is empty: ${counted(runs, 'run')} removed for good, ${formatBytes(bytes)} freed.`);
    }
    if (options['drop-set-aside'] === true) {
      const { bytes } = await store.dropSetAside();
      output.event({ event: 'dropped', bytes });
      output.line(`What was set aside is removed, ${formatBytes(bytes)} freed.`);
    }
    if (options.compact === true) {
      const { before, after } = await store.compact();
      output.event({ event: 'compacted', before, after });
      output.line(`The history takes ${formatBytes(after)} now, ${formatBytes(before)} before.`);
    }
    const usage = await store.usage();
    output.event({ event: 'home', home: services.home, ...usage });
    if (output.json) return;
    output.line(`${services.home}: ${formatBytes(usage.bytes)}, ${formatBytes(usage.left)} free on its disk`);
    output.table(
      usage.parts.filter(({ bytes }) => bytes > 0),
      [
        { title: 'part', value: ({ id }) => usageWords[id] },
        { title: 'size', value: ({ bytes }) => formatBytes(bytes), right: true },
        { title: 'holds', value: (part) => usageNote(part, usage.trashDays) },
        { title: 'free it with', value: ({ id }) => (freedBy[id] === undefined ? '' : `home --${freedBy[id]}`) },
      ],
    );
  },
};
