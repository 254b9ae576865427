// `advise`: what to train a model on, ranked, each reason with its number. This machine is as its last lab measured it; before the
// first, its processor is guessed from its cores.

import { readFile } from 'node:fs/promises';
import { advise, lateness } from '../../../engine/hardware/advice/advise.ts';
import { usualFirst, type Recommendation } from '../../../engine/hardware/advice/facts.ts';
import { factHere, factsOf } from '../../../engine/hardware/advice/from-forecast.ts';
import { readThresholds, thresholdsKey, withThresholds, type Rules } from '../../../engine/hardware/advice/rules.ts';
import { usableCores } from '../../../engine/system/cores.ts';
import { forecast } from '../../../engine/hardware/forecast.ts';
import { about as timeAbout } from '../../../engine/hardware/run-line.ts';
import { hoursPerWeek } from '../../../engine/hardware/use.ts';
import { waitingOf } from '../../../engine/hardware/waiting.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { parseJson } from '../../../engine/protocol/json.ts';
import type { StoreService } from '../../../engine/protocol/store.ts';
import { about } from '../about.ts';
import { choiceOption, numberOption, textOption, type Command } from '../command.ts';
import { electricityHere } from '../electricity.ts';
import { runOf, subjectOption, subjectOptions } from '../forecast-subject.ts';
import { unreadable } from '../input-file.ts';
import { newestLab } from '../../../engine/hardware/machine.ts';
import { devicesHere } from '../machine-here.ts';
import { openCatalogue } from '../own-catalogue.ts';
import { formatTime } from '../output.ts';
import { printTableAdvice, tableAsked, tableOptions } from '../table-forecast.ts';

