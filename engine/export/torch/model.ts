// `model.py`: the network, or the linear model, as a module of PyTorch whose state is what the safetensors file holds.

import { isNetworkFile, type NetworkModelFile } from '../../learners/network/file.ts';
import { withLayerRates } from '../../model/layer-rates.ts';
import { outputWidth, resolveModel, type ResolvedModel } from '../../model/resolve.ts';
import { predictsTokens, type InputSpec } from '../../model/spec.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import { cannotExport } from '../refusal.ts';
import { torchLayers } from './layers.ts';
import { isLinearFile, linearSource } from './linear-model.ts';
import { head } from './head.ts';
import { moduleNames } from './names.ts';

export function resolvedOf({ model, input, output, training }: NetworkModelFile): ResolvedModel {
  return withLayerRates(resolveModel(model, input, outputWidth(output, training.loss)), training.layerDecay ?? 1);
}

/** First layers that keep the weights they begin with. Runs of earlier versions have none. */
export const frozenLayersOf = ({ training }: NetworkModelFile): number => training.frozenLayers ?? 0;

/** The module alone, with what it imports. */
export function modelSource(file: ModelFile): string {
  if (isNetworkFile(file)) return networkSource(file);
  if (isLinearFile(file)) return linearSource(file);
  throw cannotExport(`There is no form of a ${file.learner} model in PyTorch.`, 'Export the run as JSON.');
}

function networkSource(file: NetworkModelFile): string {
  const { input } = file;
  const model = resolvedOf(file);
  const names = moduleNames(model);
  const values = ['x'];
  const modules: string[] = [];
  const lines: string[] = [];
  const classes = new Set<string>();
  const drops = file.training.schedule.regularisation === 'flat_cosine';
  model.layers.forEach((layer, index) => {
    const rule = torchLayers[layer.def.type];
    const name = names.get(layer.id)!;
    if (rule.source) for (const source of [rule.source(layer)].flat()) classes.add(source);
    const module = rule.module?.(layer);
    if (module) modules.push(`        self.add_module(${JSON.stringify(name)}, ${module})`);
    const inputs = layer.inputs.map((position) => values[position + 1]);
    const whole = rule.forward(layer, inputs, `m[${JSON.stringify(name)}]`);
    const applied =
      drops && layer.def.type === 'dropout' ? whole.replace(', self.training', ' * self.share, self.training') : whole;
    // In training every position is told what follows it.
    const every = predictsTokens(input) && layer.def.type === 'pool_positions';
    // A frozen layer works as it does in prediction.
    const still = index < frozenLayersOf(file) ? applied.replace('self.training', 'False') : applied;
    const line = every ? `${inputs[0]}.flatten(0, 1) if self.every else ${still}` : still;
    values.push(`v${index}`);
    lines.push(`        v${index} = ${line}  # ${layer.id.replace(/[\r\n]/g, ' ')}: ${layer.def.type}`);
  });
  const first = model.inputShape;
  return `${head(
    input.kind === 'image'
      ? `Pictures in: float32 [N, ${first.join(', ')}], (pixel / 255 - mean) / deviation.`
      : `Rows in: float32 [N, ${(input as Extract<InputSpec, { kind: 'table' }>).width}], numbers first, then one code a category with many values${input.kind === 'table' && input.texts?.length ? ', then the codes of texts' : ''}.`,
    file.output,
    model.outputs,
  )}
${inputSource(input)}${[...classes].join('')}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
${predictsTokens(input) ? '        self.every = False  # whether each position answers, [N * length, tokens], or the last one alone\n' : ''}${drops ? '        self.share = 1.0  # of the rates of dropout\n' : ''}${[...(hasTables(input) ? ['        self.input = Inputs()'] : []), ...modules].join('\n')}

    def forward(self, x):
        m = self._modules
${[...inputLines(input), ...lines].join('\n')}
        return ${values.at(-1)}
`;
}

const hasTables = (input: InputSpec): boolean => input.kind === 'table' && input.embeddings.length > 0;

/** What becomes of the rows before the first layer. */
function inputLines(input: InputSpec): readonly string[] {
  if (input.kind !== 'table') return [];
  const rows = input.texts?.length ? ['        rows = x'] : [];
  if (hasTables(input)) return [...rows, '        x = self.input(x)'];
  return rows.length > 0 && input.numeric > 0 ? [...rows, `        x = x[:, :${input.numeric}]`] : rows;
}

/** The tables of embedded categories, joined to the numbers. */
function inputSource(input: InputSpec): string {
  if (input.kind !== 'table' || input.embeddings.length === 0) return '';
  const tables = input.embeddings.map(
    ({ vocabulary, dimensions }, i) =>
      `        self.embedding${i} = nn.Parameter(torch.randn(${vocabulary}, ${dimensions}) / ${dimensions} ** 0.5)`,
  );
  const looked = input.embeddings.map((_, i) => `self.embedding${i}[x[:, ${input.numeric + i}].long()]`);
  const parts = [...(input.numeric > 0 ? [`x[:, :${input.numeric}]`] : []), ...looked];
  return `
class Inputs(nn.Module):
    def __init__(self):
        super().__init__()
${tables.join('\n')}

    def forward(self, x):
        return torch.cat([${parts.join(', ')}], dim=1)

`;
}

/** What the file does when it is run or imported for the weights beside it. */
export const loaderSource = (weights: string): string => `

def load(path=None):
    """The model with its weights, ready to predict."""
    import pathlib

    from safetensors.torch import load_file

    model = Model()
    model.load_state_dict(load_file(path or str(pathlib.Path(__file__).resolve().with_name(${JSON.stringify(weights)}))))
    return model.eval()


if __name__ == "__main__":
    print(load())
`;
