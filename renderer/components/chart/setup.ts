// The one place that knows Chart.js: what is registered, and the options every chart starts from.

import { Chart, LinearScale, LineController, LineElement, LogarithmicScale, PointElement } from 'chart.js';
import type { ChartConfiguration, ChartDataset, Plugin } from 'chart.js';
import zoom from 'chartjs-plugin-zoom';
import { fixed, short } from '../../lib/format.ts';
import type { DrawnCurve, Drawing } from './drawing.ts';
import type { Range } from './curves.ts';

Chart.register(LineController, LineElement, PointElement, LinearScale, LogarithmicScale, zoom);

export type LineChart = Chart<'line'>;

export interface Axes {
  readonly x: Range;
  readonly y: Range;
  readonly logarithmic: boolean;
  readonly xTitle: string;
  /** Room for the labels at line ends, pixels. */
  readonly labelRoom: number;
  /** Words at the ticks of the y axis; by default plain numbers. */
  readonly tick?: (value: number) => string | null;
  /** The same of the x axis. */
  readonly xTick?: (value: number) => string;
}

export function createChart(
  canvas: HTMLCanvasElement,
  plugin: Plugin<'line'>,
  zoomed: (from: number, to: number) => void,
): LineChart {
  const config: ChartConfiguration<'line'> = {
    type: 'line',
    data: { datasets: [] },
    plugins: [plugin],
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      events: [],
      elements: { point: { radius: 0 }, line: { tension: 0, borderJoinStyle: 'round', fill: false } },
      plugins: {
        legend: { display: false },
        tooltip: { enabled: false },
        zoom: {
          zoom: {
            mode: 'x',
            drag: { enabled: true, threshold: 6, borderWidth: 0 },
            onZoomComplete: ({ chart }) => zoomed(chart.scales.x.min, chart.scales.x.max),
          },
        },
      },
    },
  };
  return new Chart(canvas, config);
}

/** Brings the chart to a drawing and its axes. */
export function updateChart(chart: LineChart, { curves, colour, font }: Drawing, axes: Axes): void {
  chart.data.datasets = curves.map((drawn) => dataset(drawn, colour));
  const tickFont = { family: fontFamily(font(400)), size: fontSize(font(400)) };
  chart.options.layout = { padding: { top: 24, right: axes.labelRoom, left: 4, bottom: 2 } };
  chart.options.scales = {
    x: {
      type: 'linear',
      min: axes.x.minimum,
      max: axes.x.maximum,
      ticks: {
        maxTicksLimit: 7,
        maxRotation: 0,
        includeBounds: false,
        color: colour('text3'),
        font: tickFont,
        callback: (value, _, ticks) => axes.xTick?.(Number(value)) ?? tickText(Number(value), ticks),
      },
      grid: { drawOnChartArea: false, tickLength: 4, color: colour('line2') },
      border: { color: colour('line2') },
      title: {
        display: true,
        text: axes.xTitle,
        align: 'end',
        color: colour('text3'),
        font: tickFont,
        padding: { top: 0, bottom: 0 },
      },
    },
    y: {
      type: axes.logarithmic ? 'logarithmic' : 'linear',
      min: axes.y.minimum,
      max: axes.y.maximum,
      ticks: {
        maxTicksLimit: 7,
        color: colour('text3'),
        font: tickFont,
        callback: (value, _, ticks) =>
          axes.tick
            ? axes.tick(Number(value))
            : axes.logarithmic
              ? logText(Number(value), axes.y)
              : tickText(Number(value), ticks),
      },
      grid: { color: colour('line'), drawTicks: false },
      border: { display: false },
    },
  };
  const drag = chart.options.plugins?.zoom?.zoom?.drag;
  if (drag) drag.backgroundColor = colour('select');
  chart.update('none');
}

function dataset({ curve, points }: DrawnCurve, colour: (token: string) => string): ChartDataset<'line'> {
  const { token, points: mark, radii, x } = curve;
  const radius = (at: number): number => (radii && points.length === x.length ? (radii[at] ?? 3) : 3);
  return {
    data: points as { x: number; y: number }[],
    borderColor: colour(token),
    borderWidth: curve.width ?? 1.75,
    borderDash: [...curve.dash],
    showLine: curve.line !== false,
    pointStyle: mark === 'square' ? 'rect' : mark === 'triangle' ? 'triangle' : 'circle',
    // A dot at the edge of the axes is drawn whole.
    ...(points.length === 1 && { clip: 4 }),
    pointRadius: mark ? ({ dataIndex }) => radius(dataIndex) : points.length === 1 ? 3 : 0,
    pointBorderWidth: curve.hollow ? 1.5 : 1,
    pointBorderColor: curve.hollow ? colour(token) : colour('surface'),
    pointBackgroundColor: curve.hollow ? colour('surface') : colour(token),
  };
}

/** All ticks of an axis with as many decimals as the one that needs most. */
function tickText(value: number, ticks: readonly { readonly value: number }[]): string {
  const largest = Math.max(...ticks.map((tick) => Math.abs(tick.value)));
  if (largest >= 1e6 || largest < 1e-3) return value === 0 ? '0' : short(value);
  const decimals = ticks.map((tick) => String(Number(tick.value.toPrecision(10))).split('.')[1]?.length ?? 0);
  return fixed(value, Math.min(6, Math.max(...decimals)));
}

/** Decades; within less than two of them also 2 and 5. */
function logText(value: number, { minimum, maximum }: Range): string | null {
  const mantissa = Number((value / 10 ** Math.floor(Math.log10(value))).toPrecision(3));
  const shown = mantissa === 1 || (maximum / minimum < 100 && (mantissa === 2 || mantissa === 5));
  return shown ? short(value) : null;
}

function fontSize(font: string): number {
  return Number.parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? '11');
}

function fontFamily(font: string): string {
  return font.replace(/^.*?px\s*/, '');
}
