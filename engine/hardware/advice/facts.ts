// What advice rests on: a person's needs, and facts that others measured or forecast. Times in seconds, memory in bytes, USD.

export interface Needs {
  /** Seconds until it has to be done. */
  readonly deadline?: number;
  /** USD for this training. */
  readonly budget?: number;
  /** The data must not leave this machine or one's own rooms. */
  readonly private?: boolean;
  /** Hours a week of such training; from the history where it is known. */
  readonly hoursPerWeek?: number;
  /** It may be cut off and go on. */
  readonly interruptible?: boolean;
  /** Not said: `usualFirst`. */
  readonly first?: 'time' | 'money' | 'energy';
}

/** What comes first for whoever says nothing, in the window and on the command line. */
export const usualFirst = 'money' satisfies Needs['first'];

/** A forecast or measurement: `low ≤ middle ≤ high`. */
export interface Range {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** The whole training on one device. */
export interface DeviceFact {
  readonly id: string;
  readonly name: string;
  readonly kind: 'cpu' | 'gpu' | 'tpu' | 'asic' | 'edge' | 'fpga' | 'neuromorphic';
  readonly use: 'training' | 'inference' | 'research';
  readonly seconds: Range;
  /** Bytes of its memory, free where that is known; 0: not known. */
  readonly memory: number;
  readonly bandwidth?: number;
  readonly unified?: boolean;
  readonly watts?: number;
  /** Figures it rests on are remembered or disputed: never advised. */
  readonly doubtful?: boolean;
  /** An adapter in software: never advised. */
  readonly software?: boolean;
  /** USD to buy. */
  readonly price?: number;
  readonly rent?: {
    readonly offer: string;
    readonly perHour: number;
    readonly spotPerHour?: number;
    readonly free?: boolean;
    readonly stale?: boolean;
  };
  /** Instances with several of them, let whole: the least price for each number. */
  readonly boxes?: readonly { readonly count: number; readonly perHour: number; readonly offer: string }[];
  /** Bytes that training needs on it, in the numbers that it computes with; absent: `memoryNeeded`. */
  readonly needed?: number;
  /** What it computes in, where that is not what was asked for. */
  readonly otherNumbers?: '16 bits' | 'float32';
}

/** Whether a person can have it: to rent, or to buy; where data must not leave, to buy. */
export const canBeHad = ({ price, rent, boxes = [] }: DeviceFact, secret: boolean | undefined): boolean =>
  price !== undefined || (secret !== true && (rent !== undefined || boxes.length > 0));

/** Bytes that training needs on a device. */
export const neededOn = ({ memoryNeeded }: Facts, { needed = memoryNeeded }: DeviceFact): number => needed;

/** A batch over 1, 2, … of a device. */
export interface Together {
  /** What joins them. */
  readonly link: string;
  readonly points: readonly {
    /** Times as fast, by examples, as one of them with the batch at hand. */
    readonly speedup: number;
    /** Speed-up a device, against one of them with this batch. */
    readonly efficiency: number;
    /** Bytes that each of them needs. */
    readonly needed: number;
  }[];
}

export interface Facts {
  readonly model: 'network' | 'linear' | 'trees';
  readonly rows: number;
  /** This machine's CPU, and its GPU where there is one. */
  readonly cpu: DeviceFact;
  /** Its memory holds the model; absent: not known. */
  readonly cpuFits?: boolean;
  readonly gpu?: DeviceFact;
  /** Devices of the catalogue. */
  readonly others: readonly DeviceFact[];
  /** Bytes that training needs, in the numbers that were asked for. */
  readonly memoryNeeded: number;
  /** Bytes of weights, gradients and optimizer state among them: what can be shared out. */
  readonly stateBytes?: number;
  /** What saves memory, cheapest in quality and time first. */
  readonly savings?: readonly { readonly name: string; readonly bytes: number; readonly timeFactor: number }[];
  readonly stepFlops: number;
  /** FLOP a step from which the GPU here wins. */
  readonly crossoverFlops?: number;
  /** Share of training that waited for rows, share of all work that went into checkpoints, and the runs whose bills say so. */
  readonly dataWait?: number;
  readonly checkpointShare?: number;
  readonly waitedRuns?: number;
  readonly batch?: number;
  /** Batch at which the GPU's throughput gains less than a tenth from doubling it. */
  readonly saturationBatch?: number;
  readonly criticalBatch?: number;
  /** Which devices they are, and what joins them. */
  readonly several?: { readonly on: string; readonly link: string };
  /** Efficiency of 1, 2, … of the fastest device that can be had. */
  readonly efficiencies?: readonly number[];
  /** A device with this batch, alone and several; null: it cannot be planned. A function: only who asks waits for the plan. */
  readonly together?: (device: DeviceFact, batch: number) => Together | null;
  /** Minutes to write a checkpoint, hours between interruptions. */
  readonly checkpointMinutes?: number;
  readonly hoursBetweenInterruptions?: number;
  /** USD a kWh. */
  readonly tariff?: number;
}

/** The view that a number comes from. */
export type LinkKey = 'lab' | 'crossover' | 'memory' | 'cost' | 'rent' | 'several' | 'data' | 'catalogue';

export interface Reason {
  readonly text: string;
  /** The number that decided, and the threshold it passed. */
  readonly value?: number;
  readonly threshold?: number;
  readonly unit?: string;
  readonly link: LinkKey;
}

export interface Recommendation {
  /** From 1; those not advised have 0. */
  readonly rank: number;
  readonly advised: boolean;
  /** The rule that fired; '' where none is to blame but the device. */
  readonly rule: string;
  readonly title: string;
  readonly device: string | null;
  readonly reasons: readonly Reason[];
  readonly seconds?: Range;
  readonly money?: number;
  readonly meetsDeadline?: boolean;
  readonly meetsBudget?: boolean;
  /** What would change the answer. */
  readonly changes: readonly Reason[];
}
