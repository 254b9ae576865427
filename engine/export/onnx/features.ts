// What models are fed, made of a file's columns or of pixels: in each form that is asked for once, whatever asks for it. An ensemble has members
// of several forms.

import { isImagePreprocessing, parseImagePreprocessing, type ImagePreprocessing } from '../../data/images/recipe.ts';
import { parsePreprocessing, type Preprocessing } from '../../data/preprocess/recipe.ts';
import type { InputSpec } from '../../model/spec.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';
import { addColumnInputs, exportColumns } from './columns.ts';
import { addPixelsInput, exportPixels } from './pixels.ts';
import { exportRawColumns } from './raw-columns.ts';

type Recipe = Preprocessing | ImagePreprocessing;

const parse = (preprocessing: unknown): Recipe =>
  isImagePreprocessing(preprocessing) ? parseImagePreprocessing(preprocessing) : parsePreprocessing(preprocessing);

export class Features {
  readonly #onnx: OnnxBuilder;
  readonly #graph: Recipe;
  readonly #own: Recipe;
  readonly #made = new Map<InputSpec['kind'], ValueName>();

  /** `graph`: what the inputs are read by, `own`: what the numbers are made by. */
  private constructor(onnx: OnnxBuilder, graph: Recipe, own: Recipe) {
    this.#onnx = onnx;
    this.#graph = graph;
    this.#own = own;
  }

  /** Adds the inputs. Throws `input.preprocessing`. */
  static open(onnx: OnnxBuilder, preprocessing: unknown): Features {
    const recipe = parse(preprocessing);
    if ('kind' in recipe) addPixelsInput(onnx, recipe);
    else addColumnInputs(onnx, recipe);
    return new Features(onnx, recipe, recipe);
  }

  /** Of the same inputs, made as a model of the graph was fitted. Throws `input.preprocessing`. */
  by(preprocessing: object): Features {
    return new Features(this.#onnx, this.#graph, parse(preprocessing));
  }

  #make(kind: InputSpec['kind']): ValueName {
    const [onnx, graph, own] = [this.#onnx, this.#graph, this.#own];
    if ('kind' in own) return exportPixels(onnx, own);
    if (kind !== 'columns' || 'kind' in graph) return exportColumns(onnx, own);
    return exportRawColumns(onnx, own, graph);
  }

  /** As a model with this input is fed: [N,width], [N,C,H,W], or columns as they are (`rawCodes`), float64. */
  of({ kind }: Pick<InputSpec, 'kind'>): ValueName {
    const made = this.#made.get(kind) ?? this.#make(kind);
    this.#made.set(kind, made);
    return made;
  }
}
