// What Chart.js does not draw by itself: the min–max band behind a line, labels with the last value at line ends kept
// apart, the hollow diamond at the best point, the unit above the y axis.

import type { Chart, Plugin } from 'chart.js';
import type { Band, Curve, Point } from './curves.ts';

export interface DrawnCurve {
  readonly curve: Curve;
  readonly points: readonly Point[];
  readonly band: Band | null;
  readonly best: Point | null;
  readonly endText: string;
}

/** A place with a name: where two lines cross. Filled diamonds are the answer, hollow ones stand beside it. */
export interface ChartMark {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly filled: boolean;
  /** false: no line down to the axis. */
  readonly drop?: false;
}

/** An upright dotted line with its words. */
export interface ChartRule {
  readonly x: number;
  readonly label: string;
  /** Its words stand above the curves, not at the foot. */
  readonly top?: boolean;
}

export interface Drawing {
  readonly curves: readonly DrawnCurve[];
  readonly yTitle: string;
  readonly marks: readonly ChartMark[];
  readonly rules: readonly ChartRule[];
  readonly colour: (token: string) => string;
  readonly font: (weight: 400 | 600) => string;
}

/** Lines of text at least this far apart, pixels. */
const labelDistance = 13;

export function drawingPlugin(read: () => Drawing | null): Plugin<'line'> {
  return {
    id: 'trainyard',
    beforeDatasetsDraw(chart) {
      const drawing = read();
      if (!drawing) return;
      clipped(chart, () => {
        for (const { curve, band } of drawing.curves) {
          if (band) drawBand(chart, band, drawing.colour(curve.token), curve.base ? (curve.opacity ?? 1) : bandOpacity);
        }
      });
    },
    afterDatasetsDraw(chart) {
      const drawing = read();
      if (!drawing) return;
      drawTitle(chart, drawing);
      clipped(chart, () => drawAreaNames(chart, drawing));
      drawRules(chart, drawing);
      for (const { curve, best } of drawing.curves) {
        if (best) drawDiamond(chart, best, drawing.colour(curve.token), drawing.colour('surface'));
      }
      drawEndLabels(chart, drawing);
      drawMarks(chart, drawing);
    },
  };
}

function clipped(chart: Chart, draw: () => void): void {
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
  ctx.clip();
  draw();
  ctx.restore();
}

/** Of the range around a noisy line. */
const bandOpacity = 0.17;

