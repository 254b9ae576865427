// Changes made to the pictures of every training step, at random within these limits. All are off at 0 or false.

import { fieldsFor, type SettingsOf } from './field.ts';
import { largestSide } from './reading.ts';
import type { TrainedOn } from './training.ts';
import { quietOf } from './values.ts';

type Pictures = NonNullable<TrainedOn['pictures']>;

const shorter = ({ height, width }: Pictures): number => Math.min(height, width);
const inColour = ({ pictures }: TrainedOn): boolean => (pictures?.channels ?? 1) > 1;

export const augmentationFields = fieldsFor<TrainedOn>()({
  // Grey images are digits, letters and scans more often than not: mirrored ones would be wrong.
  flip: { kind: 'switch', label: 'Mirror half of them', help: 'mirror half of them', quiet: false, default: inColour },
  crop: {
    kind: 'number',
    whole: true,
    label: 'Shift, pixels',
    help: 'shift by up to so many pixels each way',
    minimum: 0,
    maximum: largestSide,
    most: ({ pictures }) => (pictures ? Math.floor(shorter(pictures) / 2) : largestSide),
    quiet: 0,
    default: (data) => (data.pictures ? Math.round(shorter(data.pictures) / (inColour(data) ? 8 : 14)) : 0),
  },
  rotation: {
    kind: 'number',
    label: 'Turn, degrees',
    help: 'turn by up to so many degrees each way',
    minimum: 0,
    maximum: 45,
    quiet: 0,
    default: 0,
  },
  zoom: {
    kind: 'number',
    label: 'Zoom, share',
    help: 'enlarge or shrink by up to this share',
    minimum: 0,
    maximum: 0.9,
    quiet: 0,
    default: 0,
  },
  brightness: {
    kind: 'number',
    label: 'Brightness, share',
    help: 'change by up to this share',
    minimum: 0,
    maximum: 1,
    quiet: 0,
    default: 0,
  },
  contrast: {
    kind: 'number',
    label: 'Contrast, share',
    help: 'change by up to this share',
    minimum: 0,
    maximum: 1,
    quiet: 0,
    default: 0,
  },
  saturation: {
    kind: 'number',
    label: 'Saturation, share',
    help: 'change by up to this share',
    minimum: 0,
    maximum: 1,
    fits: inColour,
    quiet: 0,
    default: 0,
  },
  // DeVries & Taylor 2017.
  cutout: {
    kind: 'number',
    whole: true,
    label: 'Cover a square, pixels',
    help: 'cover a square with sides of so many pixels',
    minimum: 0,
    maximum: largestSide,
    most: ({ pictures }) => (pictures ? shorter(pictures) : largestSide),
    quiet: 0,
    default: (data) => (data.pictures && inColour(data) ? Math.round(shorter(data.pictures) / 4) : 0),
  },
  // Shares drawn from Beta(mixup, mixup) (Zhang et al. 2018).
  mixup: {
    kind: 'number',
    label: 'Mix pairs (mixup)',
    help: 'mix pairs of images',
    minimum: 0,
    maximum: 2,
    quiet: 0,
    default: 0,
  },
});

export type AugmentationSpec = SettingsOf<typeof augmentationFields>;

/** Pictures as they are. */
export const noAugmentation: AugmentationSpec = quietOf(augmentationFields);
