// The command line: `trainyard COMMAND`. Finds the command, parses its arguments, runs it, and turns errors into one message
// and an exit code: 0 success, 2 bad input or usage, 1 anything else.

import process from 'node:process';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import { helpOf, parseCommand } from './command.ts';
import { commands } from './commands.ts';
import { Output } from './output.ts';
import { Services } from './services.ts';
import { ownValue } from '../../engine/protocol/own.ts';

async function main(args: readonly string[]): Promise<void> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(await overview());
    return;
  }
  if (name === '--version') {
    const { version } = await import('../../package.json', { with: { type: 'json' } }).then((module) => module.default);
    process.stdout.write(`trainyard ${version}\n`);
    return;
  }
  const load = ownValue(commands, name);
  if (!load) {
    throw new InputError('usage.command', `There is no command “${name}”.`, 'See `trainyard --help`.');
  }
  const command = await load();
  const { positionals, options } = parseCommand(command, rest);
  if (options.help === true) {
    process.stdout.write(`${helpOf(command)}\n`);
    return;
  }
  const services = new Services();
  try {
    await command.run({ positionals, options, output: new Output(options.json === true), services });
  } finally {
    await services.close();
  }
}

async function overview(): Promise<string> {
  const lines = await Promise.all(
    Object.values(commands).map(async (load) => {
      const command = await load();
      return `  ${[command.name, command.usage].filter(Boolean).join(' ').padEnd(22)} ${command.summary}`;
    }),
  );
  return [
    'Trainyard trains neural networks on this machine, offline.',
    '',
    'usage: trainyard COMMAND [options]      trainyard COMMAND --help',
    '',
    ...lines,
    '',
    'Runs are kept in TRAINYARD_HOME (default: the data folder of the app).',
    '',
  ].join('\n');
}

/** One message: what, where, what to do. */
function fail(error: unknown): number {
  if (error instanceof TrainyardError) {
    process.stderr.write(`trainyard: ${[error.message, error.hint].filter(Boolean).join(' ')}\n`);
    const input = error instanceof InputError || /^(input|usage|model)\./.test(error.code);
    return input ? 2 : 1;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`trainyard: internal error: ${message}\n`);
  if (process.env.TRAINYARD_DEBUG) process.stderr.write(`${stack ?? ''}\n`);
  return 1;
}

// A reader that stops early (`trainyard runs | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2)).then(() => process.exitCode ?? 0, fail);
// Handles of libraries may keep Node alive for seconds; everything that matters has been closed.
process.exit();
