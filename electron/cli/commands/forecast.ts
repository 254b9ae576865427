// `forecast`: the memory a model needs to be trained, and its time, energy and money on this machine and every device known. This
// machine is as its newest lab measured it; before the first it is guessed, and said to be.

import { usableCores } from '../../../engine/system/cores.ts';
import { energyText, moneyText } from '../../../engine/hardware/bill.ts';
import { forecast, largestHere, type DeviceForecast, type Forecast } from '../../../engine/hardware/forecast.ts';
import type { Subject } from '../../../engine/hardware/costs/familiar.ts';
import { about } from '../about.ts';
import { choiceOption, type Command } from '../command.ts';
import { electricityAsked, electricityHere, electricityOptions } from '../electricity.ts';
import { newestLab } from '../../../engine/hardware/machine.ts';
import { devicesHere } from '../machine-here.ts';
import { openCatalogue } from '../own-catalogue.ts';
import { subjectOption, subjectOptions } from '../forecast-subject.ts';
import { printSeveral, severalAsAsked, severalAsked, severalEvent, severalOptions } from '../several-report.ts';
import { printStages, stagesAsAsked, stagesAsked, stagesEvent } from '../stages-report.ts';
import { formatBytes, formatCount, formatTime, rangeText, type Output } from '../output.ts';
import { printTableForecast, tableAsked, tableOptions } from '../table-forecast.ts';

export const forecastCommand: Command = {
  ...about.forecast,
  positionals: [0, 0],
  options: {
    ...subjectOptions,
    ...tableOptions,
    precision: { type: 'string', value: 'float32|mixed16', help: 'numbers to compute with (default float32)' },
    ...severalOptions,
    ...electricityOptions,
  },
  run: async ({ options, output, services, interruption }) => {
    const precision = choiceOption(options, 'precision', ['float32', 'mixed16'] as const) ?? 'float32';
    const asked = electricityAsked(options);
    const together = severalAsked(options);
    const apart = stagesAsked(options);
    const table = await tableAsked(options, services);
    const subject = table ?? (await subjectOption(options, services));
    const { catalogue } = openCatalogue(services.home, output);
    const store = await services.store;
    const electricity = await electricityHere(store, asked);
    const lab = await newestLab(store);
    const here = devicesHere(lab, catalogue);
    if ('task' in subject) {
      const memoryBytes = here[0].memoryBytes;
      return printTableForecast(output, { asked: subject, catalogue, lab, memoryBytes, electricity });
    }
    const cores = usableCores();
    const spare = here.find(({ kind }) => kind === 'cpu')?.memoryBytes;
    const [found, most] = interruption.whileComputing(() => {
      const made = forecast(subject, { precision, catalogue, here, cores, ...electricity });
      return [made, spare ? largestHere(subject, made.textbook, cores, spare) : null] as const;
    });
    const { costs, memory, own, devices } = found;
    const many = together && severalAsAsked(found, catalogue, together);
    const laid = apart && stagesAsAsked(found, subject, catalogue, precision, apart);
    output.event({
      event: 'forecast',
      model: subject.name,
      batch: subject.batch,
      rows: subject.rows,
      precision,
      optimizer: subject.optimizer,
      parameters: costs.parameters,
      trained: costs.trained,
      memory: whole(memory),
      ...(own ? { memory_here: whole({ ...own, byLayer: undefined }) } : {}),
      ...(found.checkpointed
        ? {
            memory_here_checkpointing: whole({ ...found.checkpointed.memory, byLayer: undefined }),
            checkpointing_time: significant(found.checkpointed.time),
          }
        : {}),
      largest_batch: {
        ...Object.fromEntries(found.largestBatch.map(({ bytes, batch }) => [`${bytes / 1e9}GB`, batch])),
        here: most,
      },
      electricity,
      remedies: found.remedies.map(({ name, saves, time }) => ({ name, saves: Math.round(saves), time })),
      flops_per_example: Math.round(costs.flopsPerExample),
      devices: devices.map(deviceEvent),
      ...(laid ? { stages: stagesEvent(laid) } : {}),
      ...(many ? { several: severalEvent(many.device, subject.batch, many.several) } : {}),
    });
    if (output.json) return;
    print(output, subject, found, most);
    if (many) printSeveral(output, many.device, subject.batch, many.several);
    if (laid) printStages(output, laid);
    const rates = `${electricity.tariff} USD and ${electricity.grid} g CO₂ a kWh`;
    output.line(`Electricity: ${rates}, for each device alone, without the rest of its computer.`);
    output.line(
      lab === null
        ? 'This machine has not been measured: its row is a guess from its cores. `trainyard lab` measures it.'
        : `This machine as the lab of ${formatTime(lab.startedAt)} measured it.`,
    );
  },
};

