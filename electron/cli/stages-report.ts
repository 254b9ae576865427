// What `forecast --stages` says: the layers of a model over several devices of a kind, on paper.

import type { Catalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import type { Subject } from '../../engine/hardware/costs/familiar.ts';
import { stepOn, type Forecast } from '../../engine/hardware/forecast.ts';
import { linkOf, type Link } from '../../engine/hardware/several.ts';
import { placedLayers, stagesOf, type Stages } from '../../engine/hardware/stages.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { numberOption, textOption, type OptionValues } from './command.ts';
import { formatBytes, type Output } from './output.ts';
import { deviceAsked, linkAsked } from './several-report.ts';

interface Laid {
  readonly device: string;
  readonly link: Link;
  readonly found: Stages;
}

/** What the flags ask for; null: nothing. Throws InputError. */
export function stagesAsked(options: OptionValues) {
  const devices = numberOption(options, 'stages', { minimum: 1, maximum: 1024, whole: true });
  if (devices === undefined) return null;
  return { devices, on: textOption(options, 'on'), link: linkAsked(textOption(options, 'interconnect')) };
}

/** Throws InputError for a device that is not in the catalogue, a model known by its sizes alone, fewer layers than devices. */
export function stagesAsAsked(
  forecast: Forecast,
  subject: Subject,
  catalogue: Catalogue,
  precision: 'float32' | 'mixed16',
  { devices, on, link: asked }: NonNullable<ReturnType<typeof stagesAsked>>,
): Laid {
  const { id, name } = deviceAsked(forecast, catalogue, on);
  const row = catalogue.devices.find((one) => one.id === id);
  if (!row) throw new InputError('usage.on', `${name} is not in the catalogue.`, '--on takes one that is.');
  const link = asked ?? linkOf(row);
  const placed = placedLayers(subject, (calls) => {
    const { seconds = 0, by } = stepOn({ calls }, row, precision) ?? {};
    return { seconds, starts: by?.launch ?? 0 };
  });
  const most = placed?.layers.length ?? 0;
  if (placed && devices <= most) {
    const found = stagesOf(placed.layers, placed.inputBytes, { devices, batch: subject.batch, link });
    return { device: name, link, found };
  }
  const why = placed ? `has ${most} layers, fewer than ${devices}` : 'is known by its sizes alone, not layer by layer';
  throw new InputError('usage.stages', `${subject.name} ${why}.`, 'Take fewer devices, or a preset, a file or a run.');
}

const significant = (value: number): number => Number(value.toPrecision(4));

export const stagesEvent = ({ device, link, found: { stages, atOnce, parts, piped, waiting } }: Laid): object => ({
  device,
  interconnect: link.name,
  step_at_once_seconds: significant(atOnce),
  parts,
  step_piped_seconds: significant(piped),
  waiting: significant(waiting),
  stages: stages.map(({ seconds, starts, parameterBytes, keptBytes, crossing, ...stage }) => ({
    ...stage,
    seconds: significant(seconds),
    start_seconds: significant(starts),
    parameter_bytes: parameterBytes,
    kept_bytes: keptBytes,
    crossing_bytes: crossing,
  })),
});

export function printStages(output: Output, { device, link, found }: Laid): void {
  const { stages, atOnce, parts, piped, waiting } = found;
  const milliseconds = (seconds: number): string => `${Number((1000 * seconds).toPrecision(3))} ms`;
  output.line();
  output.line(`The layers over ${stages.length} × ${device}, joined by ${link.name}:`);
  output.table(stages, [
    { title: 'layers', value: ({ from, to, layers }) => (layers === 1 ? from : `${from} … ${to}`) },
    { title: 'work a step', value: ({ seconds }) => milliseconds(seconds), right: true },
    { title: 'weights', value: ({ parameterBytes }) => formatBytes(parameterBytes), right: true },
    { title: 'activations', value: ({ keptBytes }) => formatBytes(keptBytes), right: true },
    { title: 'crosses behind it', value: ({ crossing }) => (crossing ? formatBytes(crossing) : '–'), right: true },
  ]);
  const whole = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  output.line(
    `A step: ${milliseconds(whole)} on one, if it fitted; ${milliseconds(atOnce)} with the batch at once; ` +
      `${milliseconds(piped)} in ${parts} parts one behind the other, of which ${Math.round(100 * waiting)} % is filling and draining.`,
  );
  output.line('On paper: nothing here trains in this way.');
}
