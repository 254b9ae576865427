// The weights as safetensors, named and turned as PyTorch has them; the metadata holds the model and the preprocessing.

import type { ExportedFile } from '../protocol/exports.ts';
import { encodeSafetensors } from '../train/safetensors.ts';
import type { OpenedRun } from './opened.ts';
import { outward } from './outward.ts';

export function exportSafetensors(name: string, { model, preprocessing, tensors }: OpenedRun): readonly ExportedFile[] {
  const metadata = { format: 'pt', 'trainyard.model': model, 'trainyard.preprocessing': preprocessing };
  return [{ path: `${name}.safetensors`, data: encodeSafetensors({ tensors: outward(tensors), metadata }) }];
}
