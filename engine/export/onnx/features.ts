// What models are fed, made of a file's columns or of pixels: in each form that is asked for once, whatever asks for it. An ensemble has members
// of several forms.

import { isImagePreprocessing, parseImagePreprocessing } from '../../data/images/recipe.ts';
import { parsePreprocessing } from '../../data/preprocess/recipe.ts';
import type { InputSpec } from '../../model/spec.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';
import { addColumnInputs, exportColumns } from './columns.ts';
import { exportPixels } from './pixels.ts';
import { exportRawColumns } from './raw-columns.ts';

export class Features {
  readonly #make: (kind: InputSpec['kind']) => ValueName;
  readonly #made = new Map<InputSpec['kind'], ValueName>();

  /** Adds the inputs. Throws `input.preprocessing`. */
  constructor(onnx: OnnxBuilder, preprocessing: unknown) {
    if (isImagePreprocessing(preprocessing)) {
      const pixels = exportPixels(onnx, parseImagePreprocessing(preprocessing));
      this.#make = () => pixels;
      return;
    }
    const recipe = parsePreprocessing(preprocessing);
    addColumnInputs(onnx, recipe);
    this.#make = (kind) => (kind === 'columns' ? exportRawColumns(onnx, recipe) : exportColumns(onnx, recipe));
  }

  /** As a model with this input is fed: [N,width], [N,C,H,W], or columns as they are (`rawCodes`), float64. */
  of({ kind }: Pick<InputSpec, 'kind'>): ValueName {
    const made = this.#made.get(kind) ?? this.#make(kind);
    this.#made.set(kind, made);
    return made;
  }
}
