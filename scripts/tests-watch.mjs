// The thread beside a test file: where the file takes far too long it says what the file is at, and ends it.

import * as fs from 'node:fs';
import inspector from 'node:inspector';
import { workerData } from 'node:worker_threads';

/** Milliseconds: several times what the slowest takes, on a machine that others use. */
const limit = Number(process.env['TRAINYARD_TEST_LIMIT'] ?? 10 * 60_000);
/** Milliseconds until native code is taken not to come back to JavaScript. */
const patience = 10_000;

setTimeout(() => {
  const session = new inspector.Session();
  session.connectToMainThread();
  const end = (where) => {
    // The console of a thread goes by way of the one that is stuck.
    fs.writeSync(2, `${workerData.file} has taken ${limit / 1000} s, and is ended at\n${where}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  const scripts = new Map();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => scripts.set(scriptId, url));
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const lines = callFrames.map(({ functionName, location: { scriptId, lineNumber } }) => {
      return `  ${functionName || '(anonymous)'} ${scripts.get(scriptId)}:${lineNumber + 1}`;
    });
    end(lines.join('\n'));
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  setTimeout(() => end('  native code'), patience);
}, limit);
