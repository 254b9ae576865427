// A trained network kept compiled on a device, for rows that come one by one or a few at a time: a form that is dragged, requests
// of a server. Programs of several sizes share the weights' values: one row does not pay for a whole batch.

import type { Backend } from '../backends/backend.ts';
import { predictsTokens } from '../model/spec.ts';
import type { PreparedData } from '../protocol/data.ts';
import { Session } from './session.ts';
import type { TrainedNetwork } from './predict.ts';
import { weightNames, writeWeights } from './weights.ts';

/** Rows of the programs that are compiled. */
const sizes = [1, 16, 256] as const;

export class ResidentNetwork {
  readonly #sessions: readonly Session[];
  readonly #width: number;

  /** `data`: what its rows look like; they are not read. Throws InputError `model.weights` when weights and data do not fit. */
  static async open(trained: TrainedNetwork, backend: Backend, data: PreparedData): Promise<ResidentNetwork> {
    const sessions: Session[] = [];
    try {
      for (const rows of predictsTokens(data.input) ? sizes.slice(0, 1) : sizes) {
        const session = await openFor(trained, backend, data, rows);
        sessions.push(session);
        writeWeights(session.executable, session.plan, weightNames(session.model), trained.weights);
        await session.rows.show({ start: 0, end: rows });
      }
    } catch (error) {
      for (const session of sessions) session.close();
      throw error;
    }
    return new ResidentNetwork(sessions, data.width);
  }

  private constructor(sessions: readonly Session[], width: number) {
    this.#sessions = sessions;
    this.#width = width;
  }

  /** Raw outputs [rows, outputs] of x [rows, width]. One call at a time. */
  async outputs(x: Float32Array | Float64Array, rows: number): Promise<Float32Array> {
    const parts: Float32Array[] = [];
    for (let start = 0; start < rows;) {
      const left = rows - start;
      const at = this.#sessions.findIndex(({ rows: { capacity } }) => capacity >= left);
      const session = this.#sessions.at(at)!;
      const count = Math.min(left, session.rows.capacity);
      if (x instanceof Float64Array) throw new RangeError('columns as they are have no place on a device');
      session.executable.write('data.x', x.subarray(start * this.#width, (start + count) * this.#width));
      parts.push(await session.predict({ start: 0, end: count }));
      start += count;
    }
    if (parts.length === 1) return parts[0];
    const outputs = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      outputs.set(part, at);
      at += part.length;
    }
    return outputs;
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }
}

async function openFor(
  { model, training }: TrainedNetwork,
  backend: Backend,
  data: PreparedData,
  rows: number,
): Promise<Session> {
  const { width, targets } = data;
  const nothing = { rows, x: new Float32Array(rows * width), y: new Float32Array(rows * targets) };
  return Session.open({
    backend,
    model,
    training,
    data: { ...data, counts: { train: 0, validation: 0, test: rows }, shardStarts: [0, rows] },
    readShard: async () => nothing,
    dataBudget: Infinity,
    predictOnly: true,
  });
}
