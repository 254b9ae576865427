// `completions`: what shells and `man` need of the command line, on standard output.

import { InputError } from '../../../engine/protocol/errors.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { about } from '../about.ts';
import type { Command } from '../command.ts';
import { bashCompletion, fishCompletion, manualPage, zshCompletion } from '../shell-files.ts';
import project from '../../../package.json' with { type: 'json' };

const kinds: Readonly<Record<string, (commands: readonly Command[], version: string) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  man: manualPage,
};

export const completions: Command = {
  ...about.completions,
  positionals: [1, 1],
  options: {},
  run: async ({ positionals, output, allCommands }) => {
    const make = ownValue(kinds, positionals[0]);
    if (make === undefined) {
      const known = Object.keys(kinds).join(', ');
      throw new InputError('usage.shell', `There are no completions for “${positionals[0]}”.`, `Known: ${known}.`);
    }
    const text = make(await allCommands(), project.version);
    output.event({ event: 'completions', shell: positionals[0], text });
    for (const line of text.trimEnd().split('\n')) output.line(line);
  },
};
