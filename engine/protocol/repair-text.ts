// What a repair of the history has done, in sentences: for the command line and the window alike.

import type { MissingFiles, RepairReport, UnreadableRun } from './store.ts';

/** Runs named in a sentence. */
const namedRuns = 20;

/** A sentence or two each. */
export function repairText(report: RepairReport): readonly string[] {
  const gone = [...(report.missing ?? []).map(missingText), ...(report.unreadable ?? []).map(unreadableText)];
  if (report.problem === null) {
    const whole = report.unreadable
      ? 'The file of the history is whole.'
      : 'The history is whole: there is nothing to repair.';
    return [whole, ...gone];
  }
  const kept = report.fromBackup.length + report.salvaged.length + report.rebuilt.length;
  return [
    report.problem,
    ...(report.setAside === null ? [] : [`The damaged file is kept as ${report.setAside}.`]),
    ...runsText(report.fromBackup, `from the backup ${report.backup ?? ''}`),
    ...runsText(report.salvaged, 'read from the damaged file: some of their figures may be missing or changed'),
    ...runsText(report.rebuilt, 'rebuilt from their folders: their curves and logs since the last backup are lost'),
    ...runsText(report.silent, 'lost: their folders, which stay as they are, do not say enough'),
    kept === 0 ? 'The history is empty now.' : `The history holds ${kept} ${kept === 1 ? 'run' : 'runs'} now.`,
    ...gone,
    ...(report.incomplete ? ['Parts of the damaged file could not be read: what only stood there is lost.'] : []),
  ];
}

function runsText(runs: readonly number[], what: string): readonly string[] {
  if (runs.length === 0) return [];
  const shown = runs.slice(0, namedRuns).join(', ') + (runs.length > namedRuns ? ', …' : '');
  return [`${runs.length === 1 ? 'Run' : `${runs.length} runs`} (${shown}) ${what}.`];
}

function unreadableText({ run, parts }: UnreadableRun): string {
  return `Run ${run}: its ${parts.join(', ')} cannot be read. Take it up again from another copy, or delete it (\`trainyard delete ${run}\`).`;
}

function missingText({ run, files }: MissingFiles): string {
  const what = `${files.join(', ')} ${files.length === 1 ? 'is' : 'are'} gone from its folder`;
  return `Run ${run}: ${what}. Put a copy back if you have one, or train again with the settings of the run.`;
}