/** Bytes as whole numbers; what is no number is left out. */
const whole = (bytes: object): object =>
  Object.fromEntries(
    Object.entries(bytes).flatMap(([name, value]) => (typeof value === 'number' ? [[name, Math.round(value)]] : [])),
  );

const significant = (value: number): number => Number(value.toPrecision(4));

function deviceEvent(device: DeviceForecast): object {
  const { id, name, fits, precision, basis, secondsPerEpoch, kwh, kilogramsCo2, cost, costBasis, offer } = device;
  return {
    id,
    name,
    fits,
    precision,
    basis,
    seconds_per_epoch: secondsPerEpoch.map(significant),
    kwh: kwh === null ? null : significant(kwh),
    kg_co2: kilogramsCo2 === null ? null : significant(kilogramsCo2),
    cost: cost === null ? null : significant(cost),
    cost_basis: costBasis,
    ...(offer ? { offer, devices_rented: device.rented } : {}),
  };
}

/** What the money is for; of an instance with several devices all are paid, though one trains. */
function payment({ offer, rented = 1, costBasis }: DeviceForecast): string {
  if (offer !== undefined) return rented > 1 ? `${offer}, all ${rented} paid` : offer;
  return costBasis === 'energy' ? 'its energy' : '–';
}

/** `8.2 GFLOP`, `21 kFLOP` */
function flopText(flops: number): string {
  const units = ['', 'k', 'M', 'G', 'T', 'P'];
  const step = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(flops) / 3)));
  return `${Number((flops / 1000 ** step).toPrecision(3))} ${units[step]}FLOP`;
}

function titleOf({ name, basis }: DeviceForecast): string {
  if (basis === 'data sheet') return name;
  return `here: ${name}${basis === 'estimate' ? ' (a guess)' : ''}`;
}

function print(
  output: Output,
  subject: Subject,
  { costs, memory, own, checkpointed, largestBatch, remedies, devices }: Forecast,
  mostHere: number | null,
): void {
  const { name, batch, rows, optimizer } = subject;
  output.line(
    `${name}: ${formatCount(costs.parameters)} parameters${costs.trained < costs.parameters ? `, ${formatCount(costs.trained)} of them trained` : ''}, ${flopText(costs.flopsPerExample)} an example in training`,
  );
  output.line(`batches of ${batch}, ${formatCount(rows)} rows an epoch, ${optimizer}`);
  output.line();
  const lines = [
    { what: 'PyTorch', ...memory, rest: '–' },
    ...(own ? [{ what: 'here', ...own, rest: formatBytes(own.workspace + own.rows) }] : []),
    ...(checkpointed
      ? [
          {
            what: 'here --checkpointing',
            ...checkpointed.memory,
            rest: formatBytes(checkpointed.memory.workspace + checkpointed.memory.rows),
          },
        ]
      : []),
  ];
  output.table(lines, [
    { title: 'memory', value: (line) => line.what },
    { title: 'parameters', value: (line) => formatBytes(line.parameters), right: true },
    { title: 'gradients', value: (line) => formatBytes(line.gradients), right: true },
    { title: 'optimizer', value: (line) => formatBytes(line.optimizer), right: true },
    { title: 'activations', value: (line) => formatBytes(line.activations), right: true },
    { title: 'rest', value: (line) => line.rest, right: true },
    { title: 'total', value: (line) => formatBytes(line.total), right: true },
  ]);
  if (own)
    output.line(`a whole run here adds ${formatBytes(own.run)} to its process, with checkpoints and best weights`);
  if (checkpointed)
    output.line(`gradient checkpointing: ${checkpointed.time.toFixed(2)} times the operations of a step`);
  const fitting = largestBatch.map(({ bytes, batch: most }) => `${formatCount(most)} in ${bytes / 1e9} GB`);
  output.line(`largest batch by PyTorch: ${fitting.join(', ')}`);
  if (mostHere !== null)
    output.line(`largest batch here, by ${subject.model ? 'Trainyard' : 'PyTorch'}: ${formatCount(mostHere)}`);
  for (const { name: remedy, text, saves, time } of remedies) {
    output.line(
      `  ${remedy} saves ${formatBytes(saves)}${time > 1 ? ` for ×${time.toFixed(2)} the time` : ''}: ${text}`,
    );
  }
  output.line();
  output.table(devices, [
    { title: 'device', value: titleOf },
    { title: 'in', value: (device) => (device.precision === 'mixed16' ? '16 bits' : 'float32') },
    { title: 'fits', value: (device) => (device.fits === null ? 'unknown' : device.fits ? 'yes' : 'no') },
    {
      title: 'an epoch',
      value: ({ secondsPerEpoch }) => rangeText(secondsPerEpoch),
      right: true,
    },
    { title: 'energy', value: ({ kwh }) => (kwh === null ? '–' : energyText(kwh)), right: true },
    { title: 'money', value: ({ cost }) => (cost === null ? '–' : moneyText(cost)), right: true },
    { title: 'for', value: payment },
  ]);
}
