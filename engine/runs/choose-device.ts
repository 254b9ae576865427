// `auto`: which device trains a run. Measured once for a plan and a size of data, on the real rows, and remembered. Without a
// GPU there is nothing to measure; a software adapter is never chosen.

import type { PreparedData } from '../protocol/data.ts';
import type { LogLine, RunConfig } from '../protocol/runs.ts';
import type { RunJob } from '../protocol/hosts.ts';
import type { StoreService } from '../protocol/store.ts';
import { declarationOf } from '../learners/declared/registry.ts';
import type { RunHost, RunHosts } from './hosts.ts';
import { orEnded, startMilliseconds, within } from './within.ts';

type MeasuredDevice = 'cpu' | 'gpu';

/** What is remembered of a measurement. */
interface Choice {
  readonly gpu: string;
  /** Milliseconds a step; null where the device could not run the job. */
  readonly cpu: number | null;
  readonly gpuTime: number | null;
}

export interface ChooseOptions {
  readonly store: Pick<StoreService, 'getSetting' | 'setSetting'>;
  readonly hosts: RunHosts;
  readonly run: number;
  readonly config: RunConfig;
  readonly data: PreparedData;
  readonly log: (line: LogLine) => void;
}

/** A measurement takes some seconds; compiling for a GPU the longest. */
const measureMilliseconds = 180_000;

/** The device for a run whose config says `auto`. */
export async function chooseDevice(options: ChooseOptions): Promise<MeasuredDevice> {
  const { store, hosts, config, data, log } = options;
  const gpu = (await hosts.gpu?.().catch(() => null)) ?? null;
  if (gpu === null) {
    log({ time: Date.now(), level: 'info', message: 'There is no GPU to choose: trains on the CPU.' });
    return 'cpu';
  }
  const key = `device-choice:${signature(config, data)}`;
  const known = (await store.getSetting({ key })) as Choice | null | undefined;
  const fresh = known?.gpu !== gpu;
  const choice = fresh ? { gpu, cpu: await measure(options, 'cpu'), gpuTime: await measure(options, 'gpu') } : known;
  if (fresh) await store.setSetting({ key, value: choice });
  const device = choice.gpuTime !== null && (choice.cpu === null || choice.gpuTime < choice.cpu) ? 'gpu' : 'cpu';
  log({ time: Date.now(), level: 'info', message: sentence(choice, device, fresh) });
  return device;
}

/** Milliseconds a step, or null when the device cannot run the job. */
async function measure(options: ChooseOptions, device: MeasuredDevice): Promise<number | null> {
  const { hosts, run, config, data, log } = options;
  const name = `The ${device === 'gpu' ? 'GPU' : 'training'} process`;
  let created: RunHost | null = null;
  try {
    created = await orEnded(hosts.create(device), (host) => within(host, startMilliseconds, name));
    const job: RunJob = { run, config: { ...config, device }, data };
    const gone = created.exited.then((reason): never => {
      throw new Error(reason);
    });
    gone.catch(() => undefined);
    const measured = Promise.race([created.host.measure(job), gone]);
    return (await within(measured, measureMilliseconds, name)).stepMilliseconds;
  } catch (error) {
    const message = `The ${device.toUpperCase()} could not be measured: ${(error as Error).message}`;
    log({ time: Date.now(), level: 'warning', message });
    return null;
  } finally {
    created?.kill();
  }
}

function sentence({ gpu, cpu, gpuTime }: Choice, device: MeasuredDevice, fresh: boolean): string {
  const time = (value: number | null): string =>
    value === null ? 'not possible' : `${value.toPrecision(3)} ms a step`;
  const when = fresh ? 'Measured' : 'Measured before';
  return `${when}: CPU ${time(cpu)}, GPU (${gpu}) ${time(gpuTime)}. Trains on the ${device.toUpperCase()}.`;
}

/** What decides the speed of a step: the learner's own settings, the threads, the width and the size of the data. */
function signature(config: RunConfig, { input, output, counts }: PreparedData): string {
  const outputs = output.kind === 'classes' ? output.classes.length : 1;
  const magnitude = Math.round(Math.log2(Math.max(1, counts.train)));
  const own = declarationOf(config).speed(config);
  return hash(JSON.stringify([config.learner, own, config.threads, input, outputs, magnitude]));
}

/** FNV-1a over UTF-16 units, 64 bits in two halves: a name for a setting, no secret. */
function hash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0xcbf29ce4;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x01000197);
  }
  return [a, b].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}
