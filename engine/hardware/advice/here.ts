// Rules about this machine: its CPU, its GPU, and what to mend before anything is bought.

import {
  fastest,
  fitsHere,
  gigabytes,
  percent,
  reason,
  speedup,
  type Action,
  type Context,
  type Fired,
} from './rules.ts';
import { neededOn, type Facts, type Reason } from './facts.ts';

const stay = ({ facts }: Context, ...reasons: Reason[]): Fired => ({
  device: facts.cpu,
  reasons,
  seconds: facts.cpu.seconds,
});
const runsWords = ({ waitedRuns: runs }: Facts): string =>
  runs === undefined ? '' : ` of ${runs === 1 ? 'the last run' : `the last ${runs} runs`}`;

export const hereActions: Readonly<Record<string, Action>> = {
  'no-network': (context) => {
    const { facts, limit } = context;
    if (facts.model === 'network' || (facts.model === 'trees' && facts.rows >= limit('rows'))) return null;
    return stay(
      context,
      reason(
        'data',
        `A ${facts.model} model on ${facts.rows.toLocaleString('en')} rows`,
        facts.rows,
        limit('rows'),
        'rows',
      ),
    );
  },
  'finishes-soon': (context) => {
    const minutes = context.facts.cpu.seconds.high / 60;
    if (minutes >= context.limit('minutes')) return null;
    return stay(
      context,
      reason(
        'cost',
        `The CPU is done within ${minutes < 1 ? `${Math.max(1, Math.ceil(60 * minutes))} s` : `${minutes.toFixed(1)} min`}`,
        minutes,
        context.limit('minutes'),
        'min',
      ),
    );
  },
  'below-crossover': (context) => {
    const { facts, limit } = context;
    if (!facts.gpu || facts.gpu.software) return null;
    const { stepFlops, crossoverFlops = 0 } = facts;
    if (stepFlops < crossoverFlops) {
      return {
        ...stay(
          context,
          reason('crossover', 'A step has less FLOP than the crossover', stepFlops, crossoverFlops, 'FLOP'),
        ),
        changes: [
          reason(
            'crossover',
            `A batch ${Math.ceil(crossoverFlops / stepFlops)} times as large`,
            crossoverFlops / stepFlops,
          ),
        ],
      };
    }
    const gain = speedup(facts);
    if (gain >= limit('speedup')) return null;
    return stay(
      context,
      reason('crossover', `The GPU here is ${gain.toFixed(1)} times as fast`, gain, limit('speedup'), '×'),
    );
  },
  'measure-first': ({ facts, limit }) => {
    const best = fastest([facts.cpu, ...(facts.gpu ? [facts.gpu] : [])])!;
    const doubt = Math.sqrt(best.seconds.high / best.seconds.low);
    if (doubt <= limit('doubt')) return null;
    return {
      device: null,
      reasons: [
        reason('lab', `The forecast may be off ${doubt.toFixed(1)} times either way`, doubt, limit('doubt'), '×'),
      ],
    };
  },
  'data-waits': ({ facts, limit }) => {
    const wait = facts.dataWait ?? 0;
    if (wait <= limit('wait')) return null;
    return {
      device: null,
      reasons: [
        reason(
          'data',
          `${percent(wait)} of the training${runsWords(facts)} waited for rows: more rows in memory or a faster disk, not a faster device`,
          wait,
          limit('wait'),
          'share',
        ),
      ],
    };
  },
  'checkpoints-hold': ({ facts, limit }) => {
    const share = facts.checkpointShare ?? 0;
    if (share <= limit('share')) return null;
    return {
      device: null,
      reasons: [
        reason(
          'data',
          `${percent(share)} of the work${runsWords(facts)} went into checkpoints: a faster disk, not a faster device`,
          share,
          limit('share'),
          'share',
        ),
      ],
    };
  },
  'larger-batch': ({ facts, limit }) => {
    const { gpu, batch, saturationBatch, criticalBatch = Infinity } = facts;
    if (!gpu || gpu.software || batch === undefined || saturationBatch === undefined) return null;
    const wanted = Math.min(saturationBatch, limit('critical') * criticalBatch);
    if (batch >= wanted) return null;
    return {
      device: gpu,
      seconds: gpu.seconds,
      reasons: [
        reason(
          'crossover',
          `Batch ${batch} leaves the GPU idle; ${Math.floor(wanted)} fills it`,
          batch,
          wanted,
          'rows',
        ),
      ],
    };
  },
  'this-gpu': ({ facts, limit }) => {
    const { gpu } = facts;
    const gain = speedup(facts);
    if (!gpu || !fitsHere(facts, limit('memory')) || gain < limit('speedup')) return null;
    const needed = neededOn(facts, gpu);
    return {
      device: gpu,
      seconds: gpu.seconds,
      reasons: [
        reason('crossover', `${gain.toFixed(1)} times as fast as the CPU`, gain, limit('speedup'), '×'),
        gpu.memory === 0
          ? reason(
              'memory',
              `It needs ${gigabytes(needed)}; how much this GPU has is not known: its data sheet or the system’s display settings say it; write it into your own catalogue under the name ${gpu.name.replace(/^this GPU, /, '')}`,
              needed,
            )
          : reason(
              'memory',
              `${gigabytes(needed)} of ${gigabytes(gpu.memory)} free`,
              needed,
              limit('memory') * gpu.memory,
              'bytes',
            ),
      ],
      changes:
        gpu.memory === 0
          ? []
          : [
              reason(
                'memory',
                `A batch that needs more than ${gigabytes(limit('memory') * gpu.memory)}`,
                limit('memory') * gpu.memory,
              ),
            ],
    };
  },
  'gpu-with-savings': ({ facts, limit }) => {
    const { gpu, savings = [] } = facts;
    if (!gpu || gpu.software || fitsHere(facts, limit('memory'))) return null;
    const room = limit('memory') * gpu.memory;
    let [bytes, factor] = [neededOn(facts, gpu), 1];
    const taken: string[] = [];
    for (const saving of savings) {
      if (bytes <= room) break;
      bytes -= saving.bytes;
      factor *= saving.timeFactor;
      taken.push(saving.name);
    }
    if (bytes > room || factor * gpu.seconds.middle >= facts.cpu.seconds.middle) return null;
    const { low, middle, high } = gpu.seconds;
    return {
      device: gpu,
      seconds: { low: low * factor, middle: middle * factor, high: high * factor },
      reasons: [
        reason(
          'memory',
          `With ${taken.join(', ')} it takes ${gigabytes(bytes)} of ${gigabytes(gpu.memory)} free`,
          bytes,
          room,
          'bytes',
        ),
      ],
    };
  },
  'energy-first': ({ needs, facts, limit }) => {
    const { gpu } = facts;
    if (needs.first !== 'energy' || !gpu?.watts) return null;
    const watts = limit('power') * gpu.watts;
    const { low, middle, high } = gpu.seconds;
    const by = limit('speed');
    return {
      device: gpu,
      seconds: { low: low / by, middle: middle / by, high: high / by },
      reasons: [
        reason(
          'cost',
          `${Math.round(watts)} W instead of ${gpu.watts}, ${percent(by)} of the speed`,
          watts,
          gpu.watts,
          'W',
        ),
      ],
    };
  },
};
