// What the command line refuses before it does anything: one line that names the cause, exit code 2, nothing written.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { penguins, temporaryHome, trainyard } from '../support/cli.ts';

async function refusal(home: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await trainyard(home, ...args);
  assert.equal(code, 2, stderr);
  assert.equal(stdout, '');
  assert.match(stderr, /^trainyard: [^\n]*\n$/, 'one line');
  return stderr;
}

test('an empty path is refused, and not taken for none or for the folder one is in', async (context) => {
  const home = temporaryHome(context);
  assert.match(
    await refusal(home, 'predict', '1', penguins, '--out', ''),
    /--out is empty: it takes the name of a file/,
  );
  assert.match(await refusal(home, 'export', '1', '--out='), /--out is empty/);
  assert.match(await refusal(home, 'train', penguins, '--model', ''), /--model is empty/);
  assert.match(await refusal(home, 'predict', '1', ''), /The argument PATH of predict is empty/);
  assert.match(await refusal(home, 'inspect', ''), /The argument PATH of inspect is empty/);
  assert.deepEqual(readdirSync(home), []);
});

test('devices that are none are refused before a file is read for them', async (context) => {
  const home = temporaryHome(context);
  assert.match(await refusal(home, 'train', penguins, '--devices', 'cpu:0'), /“cpu:0” is no device/);
  assert.deepEqual(readdirSync(home), []);
});

test('links in a circle and pipes are called that, and not an internal error or an empty file', async (context) => {
  const home = temporaryHome(context);
  const [links, pipe] = [path.join(home, 'links.csv'), path.join(home, 'pipe.csv')];
  symlinkSync('links.csv', links);
  assert.match(await refusal(home, 'inspect', links), /The links at .*links\.csv lead in a circle\. Choose/);
  if (process.platform === 'win32') return;
  execFileSync('mkfifo', [pipe]);
  assert.match(
    await refusal(home, 'inspect', pipe),
    /pipe\.csv is neither a file nor a folder, but a pipe or a device\./,
  );
});

test('training on a table without a usable column names what was left out', async (context) => {
  const home = temporaryHome(context);
  const file = path.join(home, 'table.csv');
  writeFileSync(file, `k,y\n${'1,a\n1,b\n'.repeat(50)}`);
  const args = ['train', file, '--target', 'y', '--epochs', '1'];
  const { code, stderr } = await trainyard(home, ...args);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^trainyard: No column is left to learn from: k \(constant\) is left out\. Add columns [^\n]*\n$/m,
  );
  assert.equal((await trainyard(home, 'runs', '--json')).events.length, 0);
});

test('a signal ends at once what holds the thread, such as planning a deep model', async () => {
  const interruption = path.join(import.meta.dirname, '../../electron/cli/interruption.ts');
  const program = `
    import { Interruption } from ${JSON.stringify(pathToFileURL(interruption).href)};
    const interruption = new Interruption();
    interruption.watchSignals();
    interruption.whileComputing(() => {
      process.stdout.write('busy');
      for (;;);
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM']);
});
