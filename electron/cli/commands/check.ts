// `check`: whether a run would learn, in some ten seconds, before a long night. It keeps no run.

import { describeCpu } from '../../../engine/backends/cpu/describe.ts';
import { createReferenceBackend } from '../../../engine/backends/reference/backend.ts';
import { addonRemedy, missingAddon } from '../../../engine/hardware/addon.ts';
import { newestLab } from '../../../engine/hardware/machine.ts';
import { createExaminer } from '../../../engine/learners/examiner.ts';
import { checkedRows } from '../../../engine/learners/declared/prepared.ts';
import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import type { CheckFinding, CheckKind, CheckReport } from '../../../engine/protocol/checking.ts';
import { onRowsOf } from '../../../engine/protocol/division.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { RunConfig } from '../../../engine/protocol/runs.ts';
import { runFields } from '../../../engine/settings/run.ts';
import { nodeSurroundings, residentBudget } from '../../hosts/surroundings.ts';
import { askedRun } from '../asked-run.ts';
import { about } from '../about.ts';
import { runNumber, textOption, type Command, type CommandContext } from '../command.ts';
import { openDevice } from '../hosts.ts';
import { readOptionDefs, withProgress } from '../import.ts';
import { formatSeconds, type Output } from '../output.ts';
import { settingsOfRun } from '../settings-of-run.ts';
import { flagsOf } from '../setting-flags.ts';
import { dataOptions, trainingOptions } from '../training-options.ts';

/** Exit code where there is something to fix. */
export const needsFixing = 3;

export const check: Command = {
  ...about.check,
  positionals: [0, 1],
  options: {
    ...dataOptions,
    ...trainingOptions,
    ...flagsOf(runFields),
    ...readOptionDefs,
    from: {
      type: 'string',
      value: 'RUN',
      help: 'instead of a file: the data, the model and the settings of an earlier run, with what other flags change',
    },
  },
  run: async (context) => {
    const { output, services, interruption, endWith } = context;
    const { data } = services;
    const config = await askedConfig(context);
    const { dataset } = config;
    const prepared = await withProgress(data, context, (job) =>
      data.prepare({ job, dataset, options: checkedRows(config) }),
    );
    const examiner = createExaminer({
      createBackend: openDevice,
      createReference: createReferenceBackend,
      readShard: (handle, shard) => data.readShard({ handle, shard }),
      surroundings: nodeSurroundings,
      dataBudget: residentBudget(),
    });
    const job = 'check';
    const stops = [
      examiner.onFinding(({ finding }) => {
        output.event(eventOf(finding));
        print(output, finding);
      }),
      examiner.onProgress(({ progress: { stage, share } }) => output.bar(share ?? 0, stage)),
      interruption.listen(() => void examiner.cancel({ job })),
    ];
    try {
      const report = await examiner.check({ job, config, data: prepared });
      output.clearBar();
      tell(output, report);
      if (report.device.startsWith('CPU') && !describeCpu().native) {
        const { text, source } = missingAddon(await newestLab(await services.store));
        output.note(`${text}, ${source}. ${addonRemedy(process.env.TRAINYARD_NATIVE)}`);
      }
      if (report.verdict === 'fix') endWith(needsFixing);
    } finally {
      for (const stop of stops) stop();
      output.clearBar();
      await data.release({ handle: prepared.handle });
    }
  },
};

/** That of a file or a dataset and the flags, or of an earlier run. */
async function askedConfig(context: CommandContext): Promise<RunConfig> {
  const { positionals, options, services, output } = context;
  const from = textOption(options, 'from');
  if ((from === undefined) === (positionals.length === 0)) {
    throw new InputError(
      'usage.arguments',
      from === undefined ? 'check needs data or a run.' : '--from names the data too.',
      'trainyard check data.csv, or trainyard check --from 12',
    );
  }
  if (from === undefined) return (await askedRun(context, { datasets: true })).config;
  const store = await services.store;
  const run = await store.run({ run: runNumber(from) });
  const config = await onRowsOf(store, run, settingsOfRun(context, run));
  output.line(`As run ${run.id}: ${run.name}, on ${run.datasetName}, ${declarationOf(config).label(config)}`);
  return config;
}

const marks: Readonly<Record<CheckKind, string>> = { fix: '✗', look: '!', undone: '–', fine: '✓' };

function print(output: Output, { kind, title, figure, text, action }: CheckFinding): void {
  output.line(`${marks[kind]} ${title}: ${figure}`);
  output.line(`  ${text}${action ? ` Try ${action.change}.` : ''}`);
}

function eventOf({ id, kind, title, figure, text, action, drawing }: CheckFinding): object {
  return {
    event: 'finding',
    check: id,
    kind,
    title,
    figure,
    text,
    try: action ? { words: action.change, changes: action.changes } : null,
    drawing: drawing ?? null,
  };
}

function tell(output: Output, report: CheckReport): void {
  const { verdict, sentence, cost, findings, done, seconds, device, runSeconds, changed } = report;
  const count = (kind: CheckKind): number => findings.filter((finding) => finding.kind === kind).length;
  output.event({
    event: 'check',
    verdict,
    sentence,
    cost,
    fix: count('fix'),
    look: count('look'),
    undone: count('undone'),
    fine: count('fine'),
    device,
    seconds,
    run_seconds: runSeconds,
    try: changed?.words ?? null,
  });
  output.line();
  output.line(`${sentence}${cost ? ` ${cost}` : ''}`);
  if (changed) output.line(`To try: ${changed.words}.`);
  output.line(
    `${done} of ${findings.length} checks in ${formatSeconds(seconds)} on the real model and data, on the ${device}.`,
  );
}
