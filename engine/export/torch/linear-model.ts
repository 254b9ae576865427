// `model.py` of a linear model: the columns it weighs, and one product.

import { columnsOf, outputsOf } from '../../learners/linear/declaration.ts';
import type { LinearModelFile } from '../../learners/linear/file.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import { head } from './head.ts';

export const isLinearFile = (file: ModelFile): file is LinearModelFile => file.learner === 'linear';

export function linearSource(file: LinearModelFile): string {
  const { about, before, features } = file.input.kind === 'image' ? ofPictures(file) : ofRows(file);
  return `${head(about, file.output, outputsOf(file.output))}${before}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.output = nn.Linear(${columnsOf(file.input, file.grid)}, ${outputsOf(file.output)})

    def features(self, x):
        """The columns that are weighed."""
${features}

    def forward(self, x):
        return self.output(self.features(x))
`;
}

interface Source {
  readonly about: string;
  readonly before: string;
  readonly features: string;
}

function ofRows({ input }: LinearModelFile): Source {
  const { numeric, embeddings } = input as Extract<LinearModelFile['input'], { kind: 'table' }>;
  const ones = embeddings.map(
    ({ vocabulary }, i) => `F.one_hot(x[:, ${numeric + i}].long(), ${vocabulary}).to(x.dtype)`,
  );
  return {
    about:
      'Rows in: float32, numbers first, then one code a category with many values; each value of those counts as a column of its own.',
    before: '',
    features: `        return torch.cat([${[`x[:, :${numeric}]`, ...ones].join(', ')}], dim=1)`,
  };
}

function ofPictures({ input, grid }: LinearModelFile): Source {
  const { channels, height, width } = input as Extract<LinearModelFile['input'], { kind: 'image' }>;
  return {
    about: `Pictures in: float32 [N, ${channels}, ${height}, ${width}], (pixel / 255 - mean) / deviation; they are averaged to ${grid} x ${grid} squares.`,
    before: `
def averages(size, like):
    """[${grid}, size]: the mean over each of ${grid} stretches of a side."""
    rows = torch.zeros(${grid}, size, dtype=torch.float64)
    for square in range(${grid}):
        start, end = square * size // ${grid}, (square + 1) * size // ${grid}
        rows[square, start:end] = 1 / (end - start)
    return rows.to(like)

`,
    features: `        return (averages(${height}, x) @ x @ averages(${width}, x).T).flatten(1)`,
  };
}
