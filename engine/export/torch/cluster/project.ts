// A run as a project that trains it past one machine: the PyTorch project with its rows in shards, checkpoints, ways to start it (torchrun,
// SLURM, Kubernetes, Ray), and what its finished folder needs to come back as a run of the history.

import { readCatalogue } from '../../../hardware/catalogue/catalogue.ts';
import { clusterOf } from '../../../hardware/cluster.ts';
import { subjectOf } from '../../../hardware/costs/familiar.ts';
import { isNetworkFile } from '../../../learners/network/file.ts';
import type { PreparedData, Shard } from '../../../protocol/data.ts';
import type { ExportedFile } from '../../../protocol/exports.ts';
import { returnedMetadata } from '../../../protocol/returned.ts';
import type { OpenedRun } from '../../opened.ts';
import { cannotExport } from '../../refusal.ts';
import { networkParts } from '../project.ts';
import { shardFiles, shardRowsOf } from '../rows.ts';
import { requirements, text } from '../sources.ts';
import { shardsSource } from './data-source.ts';
import { kubernetesSource, launchOf, raySource, slurmSource } from './launchers.ts';
import { clusterReadme } from './readme.ts';
import { clusterTrainSource } from './train-source.ts';

/** Throws `run.export` for what is not trained step by step. */
export async function exportCluster(
  run: OpenedRun,
  data: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
): Promise<readonly ExportedFile[]> {
  const { record, file } = run;
  if (!isNetworkFile(file)) {
    throw cannotExport('Only networks are trained step by step on several machines.', 'Export the run as JSON.');
  }
  const about = { format: 'pt', ...returnedMetadata(run) };
  const parts = await networkParts(run, file, data, readShard, about);
  const { model, training, input, output } = file;
  const asked = { rows: data.counts.train, batch: parts.config.batch };
  const subject = subjectOf(record.name, model, input, output, asked, training);
  const cluster = clusterOf(subject, training.epochs, readCatalogue().catalogue);
  const launch = launchOf(record.id, cluster.taken);
  const tokens = parts.tokens.length > 0;
  const config = {
    ...parts.config,
    // Checkpoints of another run, or of other settings of it, are not taken for its own.
    run: `${record.id} of ${record.createdAt}`,
    shardRows: shardRowsOf(data),
  };
  return [
    text('README.md', clusterReadme(record, tokens, cluster)),
    text('slurm.sh', slurmSource(launch)),
    text('kubernetes.yaml', kubernetesSource(launch)),
    text('ray_train.py', raySource(launch)),
    text('requirements.txt', requirements(parts.torch) + (tokens ? 'tokenizers>=0.20\n' : '')),
    text('data.py', shardsSource),
    text('train.py', clusterTrainSource),
    text('config.json', `${JSON.stringify(config, null, 2)}\n`),
    ...parts.files,
    ...(await shardFiles(data, readShard)),
  ];
}
