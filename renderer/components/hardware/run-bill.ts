// What an ended run has cost, as figures of its page: energy and money at the person's own tariff, and the memory it took beside the
// forecast of its plan.

import type { AppService } from '../../../engine/protocol/app.ts';
import { carbonText, costOf, energyText, moneyText } from '../../../engine/hardware/bill.ts';
import { planMemory } from '../../../engine/hardware/memory-forecast.ts';
import { isNetwork } from '../../../engine/learners/network/declaration.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { bytes } from '../../lib/format.ts';
import { readKnowledge } from './knowledge.ts';

export interface BillFigure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  /** How it was found. */
  readonly how: string;
}

/** None where the run is of a version that kept no bill. */
export async function billFigures(service: AppService, run: RunRecord): Promise<readonly BillFigure[]> {
  const bill = run.progress?.bill;
  if (!bill) return [];
  const [{ catalogue, electricity }, forecast] = await Promise.all([
    readKnowledge(service),
    forecastBytes(service, run),
  ]);
  const cost = costOf(bill, electricity, catalogue);
  const rates = `At ${electricity.tariff} USD and ${electricity.grid} g CO₂ a kWh: change them in Hardware.`;
  const energy: BillFigure =
    cost === null
      ? { name: 'Energy', value: '–', note: '', how: `The power of ${bill.deviceName ?? 'its GPU'} is not known.` }
      : {
          name: `Energy, ${cost.source}`,
          value: energyText(cost.kilowattHours),
          note: moneyText(cost.money),
          how: `${cost.how} ${carbonText(cost.carbon)}. ${rates}`,
        };
  if (bill.deviceBytes === undefined) return [energy];
  return [
    energy,
    {
      name: 'Memory',
      value: bytes(bill.deviceBytes),
      note: forecast === null ? '' : `forecast ${bytes(forecast)}`,
      how: 'Allocated on the device for model and rows; the forecast is that of the plan.',
    },
  ];
}

/** Null where there is none: a linear model, a dataset that is gone, a GPU whose limits are not known here. */
async function forecastBytes(
  service: AppService,
  { config, data, threads, device, name }: RunRecord,
): Promise<number | null> {
  if (!isNetwork(config) || !data || !device.startsWith('cpu')) return null;
  try {
    const { input, output } = await service.datasetShape({ dataset: config.dataset, settings: config.settings });
    const model = { name, spec: config.model, input, output, training: { ...config.training, seed: config.seed } };
    return planMemory(model, data.counts, { kind: 'cpu', cores: threads }).memory.total;
  } catch {
    return null;
  }
}