function drawBand({ ctx, scales }: Chart, band: Band, colour: string, opacity: number): void {
  if (band.x.length < 2) return;
  const floor = scales.y.min;
  ctx.beginPath();
  band.x.forEach((x, i) => ctx.lineTo(scales.x.getPixelForValue(x), scales.y.getPixelForValue(band.high[i])));
  for (let i = band.x.length - 1; i >= 0; i--) {
    // A logarithmic axis has no place for zero.
    const low = band.low[i] > 0 ? band.low[i] : Math.max(band.low[i], floor);
    ctx.lineTo(scales.x.getPixelForValue(band.x[i]), scales.y.getPixelForValue(low));
  }
  ctx.globalAlpha = opacity;
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** Opaque enough that letters on it are those of the surface. */
const dark = 0.6;

/** Each stacked area is named in the middle of where it is highest, if it is as high as a line of text and as wide as the name. */
function drawAreaNames({ ctx, scales }: Chart, { curves, colour, font }: Drawing): void {
  ctx.save();
  ctx.font = font(600);
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  for (const { curve, band, endText } of curves) {
    if (!curve.base || !band) continue;
    const most = Math.max(...curve.y);
    const [first, last] = [curve.y.indexOf(most), curve.y.lastIndexOf(most)];
    const [left, right] = [scales.x.getPixelForValue(band.x[first]), scales.x.getPixelForValue(band.x[last])];
    const [top, bottom] = [scales.y.getPixelForValue(band.high[first]), scales.y.getPixelForValue(band.low[first])];
    if (bottom - top < labelDistance || right - left < ctx.measureText(endText).width) continue;
    ctx.fillStyle = colour(curve.inkLabel || (curve.opacity ?? 1) < dark ? 'text' : 'surface');
    ctx.fillText(endText, (left + right) / 2, (top + bottom) / 2);
  }
  ctx.restore();
}

function drawTitle({ ctx, chartArea }: Chart, { yTitle, colour, font }: Drawing): void {
  ctx.save();
  ctx.font = font(400);
  ctx.fillStyle = colour('text3');
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  ctx.fillText(yTitle, chartArea.left, chartArea.top - 9);
  ctx.restore();
}

function drawRules({ ctx, scales, chartArea }: Chart, { rules, colour, font }: Drawing): void {
  ctx.save();
  ctx.font = font(400);
  ctx.textBaseline = 'bottom';
  // Where two stand close, the first alone has its words.
  let taken = -Infinity;
  // Outlined, so that the words read over curves that go through them.
  ctx.lineJoin = 'round';
  for (const { x, label, top } of rules) {
    const at = scales.x.getPixelForValue(x);
    if (at < chartArea.left || at > chartArea.right) continue;
    ctx.strokeStyle = colour('text3');
    ctx.lineWidth = 1;
    ctx.setLineDash([1, 4]);
    ctx.beginPath();
    ctx.moveTo(at, chartArea.top);
    ctx.lineTo(at, chartArea.bottom);
    ctx.stroke();
    ctx.fillStyle = colour('text2');
    const width = ctx.measureText(label).width;
    const start = at + 5 + width > chartArea.right ? at - 5 - width : at + 5;
    if (start < taken) continue;
    ctx.strokeStyle = colour('surface');
    ctx.lineWidth = 3;
    ctx.setLineDash([]);
    const foot = top ? chartArea.top + labelDistance : chartArea.bottom - 5;
    ctx.strokeText(label, start, foot);
    ctx.fillText(label, start, foot);
    taken = start + width + 5;
  }
  ctx.restore();
}

/** Diamonds with a drop line and their words, outlined so that they read over lines. */
function drawMarks(chart: Chart, { marks, colour, font }: Drawing): void {
  const { ctx, scales, chartArea } = chart;
  for (const { x, y, label, filled, drop } of marks) {
    const [left, top] = [scales.x.getPixelForValue(x), scales.y.getPixelForValue(y)];
    if (left < chartArea.left || left > chartArea.right || top < chartArea.top || top > chartArea.bottom) continue;
    ctx.save();
    if (drop !== false) {
      ctx.strokeStyle = colour('text2');
      ctx.setLineDash([2, 3]);
      ctx.beginPath();
      ctx.moveTo(left, top);
      ctx.lineTo(left, chartArea.bottom);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.font = font(600);
    ctx.textBaseline = 'bottom';
    ctx.lineJoin = 'round';
    ctx.lineWidth = 3;
    ctx.strokeStyle = colour('surface');
    ctx.fillStyle = colour('text');
    const width = ctx.measureText(label).width;
    const start = Math.max(chartArea.left + 2, left - width - 4);
    ctx.strokeText(label, start, top - 8);
    ctx.fillText(label, start, top - 8);
    ctx.restore();
    drawDiamond(chart, { x, y }, colour('text'), colour(filled ? 'text' : 'surface'));
  }
}

function drawDiamond({ ctx, scales, chartArea }: Chart, point: Point, stroke: string, fill: string): void {
  const x = scales.x.getPixelForValue(point.x);
  const y = scales.y.getPixelForValue(point.y);
  if (x < chartArea.left || x > chartArea.right || y < chartArea.top || y > chartArea.bottom) return;
  const size = 6;
  ctx.save();
  ctx.beginPath();
  ctx.moveTo(x, y - size);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + size);
  ctx.lineTo(x - size, y);
  ctx.closePath();
  ctx.fillStyle = fill;
  ctx.strokeStyle = stroke;
  ctx.lineWidth = 1.5;
  ctx.setLineDash([]);
  ctx.fill();
  ctx.stroke();
  ctx.restore();
}

function drawEndLabels(chart: Chart, { curves, colour, font }: Drawing): void {
  const { ctx, scales, chartArea } = chart;
  const labels = curves
    .flatMap(({ curve, points, endText }) => {
      if (curve.line === false) return [];
      const last = points.findLast((point) => point.x <= scales.x.max && Number.isFinite(point.y));
      if (!last) return [];
      const y = Math.min(chartArea.bottom, Math.max(chartArea.top, scales.y.getPixelForValue(last.y)));
      return [
        { text: endText, token: curve.inkLabel ? 'text' : curve.token, x: scales.x.getPixelForValue(last.x) + 10, y },
      ];
    })
    .sort((a, b) => a.y - b.y);
  spread(labels, chartArea.top, chartArea.bottom);
  ctx.save();
  ctx.font = font(600);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3;
  ctx.strokeStyle = colour('surface');
  for (const label of labels) {
    // Where the room ends, the text ends too.
    label.x = Math.min(label.x, chart.width - ctx.measureText(label.text).width - 4);
    ctx.strokeText(label.text, label.x, label.y);
    ctx.fillStyle = colour(label.token);
    ctx.fillText(label.text, label.x, label.y);
  }
  ctx.restore();
}

/** Moves labels (sorted by y) apart, then back inside the plot. */
function spread(labels: { y: number }[], top: number, bottom: number): void {
  for (let i = 1; i < labels.length; i++) labels[i].y = Math.max(labels[i].y, labels[i - 1].y + labelDistance);
  let limit = bottom;
  for (let i = labels.length - 1; i >= 0; i--) {
    labels[i].y = Math.max(top, Math.min(labels[i].y, limit));
    limit = labels[i].y - labelDistance;
  }
}
