// The curves of a roofline: roofs measured or, before anything was, by data sheet; and a point for each layer and way.

import type { Curve } from '../../../components/chart/curves.ts';
import { attainable, ridge, type Roof } from '../../../../engine/hardware/formulas/roofline.ts';
import type { UnmeasuredRoof } from '../../../../engine/hardware/machine.ts';
import type { LabDevice } from '../../../../engine/protocol/lab.ts';
import { deviceLook, shortWords } from '../lab/reading.ts';
import type { RoofDevice, RooflinePage } from './page.svelte.ts';
import type { RoofPoint, StepApart } from './parts.ts';

/** FLOP a byte of the axis. */
export const { minimum, maximum } = { minimum: 1 / 16, maximum: 1024 };
const intensities = Array.from({ length: 57 }, (_, i) => minimum * 2 ** (i / 4));
export const inside = (value: number): number => Math.min(maximum, Math.max(minimum, value));

function lineOf(roof: Roof): Pick<Curve, 'x' | 'y'> {
  // The ridge itself is on the line, so that its corner is one.
  const x = [...intensities, inside(ridge(roof))].sort((a, b) => a - b);
  return { x, y: x.map((intensity) => attainable(intensity, roof)) };
}

function roofCurve({ id, words, lab, roof }: RoofDevice, own: boolean): Curve {
  const { token, dash } = deviceLook(lab);
  return {
    id: `roof-${id}`,
    label: words,
    short: shortWords(lab),
    token,
    dash: own ? [] : dash,
    width: own ? 2 : 1.2,
    ...lineOf(roof),
  };
}

export const unmeasuredLabel = ({ kind, source }: UnmeasuredRoof): string =>
  `${kind.toUpperCase()}, ${source === 'vendor' ? 'vendor' : 'guessed'}`;
/** What the dashed lines are. */
export const unmeasuredNote = (devices: readonly UnmeasuredRoof[]): string =>
  [
    ...(devices.some(({ source }) => source === 'vendor') ? ['vendor'] : []),
    ...(devices.some(({ source }) => source === 'guessed') ? ['guessed from the cores'] : []),
    'not measured',
  ].join(', ');

/** Dashed: nothing was measured. */
function unmeasuredCurve(device: UnmeasuredRoof): Curve {
  const { id, kind, roof } = device;
  return { id: `roof-${id}`, label: unmeasuredLabel(device), token: kind, dash: [6, 4], width: 1.4, ...lineOf(roof) };
}

/** The roof of the chosen device before those of the others; all dashed where nothing was measured. */
export function roofCurves({
  device,
  devices,
  unmeasured,
}: Pick<RooflinePage, 'device' | 'devices' | 'unmeasured'>): readonly Curve[] {
  if (!device) return unmeasured.map(unmeasuredCurve);
  const others = devices.filter((one) => one !== device && one.id !== 'cpu-wasm');
  return [roofCurve(device, true), ...others.map((one) => roofCurve(one, false))];
}

/** A point of each part that is taken, in the colour of its device. */
export function pointCurve(
  id: string,
  label: string,
  step: StepApart,
  lab: LabDevice | undefined,
  take: (point: RoofPoint) => boolean,
  look: Partial<Curve>,
): Curve {
  const points = step.points.filter(take);
  return {
    id,
    label,
    token: lab ? deviceLook(lab).token : 'cpu',
    dash: [],
    line: false,
    x: points.map(({ intensity }) => inside(intensity)),
    y: points.map(({ rate }) => rate),
    names: points.map(({ name }) => name),
    // Area: share of the step.
    radii: points.map(({ share }) => 3 + 13 * Math.sqrt(Math.min(1, share))),
    ...look,
  };
}

const isForward = ({ phase }: RoofPoint): boolean => phase === 'forward';

/** Forward discs, backward triangles. */
export const stepCurves = (step: StepApart, lab: LabDevice | undefined): readonly Curve[] => [
  pointCurve('forward', 'forward', step, lab, isForward, { points: 'disc' }),
  pointCurve('backward', 'backward, update', step, lab, (point) => !isForward(point), {
    points: 'triangle',
    hollow: true,
  }),
];
