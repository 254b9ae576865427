// A run as one file for other tools. `safetensors` follows PyTorch: a dense weight is [out, in], names end in .weight and
// .bias, and the metadata holds the model and the preprocessing as JSON. `json` holds the same and the run's record.

import type { StoreService } from '../protocol/store.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import { readModelFile } from '../learners/model-file.ts';
import { decodeWeights } from '../learners/predict.ts';
import { encodeSafetensors, encodeText, type SafeTensor } from '../train/safetensors.ts';
import { readModelFiles } from './model-files.ts';

export const exportFormats = ['json', 'safetensors'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** The bytes of the export. Throws as `readModelFiles`. */
export async function exportRun(store: StoreService, run: number, format: ExportFormat): Promise<Uint8Array> {
  const record = await store.run({ run });
  const { model: modelText, preprocessing: preprocessingText, weights } = await readModelFiles(store, run);
  const tensors = Object.fromEntries(
    Object.entries(decodeWeights(weights, run)).map(([name, tensor]) => [name, outputFirst(name, tensor)]),
  );
  const modelFile = readModelFile(modelText, run);
  const preprocessingFile = parseRunJson(preprocessingText, run, 'preprocessing.json');
  if (format === 'safetensors') {
    const metadata = { format: 'pt', 'trainyard.model': modelText, 'trainyard.preprocessing': preprocessingText };
    return encodeSafetensors({ tensors, metadata });
  }
  const { id, name, datasetName, config, result, createdAt } = record;
  return encodeText(
    JSON.stringify({
      version: 1,
      run: { id, name, dataset: datasetName, createdAt, config, result },
      ...modelFile,
      preprocessing: preprocessingFile,
      weights: Object.fromEntries(
        Object.entries(tensors).map(([key, { shape, data }]) => [key, { shape, values: [...data] }]),
      ),
    }),
  );
}

/** Dense weights are kept [in, out] and leave as [out, in]; embedding tables stay as they are. */
function outputFirst(name: string, { shape, data }: SafeTensor): SafeTensor {
  if (shape.length !== 2 || !name.endsWith('.weight')) return { shape, data };
  const [inputs, units] = shape;
  const turned = new Float32Array(data.length);
  for (let i = 0; i < inputs; i++) for (let u = 0; u < units; u++) turned[u * inputs + i] = data[i * units + u];
  return { shape: [units, inputs], data: turned };
}