export const adviseCommand: Command = {
  ...about.advise,
  positionals: [0, 0],
  options: {
    ...subjectOptions,
    ...tableOptions,
    epochs: { type: 'string', value: 'N', help: 'epochs of the training (default 10)' },
    precision: { type: 'string', value: 'float32|mixed16', help: 'numbers to compute with (default float32)' },
    deadline: { type: 'string', value: 'HOURS', help: 'until when it has to be done' },
    budget: { type: 'string', value: 'USD', help: 'what it may cost' },
    'hours-per-week': {
      type: 'string',
      value: 'N',
      help: 'how much training there is; by default as the history has it',
    },
    private: { type: 'boolean', help: 'the data must not leave' },
    interruptible: { type: 'boolean', help: 'it may be cut off and go on' },
    first: { type: 'string', value: 'time|money|energy', help: `what matters most (default ${usualFirst})` },
    rules: {
      type: 'string',
      value: 'FILE',
      path: true,
      help: 'other thresholds, such as {"below-crossover.speedup": 3}',
    },
  },
  run: async ({ options, output, services, interruption }) => {
    const precision = choiceOption(options, 'precision', ['float32', 'mixed16'] as const) ?? 'float32';
    const first = choiceOption(options, 'first', ['time', 'money', 'energy'] as const) ?? usualFirst;
    const epochs = numberOption(options, 'epochs', { minimum: 1, maximum: 1e6, whole: true }) ?? 10;
    const hours = numberOption(options, 'deadline', { minimum: 0.001, maximum: 1e6 });
    const budget = numberOption(options, 'budget', { minimum: 0, maximum: 1e9 });
    const hoursAsked = numberOption(options, 'hours-per-week', { minimum: 0, maximum: 168 });
    const table = await tableAsked(options, services);
    const subject = table ?? (await subjectOption(options, services));
    const { catalogue } = openCatalogue(services.home, output);
    const store = await services.store;
    const rules = await rulesAsked(textOption(options, 'rules'), store);
    const electricity = await electricityHere(store, {});
    const { tariff, grid } = electricity;
    const lab = await newestLab(store);
    const here = devicesHere(lab, catalogue);
    if ('task' in subject) {
      const asked = { asked: subject, catalogue, lab, memoryBytes: here[0].memoryBytes, electricity };
      return printTableAdvice(output, asked, hours === undefined ? undefined : hours * 3600);
    }
    const { rows, batch } = subject;
    const found = interruption.whileComputing(() =>
      forecast(subject, { precision, catalogue, here, cores: usableCores(), tariff, grid }),
    );
    const [cpu, gpu] = here;
    const now = Date.now();
    const bills = await store.bills();
    const needs = {
      deadline: hours === undefined ? undefined : hours * 3600,
      budget,
      hoursPerWeek: hoursAsked ?? hoursPerWeek(bills, now),
      private: options.private === true,
      interruptible: options.interruptible === true,
      first,
    };
    const waiting = waitingOf(bills, now, runOf(options));
    const asked = { forecast: found, catalogue, epochs, rows, batch, costsAt: subject.costs, tariff, now, waiting };
    const facts = factsOf({ ...asked, cpu: factHere(cpu, asked), gpu: gpu && factHere(gpu, asked) });
    const all = advise(needs, facts, rules);
    const advised = all.filter((given) => given.advised);
    const refused = all.filter((given) => !given.advised);
    const names = new Map([cpu, ...(gpu ? [gpu] : []), ...facts.others].map(({ id, name }) => [id, name]));
    output.event({
      event: 'advice',
      recommendations: advised.map(recommendation),
      not_advised: refused.map(({ device, reasons }) => ({ device, reasons })),
    });
    for (const given of advised) {
      const time = given.seconds ? `, about ${timeAbout([given.seconds.low, given.seconds.high])}` : '';
      const words = given.seconds ? lateness(given.seconds, needs.deadline) : '';
      const late = words === '' ? '' : `, ${words}`;
      const dear = given.meetsBudget === false ? ', beyond the budget' : '';
      const name = given.device && names.get(given.device);
      output.line(`${given.rank}. ${given.title}${name ? `: ${name}` : ''}${time}${late}${dear}`);
      for (const { text } of given.reasons) output.line(`   ${text}`);
      for (const { text } of given.changes) output.line(`   would change it: ${text}`);
    }
    if (advised.length === 0) {
      output.line(
        facts.cpuFits === false ? 'No rule fits, nor does it fit here.' : 'No rule fits: this CPU does it, slowly.',
      );
    }
    const whence =
      lab === null
        ? 'This machine’s speed is guessed from its cores: `trainyard lab` measures it.'
        : `This machine as the lab of ${formatTime(lab.startedAt)} measured it.`;
    output.line(`Not advised: ${refused.length} devices; --json says why. ${whence}`);
  },
};

/** The rules with the thresholds of a file, else those kept by the window. Throws InputError `input.rules`. */
async function rulesAsked(file: string | undefined, store: StoreService): Promise<Rules> {
  if (file === undefined) {
    return withThresholds(readThresholds(await store.getSetting({ key: thresholdsKey })).changes);
  }
  const hint = 'Write thresholds by name, such as {"below-crossover.speedup": 3}.';
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error, 'input.rules', hint);
  });
  let kept: unknown;
  try {
    kept = parseJson(text);
  } catch (error) {
    throw new InputError('input.rules', `${file} is no JSON: ${(error as Error).message}.`, hint, { cause: error });
  }
  const { changes, problems } = readThresholds(kept ?? []);
  if (problems.length > 0) throw new InputError('input.rules', `${file}: ${problems[0]}`, hint);
  return withThresholds(changes);
}

const recommendation = ({ seconds, meetsDeadline, meetsBudget, advised, ...given }: Recommendation): object => ({
  ...given,
  ...(advised && seconds ? { seconds: [seconds.low, seconds.high] } : {}),
  ...(meetsDeadline === undefined ? {} : { meets_deadline: meetsDeadline }),
  ...(meetsBudget === undefined ? {} : { meets_budget: meetsBudget }),
});
