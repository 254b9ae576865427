// The model that a process keeps ready, as others ask for it: predictions for a form, and a server while one is asked for.

import type { Backend } from '../backends/backend.ts';
import { TrainyardError } from '../protocol/errors.ts';
import type { ServedModelService } from '../protocol/serving.ts';
import { ModelServer, newToken } from './server.node.ts';
import { ServedModel } from './served-model.ts';

export function createServedModel(openBackend: () => Promise<Backend>): ServedModelService {
  let model: ServedModel | null = null;
  let server: ModelServer | null = null;
  const opened = (): ServedModel => {
    if (model !== null) return model;
    throw new TrainyardError('internal.no_model', 'No model has been opened in this process.');
  };
  return {
    async open(source) {
      model ??= await ServedModel.open(source, openBackend);
      return model.form;
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
