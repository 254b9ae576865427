// Pictures as they are, bytes in colour or grey, made into what a model is fed: (pixel / 255 − mean) / deviation, channel by channel.

import type { ImagePreprocessing } from '../../data/images/recipe.ts';
import { anyRows, type OnnxBuilder, type ValueName } from './builder.ts';

export const pixelsInput = 'pixels';

/** Adds the input, uint8 [N,H,W,C]. */
export function addPixelsInput(onnx: OnnxBuilder, { channels, height, width }: ImagePreprocessing): void {
  onnx.input({
    name: pixelsInput,
    type: 'uint8',
    shape: [anyRows, height, width, channels],
    about: `pictures of ${width} × ${height}, ${channels === 1 ? 'grey' : 'red, green, blue'}, 0 … 255`,
  });
}

/** What is made of it: the features [N,C,H,W]. */
export function exportPixels(onnx: OnnxBuilder, { channels, mean, deviation }: ImagePreprocessing): ValueName {
  const planes = onnx.one('Transpose', [onnx.cast(pixelsInput, 'float')], { perm: { ints: [0, 3, 1, 2] } });
  const shares = onnx.one('Div', [planes, onnx.float([255])]);
  const centred = onnx.one('Sub', [shares, onnx.float(mean, [channels, 1, 1])]);
  return onnx.one('Div', [centred, onnx.float(deviation, [channels, 1, 1])]);
}
