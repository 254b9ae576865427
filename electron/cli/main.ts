// The command line under plain Node.

import process from 'node:process';
import { runCommandLine } from './program.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), {});
// Handles of libraries may keep Node alive for seconds; everything that matters has been closed and written.
process.exit();
