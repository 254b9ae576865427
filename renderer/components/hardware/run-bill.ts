// What an ended run has cost, as figures of its page: its time and memory beside what is forecast of them, energy and money at the
// person's own tariff.

import type { AppService } from '../../../engine/protocol/app.ts';
import { costOf } from '../../../engine/hardware/bill.ts';
import { isNetwork } from '../../../engine/learners/network/declaration.ts';
import { phaseWord, secondsOfPhases, type RunBill } from '../../../engine/protocol/bill.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { costsOfModel, type ModelAtHand } from '../../../engine/hardware/costs/from-model.ts';
import { aroundRuns, ownEpochs, runSeconds } from '../../../engine/hardware/run-time.ts';
import { isMeasured, learnerSpeed, tableSeconds } from '../../../engine/hardware/tables/speed.ts';
import { taskOfTable } from '../../../engine/hardware/tables/task.ts';
import { isTableModel } from '../../../engine/hardware/tables/work.ts';
import type { AppState } from '../../app/state.svelte.ts';
import { duration, plain, regional } from '../../lib/format.ts';
import { about, carbonText, energyText, moneyText } from './figures.ts';
import { readKnowledge, type Knowledge } from './knowledge.ts';
import { Machine } from './machine.svelte.ts';
import { memoryFigure, memoryOfRun, rowsFigure } from './run-memory.ts';

export interface BillFigure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  /** How it was found. */
  readonly how: string;
}

/** None where the run is of a version that kept no bill. */
export async function billFigures(app: AppState, run: RunRecord): Promise<readonly BillFigure[]> {
  const bill = run.progress?.bill;
  if (!bill) return [];
  const { service } = app;
  const [knowledge, model] = await Promise.all([readKnowledge(service), modelOf(service, run)]);
  const { catalogue, electricity } = knowledge;
  const forecast = model === null ? null : memoryOfRun(model, run, navigator.hardwareConcurrency);
  const time = await timeFigure(app, knowledge, run, bill, model);
  const cost = costOf(bill, electricity, catalogue);
  const rates = `At ${plain(electricity.tariff)} USD and ${plain(electricity.grid)} g CO₂ a kWh: change them in Hardware.`;
  const energy: BillFigure =
    cost === null
      ? { name: 'Energy', value: '–', note: '', how: `The power of ${bill.deviceName ?? 'its GPU'} is not known.` }
      : {
          name: `Energy, ${cost.source}`,
          value: energyText(cost.kilowattHours),
          note: moneyText(cost.money),
          how: `${regional(cost.how)} ${carbonText(cost.carbon)}. ${rates}`,
        };
  if (bill.deviceBytes === undefined) return [time, energy];
  return [time, energy, isNetwork(run.config) ? memoryFigure(bill, forecast) : rowsFigure(bill)];
}

/** What it took from start to end, and what is forecast of the epochs it ran, by what this machine is known for now. */
async function timeFigure(
  app: AppState,
  { catalogue }: Knowledge,
  run: RunRecord,
  { phases }: RunBill,
  model: ModelAtHand | null,
): Promise<BillFigure> {
  const { id, data, device, progress } = run;
  const parts = Object.entries(phases).map(([phase, spent]) => `${phaseWord(phase)} ${duration(spent)}`);
  const figure = {
    name: 'Time, all phases',
    value: duration(secondsOfPhases(phases)),
    note: '',
    how: `${parts.join(', ')}.`,
  };
  // A member has a model a fold, and counts folds where others count epochs or trees.
  if (!data || !progress || run.relation === 'member') return figure;
  const machine = new Machine(app);
  const [bills] = await Promise.all([app.service.bills(), machine.load()]);
  if (model === null) return (await tableFigure(app, run, machine, figure)) ?? figure;
  const kind = device.startsWith('gpu') ? 'gpu' : 'cpu';
  const known = machine.devices(catalogue).find((one) => one.kind === kind);
  if (!known) return figure;
  const { train: rows, validation } = data.counts;
  const around = aroundRuns(bills.filter(({ run }) => run !== id));
  try {
    const batch = Math.min(model.training.batch, rows);
    const costs = costsOfModel({ ...model, training: { ...model.training, batch, accumulate: 1 } });
    const epochs = ownEpochs(run, progress, Math.ceil(rows / batch));
    const said = runSeconds({ costs, rows, validation, epochs, around }, known);
    const basis = known.measured ? 'from the last lab' : 'guessed: this machine has not been measured';
    return { ...figure, note: `forecast ${about(said)}`, how: `${figure.how} The forecast is ${basis}.` };
  } catch {
    // A model of an earlier version that cannot be planned any more has no forecast.
    return figure;
  }
}

/** The same of trees and linear models, by the trees that were grown; null where there is no forecast. */
async function tableFigure(
  { service }: AppState,
  run: RunRecord,
  { lab }: Machine,
  figure: BillFigure,
): Promise<BillFigure | null> {
  const { id, config, data, progress } = run;
  if (!isTableModel(config) || !data || !progress) return null;
  const [bills, datasets] = await Promise.all([service.bills(), service.datasets()]);
  const info = datasets.find((one) => one.id === config.dataset);
  if (!info) return null;
  const described = { ...info, settings: config.settings, target: config.settings.target ?? info.target };
  const speed = learnerSpeed(lab?.devices ?? [], navigator.hardwareConcurrency);
  const around = aroundRuns(bills.filter(({ run }) => run !== id)).cpu;
  const said = tableSeconds(taskOfTable(config, described, data.counts, ownEpochs(run, progress)), speed, around);
  const basis = isMeasured(speed, config)
    ? 'from the last lab'
    : 'guessed: no lab has timed such models on this machine';
  return { ...figure, note: `forecast ${about(said)}`, how: `${figure.how} The forecast is ${basis}.` };
}

/** Null where there is no plan: a linear model, a dataset that is gone. */
async function modelOf(service: AppService, { config, name }: RunRecord): Promise<ModelAtHand | null> {
  if (!isNetwork(config)) return null;
  try {
    const { input, output } = await service.datasetShape({ dataset: config.dataset, settings: config.settings });
    return { name, spec: config.model, input, output, training: { ...config.training, seed: config.seed } };
  } catch {
    return null;
  }
}
