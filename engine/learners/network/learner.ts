// Networks as a learner: the trainer of engine/train, held between its submits once its budget of time is used up.

import { examineNetwork } from '../../doctor/network/examine.ts';
import { activationMaps } from '../../train/attention.ts';
import { checkCheckpoint, placeOfCheckpoint } from '../../train/checkpoint.ts';
import { untilTraining } from '../../train/deadline.ts';
import { integratedGradients } from '../../train/integrated-gradients.ts';
import { measureSpeed } from '../../train/measure.ts';
import { outputWidth, resolveModel } from '../../model/resolve.ts';
import { transferTo } from '../../train/transfer.ts';
import { networkOutputs } from '../../train/predict.ts';
import { Incremental } from '../../train/incremental.ts';
import { ResidentNetwork } from '../../train/resident-network.ts';
import type { SessionOptions } from '../../train/session.ts';
import { train } from '../../train/trainer.ts';
import type { DeviceDescription } from '../../backends/backend.ts';
import type { RunResult } from '../../protocol/runs.ts';
import type { Weights } from '../../train/weights.ts';
import type { Learner, LearnerJob, Rows, Trained, Training } from '../learner.ts';
import type { NetworkConfig } from './declaration.ts';
import type { NetworkModelFile } from './file.ts';
import { Gate } from './gate.ts';

export const learner: Learner<NetworkConfig, NetworkModelFile> = {
  open: openNetwork,
  measure: async (job, surroundings) => measureSpeed(await sessionOptions(job), surroundings),
  read: readNetwork,
  examine: async (job, surroundings) => examineNetwork({ ...job, backend: await job.backend(), surroundings }),
  checkCheckpoint,
  placeOf: placeOfCheckpoint,
  checkStart({ model, training }, { input, output }, start) {
    transferTo(resolveModel(model, input, outputWidth(output, training.loss)), start, training.frozenLayers, output);
  },
};

async function sessionOptions(job: Rows & { readonly config: NetworkConfig }): Promise<SessionOptions> {
  const { data, readShard, dataBudget, config } = job;
  const own = config.until === undefined ? config.training : untilTraining(config.training);
  const training = { ...own, seed: config.seed };
  return { backend: await job.backend(), model: config.model, training, data, readShard, dataBudget };
}

async function openNetwork(job: LearnerJob<NetworkConfig>): Promise<Training> {
  const { control, events, checkpoint, start } = job;
  const options = await sessionOptions(job);
  const gate = new Gate(job.surroundings);
  const surroundings = { ...job.surroundings, breathe: () => gate.breathe() };
  const { device, together } = options.backend;
  const sentence = (started: DeviceDescription): string =>
    together ? sharedSentence(together.devices) : deviceSentence(job.config, started, device.threads);
  let ended: RunResult | null = null;
  const { until } = job.config;
  const training = train({ ...options, control, surroundings, checkpoint, start, events, until }, (started) =>
    events.onStarted({ ...started, sentence: sentence(started.device) }),
  ).then((result) => {
    ended = result;
  });
  // Whoever advances hears of an error.
  training.catch(() => undefined);
  return {
    async advance(milliseconds) {
      await Promise.race([gate.open(milliseconds), training]);
      return ended === null;
    },
    result() {
      if (ended === null) throw new RangeError('the training goes on');
      return ended;
    },
  };
}

function readNetwork(file: NetworkModelFile, weights: Weights): Trained {
  const trained = { ...file, weights };
  const { output, training } = file;
  return {
    file,
    evaluation: { output, training, weights: null },
    outputs: async ({ data, readShard, dataBudget, backend }) =>
      networkOutputs(trained, await backend(), data, readShard, dataBudget),
    resident: async (data, backend) => ResidentNetwork.open(trained, await backend(), data),
    following({ input }) {
      const outputs = outputWidth(output, training.loss);
      const incremental = Incremental.of(resolveModel(file.model, input, outputs), weights);
      return incremental && ((ids) => incremental.following(ids));
    },
    attention: async ({ data, readShard, dataBudget, backend }, chosen) =>
      activationMaps(trained, await backend(), data, readShard, dataBudget, chosen),
    attributions: async ({ data, readShard, backend }, chosen) =>
      integratedGradients(trained, await backend(), data, readShard, chosen),
  };
}

/** Which devices share the batches. */
const sharedSentence = (devices: readonly DeviceDescription[]): string =>
  `Trains on ${devices.length} devices: ${devices.map(({ name, software }) => (software ? `${name}, in software` : name)).join('; ')}.`;

/** Which device trains, on how many threads, and why so many. `most`: threads the backend could use. */
export function deviceSentence({ threads }: NetworkConfig, device: DeviceDescription, most: number): string {
  if (device.kind === 'gpu') return `Trains on the GPU: ${device.name}${device.software ? ', in software' : ''}.`;
  if (device.kind === 'reference') return 'Trains on the float64 reference: exact and slow, on one thread.';
  const count = device.threads === 1 ? 'one thread' : `${device.threads} threads`;
  if (threads > 0) return `Trains on the CPU with ${count}, as set: ${device.name}.`;
  const why =
    device.threads > 1
      ? `up to ${count}: one or all, whichever measures faster while it trains`
      : most > 1
        ? 'one thread: the steps of this model are too small for more to pay'
        : 'one thread: there is no more';
  return `Trains on the CPU with ${why}. ${device.name}.`;
}
