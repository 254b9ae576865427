// What a CPU host offers beside training: predictions with a finished run, and a description of its device.

import type { DeviceInfo } from './app.ts';
import type { PreparedData } from './data.ts';
import type { ClassifiedPictures } from './evaluation.ts';

export interface PredictorService {
  /**
   * Predicts all rows of prepared data with the files of a run (`model.json`, `best.safetensors`).
   * Returns a table as CSV: row number, prediction, a probability a class.
   */
  predict(request: {
    run: number;
    model: string;
    weights: Uint8Array;
    data: PreparedData;
  }): Promise<{ rows: number; csv: string }>;
}

export interface ClassifierService {
  /** Says what prepared pictures are, with the files of a run, and where it looked. */
  classify(request: {
    run: number;
    model: string;
    weights: Uint8Array;
    data: PreparedData;
  }): Promise<Omit<ClassifiedPictures, 'total' | 'notes'>>;
}

export interface DeviceService {
  devices(): Promise<readonly DeviceInfo[]>;
}
