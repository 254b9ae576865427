// `advise`: what to train a model on, ranked, each reason with its number. This machine's processor is taken by its cores, at three
// gigahertz with AVX2, until it has been measured.

import { availableParallelism, freemem } from 'node:os';
import { advise } from '../../../engine/hardware/advice/advise.ts';
import type { Recommendation } from '../../../engine/hardware/advice/facts.ts';
import { factsOf, training } from '../../../engine/hardware/advice/from-forecast.ts';
import { forecast } from '../../../engine/hardware/forecast.ts';
import { cpuPeak } from '../../../engine/hardware/formulas/roofline.ts';
import { deviceByPeaks, epochSeconds, stepTime } from '../../../engine/hardware/time-forecast.ts';
import { choiceOption, numberOption, type Command } from '../command.ts';
import { subjectOption, subjectOptions } from '../forecast-subject.ts';
import { openCatalogue } from '../own-catalogue.ts';
import { formatSeconds } from '../output.ts';

export const adviseCommand: Command = {
  name: 'advise',
  usage: '',
  summary: 'Says what to train a model on, and why.',
  positionals: [0, 0],
  options: {
    ...subjectOptions,
    epochs: { type: 'string', value: 'N', help: 'epochs of the training (default 10)' },
    precision: { type: 'string', value: 'float32|mixed16', help: 'numbers to compute with (default float32)' },
    deadline: { type: 'string', value: 'HOURS', help: 'until when it has to be done' },
    budget: { type: 'string', value: 'USD', help: 'what it may cost' },
    'hours-per-week': { type: 'string', value: 'N', help: 'how much such training there is' },
    private: { type: 'boolean', help: 'the data must not leave' },
    interruptible: { type: 'boolean', help: 'it may be cut off and go on' },
    first: { type: 'string', value: 'time|money|energy', help: 'what matters most' },
  },
  run: async ({ options, output, services }) => {
    const precision = choiceOption(options, 'precision', ['float32', 'mixed16'] as const) ?? 'float32';
    const first = choiceOption(options, 'first', ['time', 'money', 'energy'] as const);
    const epochs = numberOption(options, 'epochs', { minimum: 1, maximum: 1e6, whole: true }) ?? 10;
    const hours = numberOption(options, 'deadline', { minimum: 0.001, maximum: 1e6 });
    const budget = numberOption(options, 'budget', { minimum: 0, maximum: 1e9 });
    const hoursPerWeek = numberOption(options, 'hours-per-week', { minimum: 0, maximum: 168 });
    const subject = await subjectOption(options, services);
    const { rows, batch } = subject;
    const { catalogue } = openCatalogue(services.home, output);
    const rate = (list: typeof catalogue.tariffs): number => (list.find(({ id }) => id === 'US') ?? list[0]).rate.value;
    const tariff = rate(catalogue.tariffs);
    const found = forecast(subject, { precision, catalogue, tariff, grid: rate(catalogue.grids) });
    const peaks = { kind: 'cpu', float32: cpuPeak(availableParallelism(), 3e9, 32), bandwidth: 40e9 } as const;
    const here = epochSeconds(stepTime(found.costs, deviceByPeaks(peaks, 'float32')), rows, batch);
    const cpu = {
      id: 'cpu',
      name: 'this CPU',
      kind: 'cpu',
      use: 'training',
      seconds: training(here, epochs),
      memory: freemem(),
    } as const;
    const needs = {
      deadline: hours === undefined ? undefined : hours * 3600,
      budget,
      hoursPerWeek,
      private: options.private === true,
      interruptible: options.interruptible === true,
      first,
    };
    const facts = factsOf({ forecast: found, catalogue, epochs, rows, batch, cpu, tariff, now: Date.now() });
    const all = advise(needs, facts);
    const advised = all.filter((given) => given.advised);
    const refused = all.filter((given) => !given.advised);
    output.event({
      event: 'advice',
      recommendations: advised.map(recommendation),
      not_advised: refused.map(({ device, reasons }) => ({ device, reasons })),
    });
    for (const given of advised) {
      const time = given.seconds ? `, about ${formatSeconds(given.seconds.middle)}` : '';
      const late = given.meetsDeadline === false ? ', after the deadline' : '';
      output.line(`${given.rank}. ${given.title}${given.device ? `: ${given.device}` : ''}${time}${late}`);
      for (const { text } of given.reasons) output.line(`   ${text}`);
      for (const { text } of given.changes) output.line(`   would change it: ${text}`);
    }
    if (advised.length === 0) output.line('No rule fits: this CPU does it, slowly.');
    output.line(
      `Not advised: ${refused.length} devices; --json says why. This machine’s speed is estimated from its cores.`,
    );
  },
};

const recommendation = ({ seconds, meetsDeadline, advised, ...given }: Recommendation): object => ({
  ...given,
  ...(advised && seconds ? { seconds: [seconds.low, seconds.high] } : {}),
  ...(meetsDeadline === undefined ? {} : { meets_deadline: meetsDeadline }),
});
