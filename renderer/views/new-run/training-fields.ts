// The training settings as the form shows them: labels, limits, choices, and which ones stand under "Advanced".

import type { LossName, OptimizerName, ScheduleName, TrainingSpec } from '../../../engine/model/spec.ts';

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

export const optimizers: readonly Choice<OptimizerName>[] = [
  { value: 'adamw', label: 'AdamW' },
  { value: 'adam', label: 'Adam' },
  { value: 'sgd', label: 'SGD' },
  { value: 'rmsprop', label: 'RMSProp' },
];

export const schedules: readonly Choice<ScheduleName>[] = [
  { value: 'constant', label: 'Constant' },
  { value: 'cosine', label: 'Cosine' },
  { value: 'one_cycle', label: 'One cycle' },
  { value: 'step', label: 'Steps' },
];

/** Losses that fit the task. */
export function lossesFor(kind: 'classes' | 'value', classes: number): readonly Choice<'auto' | LossName>[] {
  const auto = { value: 'auto', label: 'By the task' } as const;
  if (kind === 'value') {
    return [
      auto,
      { value: 'mse', label: 'Mean square error' },
      { value: 'mae', label: 'Mean absolute error' },
      { value: 'huber', label: 'Huber' },
    ];
  }
  return [
    auto,
    { value: 'cross_entropy', label: 'Cross-entropy' },
    ...(classes === 2 ? [{ value: 'binary_cross_entropy', label: 'Binary cross-entropy' } as const] : []),
  ];
}

export interface NumberSetting {
  readonly label: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly whole?: boolean;
  /** What the number is relative to, where its name does not say it. */
  readonly hint?: (training: TrainingSpec) => string;
  /** Shown only where it has an effect. */
  readonly applies?: (training: TrainingSpec) => boolean;
  readonly read: (training: TrainingSpec) => number;
  readonly write: (training: TrainingSpec, value: number) => Partial<TrainingSpec>;
}

type Group = 'optimizer' | 'schedule' | 'earlyStopping';

/** A number within one of the groups of the settings. */
function within<G extends Group>(
  group: G,
  name: keyof TrainingSpec[G] & string,
  rest: Pick<NumberSetting, 'label' | 'minimum' | 'maximum' | 'whole' | 'hint' | 'applies'>,
): NumberSetting {
  return {
    ...rest,
    read: (training) => Number(training[group][name]),
    write: (training, value) => ({ [group]: { ...training[group], [name]: value } }),
  };
}

/** A number that stands by itself. */
function own(
  name: 'epochs' | 'batch' | 'seed' | 'huberDelta' | 'labelSmoothing' | 'clipNorm',
  rest: Pick<NumberSetting, 'label' | 'minimum' | 'maximum' | 'whole' | 'applies'>,
): NumberSetting {
  return { ...rest, read: (training) => training[name], write: (_, value) => ({ [name]: value }) };
}

const optimizedBy =
  (...names: readonly OptimizerName[]) =>
  (training: TrainingSpec): boolean =>
    names.includes(training.optimizer.name);
const scheduledBy =
  (...names: readonly ScheduleName[]) =>
  (training: TrainingSpec): boolean =>
    names.includes(training.schedule.name);

export const learningRate = within('optimizer', 'learningRate', {
  label: 'Learning rate',
  minimum: 1e-9,
  maximum: 100,
});
export const batch = own('batch', { label: 'Batch size', minimum: 1, maximum: 65536, whole: true });
export const epochs = own('epochs', { label: 'Epochs', minimum: 1, maximum: 100_000, whole: true });
export const seed = own('seed', { label: 'Seed', minimum: 0, maximum: 2 ** 31 - 1, whole: true });
export const patience = within('earlyStopping', 'patience', {
  label: 'Epochs without gain',
  minimum: 1,
  maximum: 100_000,
  whole: true,
  applies: (training) => training.earlyStopping.enabled,
});

export const advanced: readonly NumberSetting[] = [
  within('optimizer', 'weightDecay', {
    label: 'Weight decay',
    minimum: 0,
    maximum: 10,
    hint: ({ optimizer }) =>
      optimizer.name === 'adamw'
        ? '× learning rate off each weight a step; PyTorch’s weight_decay'
        : '× weight, added to the gradient',
  }),
  within('optimizer', 'momentum', {
    label: 'Momentum',
    minimum: 0,
    maximum: 0.9999,
    applies: optimizedBy('sgd', 'rmsprop'),
  }),
  within('optimizer', 'beta1', { label: 'Beta 1', minimum: 0, maximum: 0.9999, applies: optimizedBy('adam', 'adamw') }),
  within('optimizer', 'beta2', {
    label: 'Beta 2',
    minimum: 0,
    maximum: 0.999999,
    applies: optimizedBy('adam', 'adamw'),
  }),
  within('optimizer', 'alpha', {
    label: 'Smoothing (alpha)',
    minimum: 0,
    maximum: 0.999999,
    applies: optimizedBy('rmsprop'),
  }),
  within('optimizer', 'epsilon', {
    label: 'Epsilon',
    minimum: 1e-12,
    maximum: 1,
    applies: optimizedBy('adam', 'adamw', 'rmsprop'),
  }),
  own('clipNorm', { label: 'Clip gradients at (0: never)', minimum: 0, maximum: 1e6 }),
  within('schedule', 'warmupEpochs', { label: 'Warm-up epochs', minimum: 0, maximum: 1000 }),
  within('schedule', 'stepEpochs', {
    label: 'Epochs a step',
    minimum: 1,
    maximum: 100_000,
    whole: true,
    applies: scheduledBy('step'),
  }),
  within('schedule', 'gamma', { label: 'Factor a step', minimum: 1e-6, maximum: 1, applies: scheduledBy('step') }),
  within('schedule', 'finalShare', {
    label: 'Last share of the rate',
    minimum: 0,
    maximum: 1,
    applies: scheduledBy('cosine'),
  }),
  own('labelSmoothing', {
    label: 'Label smoothing',
    minimum: 0,
    maximum: 0.9,
    applies: ({ loss }) => loss === 'auto' || loss === 'cross_entropy',
  }),
  own('huberDelta', { label: 'Huber delta', minimum: 1e-6, maximum: 1e6, applies: ({ loss }) => loss === 'huber' }),
  within('earlyStopping', 'minimumDelta', {
    label: 'Smallest gain that counts',
    minimum: 0,
    maximum: 1e6,
    applies: (training) => training.earlyStopping.enabled,
  }),
];
