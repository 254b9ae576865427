// A model and its training settings as plain JSON: what a person edits, a run stores and an export carries.
// Everything derived (shapes, parameter counts, graphs) is computed from these values and the input's description.

import type { ActivationName } from '../../kernels/activations.ts';

/** One layer: `type` names a LayerDef of the registry, the other fields are its arguments. */
export interface LayerSpec {
  readonly type: string;
  /** Name other layers refer to; also the prefix of its parameters. Default: its position. */
  readonly id?: string;
  /** Where the inputs come from; default: the layer before. `input` is the model's input. */
  readonly from?: string | readonly string[];
  readonly [argument: string]: unknown;
}

export interface ModelSpec {
  readonly version: 1;
  /** Preset this spec came from, if any: shown in the history. */
  readonly preset?: string;
  /** The last layer has to be `output`: a dense layer as wide as the target needs. */
  readonly layers: readonly LayerSpec[];
}

/** What the data feeds a model: fixed by the dataset's preprocessing. */
export type InputSpec =
  | {
      readonly kind: 'table';
      /** Columns of the row matrix: first `numeric` ready-made features, then one code column a category. */
      readonly width: number;
      readonly numeric: number;
      readonly embeddings: readonly EmbeddedColumn[];
    }
  | { readonly kind: 'image'; readonly channels: number; readonly height: number; readonly width: number };

/** A category column with too many values for one-hot: it gets a learned embedding. Code 0 = unknown or missing. */
export interface EmbeddedColumn {
  readonly name: string;
  readonly vocabulary: number;
  readonly dimensions: number;
}

/** What the model has to predict. */
export type OutputSpec =
  | { readonly kind: 'classes'; readonly classes: readonly string[] }
  /** Regression on a standardised target: real value = prediction · scale + offset. */
  | { readonly kind: 'value'; readonly name: string; readonly offset: number; readonly scale: number };

export type Task = 'classification' | 'regression';
export type LossName = 'cross_entropy' | 'binary_cross_entropy' | 'mse' | 'mae' | 'huber';
export type OptimizerName = 'adam' | 'adamw' | 'sgd' | 'rmsprop';
export type ScheduleName = 'constant' | 'step' | 'cosine' | 'one_cycle';
export type { ActivationName };

/** Changes made to the images of every training step, at random within these limits. All are off at 0 or false. */
export interface AugmentationSpec {
  /** Mirror half of the images. Not for digits and letters. */
  readonly flip: boolean;
  /** Shift by up to so many pixels each way. */
  readonly crop: number;
  /** Turn by up to so many degrees each way; at most 45. */
  readonly rotation: number;
  /** Enlarge or shrink by up to this share. */
  readonly zoom: number;
  /** Change by up to this share. */
  readonly brightness: number;
  readonly contrast: number;
  readonly saturation: number;
  /** Cover a square with sides of so many pixels (DeVries & Taylor 2017). */
  readonly cutout: number;
  /** Mix pairs of images, shares drawn from Beta(mixup, mixup) (Zhang et al. 2018). */
  readonly mixup: number;
}

export interface TrainingSpec {
  readonly epochs: number;
  readonly batch: number;
  readonly seed: number;
  readonly loss: 'auto' | LossName;
  readonly huberDelta: number;
  readonly labelSmoothing: number;
  /** `balanced`: each class weighs the inverse of its share in the training split. */
  readonly classWeights: 'none' | 'balanced';
  readonly optimizer: {
    readonly name: OptimizerName;
    readonly learningRate: number;
    /**
     * As PyTorch's `weight_decay`. AdamW takes weightDecay × learning rate off each weight at each step; the others add
     * weightDecay × weight to its gradient.
     */
    readonly weightDecay: number;
    readonly momentum: number;
    readonly nesterov: boolean;
    readonly beta1: number;
    readonly beta2: number;
    readonly epsilon: number;
    /** RMSProp's smoothing. */
    readonly alpha: number;
  };
  /** Largest global gradient norm; 0 = no clipping. */
  readonly clipNorm: number;
  readonly schedule: {
    readonly name: ScheduleName;
    /** Epochs of linear warm-up before the schedule proper. */
    readonly warmupEpochs: number;
    /** `step`: every so many epochs multiply by gamma. */
    readonly stepEpochs: number;
    readonly gamma: number;
    /** Lowest learning rate of cosine, as a share of the highest. */
    readonly finalShare: number;
  };
  readonly earlyStopping: {
    readonly enabled: boolean;
    /** Epochs without improvement of the validation loss. */
    readonly patience: number;
    readonly minimumDelta: number;
  };
  /** Images only; absent = images as they are. */
  readonly augmentation?: AugmentationSpec;
}
