// `npm run -s trainyard -- COMMAND`: the command line, set up on first use. Once set up it runs in this very process.

import module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { endWithParent, handOver, root, script, setup } from './setup.mjs';

await script(async () => {
  endWithParent('trainyard', 'bench');
  const { node, current } = await setup({ targets: ['node'] });
  const program = path.join(root, 'build', 'node', 'trainyard.js');
  if (!current) {
    await handOver(node, [program, ...process.argv.slice(2)]);
    return;
  }
  process.argv[1] = program;
  module.enableCompileCache?.(path.join(root, 'build', '.cache'));
  await import(pathToFileURL(program).href);
});
