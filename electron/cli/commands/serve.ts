// `serve`: a finished run for other programs of this machine, until Ctrl-C.

import { readModelFiles } from '../../../engine/runs/model-files.ts';
import { ModelServer, newToken } from '../../../engine/serving/server.node.ts';
import { ServedModel } from '../../../engine/serving/served-model.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { about } from '../about.ts';
import { numberOption, runNumber, textOption, type Command } from '../command.ts';
import { counted } from '../output.ts';

const shortestToken = 16;

export const serve: Command = {
  ...about.serve,
  positionals: [1, 1],
  options: {
    port: { type: 'string', value: 'N', help: 'port to listen on (default: one that is free)' },
    token: {
      type: 'string',
      value: 'TEXT',
      help: `what clients have to show, ${shortestToken} characters at least (default: one is made and printed)`,
    },
  },
  run: async ({ positionals, options, output, services, interruption }) => {
    const run = runNumber(positionals[0]);
    const port = numberOption(options, 'port', { minimum: 1, maximum: 65_535, whole: true }) ?? 0;
    const token = textOption(options, 'token') ?? newToken();
    if (token.length < shortestToken || /[^\x21-\x7e]/.test(token)) {
      throw new InputError(
        'usage.option',
        `--token is too short, or has characters that cannot stand in a header.`,
        `It has to have ${shortestToken} characters or more, without spaces; or leave it out.`,
      );
    }
    const store = await services.store;
    const { name } = await store.run({ run });
    const files = await readModelFiles(store, run);
    const model = await ServedModel.open({ run, name, ...files }, () => openCpu({ home: services.home, threads: 1 }));
    try {
      const server = await ModelServer.open(model, { port, token });
      const stopped = interruption.next();
      const { address, model: served } = server.address;
      output.event({ event: 'serving', run, address, model: served, token });
      output.line(`Serving run ${run}, ${name}, on this machine alone. Ctrl-C ends it.`);
      output.line(`  plain JSON   POST ${address}/predict`);
      output.line(`  open inference protocol   POST ${address}/v2/models/${served}/infer`);
      output.line(`  token   ${token}`);
      const headers = `-H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json'`;
      output.line(`  curl ${headers} -d '${exampleOf(model)}' ${address}/predict`);
      await stopped;
      await server.close();
      const { requests, medianMilliseconds } = server.counts;
      output.event({ event: 'stopped', run, requests, median_ms: medianMilliseconds });
      const typical = medianMilliseconds === null ? '' : `, ${medianMilliseconds.toFixed(2)} ms at the median`;
      output.line(`Stopped: ${counted(requests, 'request')}${typical}.`);
    } finally {
      await model.close();
    }
  },
};

/** A row from the middle of training, as a shell takes it. */
function exampleOf(model: ServedModel): string {
  const row = Object.fromEntries(model.form.fields.map(({ name, middle }) => [name, middle]));
  return JSON.stringify(row).replaceAll("'", "'\\''");
}
