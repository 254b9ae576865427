// The lessons, in the order to read them: each is the arithmetic of one idea with the figures of this machine.

import type { ClaimTest } from '../claims/claim.ts';
import { laws, split } from './cores.ts';
import { bandwidth, batch, bits, small, throughput } from './devices.ts';
import type { Lesson } from './lesson.ts';

export const lessons: readonly Lesson[] = [split, throughput, bandwidth, batch, small, bits, laws];

/** The lesson that a claim leads to. */
const lessonsOfTests: Readonly<Partial<Record<ClaimTest, string>>> = {
  cores: 'split',
  serial: 'split',
  parallel: 'amdahl',
  lanes: 'split',
  'product-time': 'split',
  'latency-throughput': 'latency',
  bandwidth: 'bandwidth',
  'matrix-vector': 'bandwidth',
  ratio: 'small',
  'small-work': 'small',
  'training-time': 'batch',
  'resnet-memory': 'batch',
  'sixteen-bits': 'bits',
  'state-bytes': 'bits',
  'scaling-out': 'amdahl',
};

export const lessonOf = (test: ClaimTest): Lesson | null =>
  lessons.find(({ id }) => id === lessonsOfTests[test]) ?? null;
