// A Python with some packages, for what only Python can tell: `TRAINYARD_PYTHON`, or the `python3` there is.

import { spawnSync } from 'node:child_process';

export const python = process.env['TRAINYARD_PYTHON'] ?? 'python3';

/** False, or why a test that needs these packages is skipped. */
export function lacksPython(...packages: readonly string[]): false | string {
  const { status } = spawnSync(python, ['-c', packages.map((name) => `import ${name}`).join('\n')]);
  return status === 0 ? false : `SKIPPED: ${python} has no ${packages.join(', ')} (TRAINYARD_PYTHON names another one)`;
}

/** Runs a script; its standard output. Throws with what it wrote to standard error. */
export function runPython(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): string {
  const env = { ...process.env, ...options.env };
  const { status, stdout, stderr } = spawnSync(python, args, { encoding: 'utf8', cwd: options.cwd, env });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}
