// The model that a process keeps ready, as others ask for it: predictions for a form, and a server while one is asked for.

import type { Backend } from '../backends/backend.ts';
import { TrainyardError } from '../protocol/errors.ts';
import type { ServedModelService } from '../protocol/serving.ts';
import { ModelServer, newToken } from './server.node.ts';
import { ServedModel } from './served-model.ts';
import { noWriter, TextWriter } from './text-writer.ts';

/** Milliseconds of writing after which what there is goes out. */
const piece = 40;

export function createServedModel(openBackend: () => Promise<Backend>): ServedModelService {
  let model: ServedModel | null = null;
  let writer: TextWriter | null = null;
  let server: ModelServer | null = null;
  let run = 0;
  /** The text that is being written: the newest alone. */
  let writing: { readonly job: string; readonly pieces: AsyncGenerator<string> } | null = null;
  const opened = (): ServedModel => {
    if (model !== null) return model;
    throw new TrainyardError('internal.no_model', 'No model has been opened in this process.');
  };
  return {
    async open(source) {
      run = source.run;
      writer ??= await TextWriter.open(source, openBackend);
      if (writer !== null) return { output: writer.output, fields: [] };
      model ??= await ServedModel.open(source, openBackend);
      return model.form;
    },
    async startText({ job, ...options }) {
      if (writer === null) throw noWriter(run);
      writing = { job, pieces: writer.write(options) };
      return { unread: writer.unread(options.prompt) };
    },
    async nextText({ job }) {
      let text = '';
      const end = performance.now() + piece;
      while (performance.now() < end) {
        if (writing?.job !== job) return { text, done: true };
        const { pieces } = writing;
        const next = await pieces.next();
        if (next.done) return { text, done: true };
        text += next.value;
      }
      return { text, done: false };
    },
    async endText({ job }) {
      if (writing?.job === job) writing = null;
    },
    predict: async ({ rows }) => opened().predict(rows),
    read: async ({ row }) => opened().read(row),
    speed: async () => opened().speed(),
    async listen({ port = 0, token = newToken() }) {
      server ??= await ModelServer.open(opened(), { port, token });
      return server.address;
    },
    async unlisten() {
      const closing = server;
      server = null;
      await closing?.close();
    },
    counts: async () => server?.counts ?? { requests: 0, failed: 0, medianMilliseconds: null },
  };
}
