// The command line: `trainyard COMMAND`. Finds the command, parses its arguments, runs it, and turns errors into one message
// and an exit code: 0 success, 2 bad input or usage, 1 anything else; docs/command-line.md has the others. Plain Node runs it
// from main.ts, the installed app from electron/main/command.ts.

import process from 'node:process';
import type { CommandSurroundings, RunCommandLine } from '../../engine/protocol/command-line.ts';
import { fromWire, InputError, toWire, TrainyardError } from '../../engine/protocol/errors.ts';
import { about } from './about.ts';
import { helpOf, parseCommand, type Command } from './command.ts';
import { commands } from './commands.ts';
import { helpWidth, twoColumns } from './help-lines.ts';
import { Interruption } from './interruption.ts';
import { closest } from '../../engine/protocol/closest.ts';
import { loadPart } from '../../engine/protocol/loading.ts';
import { Output, type Streams } from './output.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { Sink } from './sink.ts';
import { visible } from '../../engine/protocol/visible.ts';
import project from '../../package.json' with { type: 'json' };

const interruption = new Interruption();
const streams: Streams = {
  out: new Sink(process.stdout, (cause) => interruption.raise(cause)),
  // Where nothing can be said nothing is said.
  error: new Sink(process.stderr, () => undefined),
};

async function main(args: readonly string[], surroundings: CommandSurroundings): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    streams.out.write(overview(helpWidth(process.stdout)));
    return 0;
  }
  if (name === '--version') {
    streams.out.write(`trainyard ${project.version}\n`);
    return 0;
  }
  const load = ownValue(commands, name);
  if (!load) {
    const near = closest(name, Object.keys(about));
    const meant = near === null ? '' : `Did you mean “${near}”? `;
    throw new InputError('usage.command', `There is no command “${name}”.`, `${meant}See \`trainyard --help\`.`);
  }
  const command = await load();
  const { positionals, options } = parseCommand(command, rest);
  if (options.help === true) {
    streams.out.write(`${helpOf(command, helpWidth(process.stdout))}\n`);
    return 0;
  }
  // Only now, so that what cannot be loaded is said like any other error.
  const { Services } = await loadPart(import('./services.ts'));
  const services = new Services(surroundings);
  const output = new Output(options.json === true, streams);
  try {
    let code = 0;
    const endWith = (own: number): void => void (code = own);
    const context = { positionals, options, output, services, interruption, endWith, allCommands };
    await Promise.race([command.run(context), interruption.unheard]);
    return code;
  } finally {
    await Promise.race([services.close(), interruption.next()]);
  }
}

function overview(width: number): string {
  const rows = Object.values(about).map(({ name, usage, summary }) => {
    return [`  ${[name, usage].filter(Boolean).join(' ')}`, summary] as const;
  });
  return [
    'Trainyard trains neural networks on this machine, offline.',
    '',
    'usage: trainyard COMMAND [options]      trainyard COMMAND --help',
    '',
    ...twoColumns(rows, width),
    '',
    'Runs are kept in TRAINYARD_HOME (default: the data folder of the app).',
    '',
  ].join('\n');
}

const allCommands = (): Promise<readonly Command[]> => Promise.all(Object.values(commands).map((load) => load()));

/** One message: what, where, what to do. */
function fail(error: unknown): number {
  const { cause } = interruption;
  // Nobody is left to read it; or it follows from what is said at the end.
  if (cause !== null && cause.kind !== 'signal') return interruption.exitCode;
  const known = error instanceof TrainyardError ? error : fromWire(toWire(error));
  const internal = known.code.startsWith('internal.') ? 'internal error: ' : '';
  streams.error.write(`trainyard: ${visible([internal + known.message, known.hint].filter(Boolean).join(' '))}\n`);
  if (process.env.TRAINYARD_DEBUG) streams.error.write(`${error instanceof Error ? (error.stack ?? '') : ''}\n`);
  if (cause !== null) return interruption.exitCode;
  const input = known instanceof InputError || /^(input|usage|model)\./.test(known.code);
  return input ? 2 : 1;
}

/** All that was written has gone out before the process ends, unless a signal says otherwise. */
async function drain(): Promise<void> {
  const signal = interruption.next();
  await Promise.race([streams.out.drained(), signal]);
  if (interruption.cause?.kind === 'output') {
    const { message, hint } = interruption.cause.error;
    streams.error.write(`trainyard: ${visible(`${message} ${hint}`)}\n`);
  }
  await Promise.race([streams.error.drained(), signal]);
}

export const runCommandLine: RunCommandLine = async (args, surroundings) => {
  interruption.watchSignals();
  const code = await main(args, surroundings).catch(fail);
  await drain();
  const { cause } = interruption;
  return code === 0 && cause !== null && cause.kind !== 'signal' ? interruption.exitCode : code;
};
