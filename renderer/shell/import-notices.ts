// What the bar of imports shows: each import by itself, but files of one drop that failed alike are told in one notice.

import type { ImportJob } from '../app/datasets.svelte.ts';
import type { Failure } from '../app/failure.ts';
import { fixed } from '../lib/format.ts';

export interface ImportEntry {
  readonly id: string;
  /** One, or several that failed alike. */
  readonly jobs: readonly ImportJob[];
}

/** Failures of a kind in one drop that are still told one by one, each with what can be done about it. */
const mostAlone = 3;

const isPicture = ({ failure }: ImportJob): boolean => failure?.code === 'input.picture';
const isNotTable = (job: ImportJob): boolean => isPicture(job) || job.failure?.code === 'input.binary';

export function gatherImports(jobs: readonly ImportJob[]): readonly ImportEntry[] {
  const groups = new Map<string, ImportJob[]>();
  for (const job of jobs) {
    const { id, drop, failure } = job;
    const group = drop === null || !failure ? id : `drop-${drop}-${isNotTable(job) ? 'not-table' : failure.code}`;
    groups.set(group, [...(groups.get(group) ?? []), job]);
  }
  return [...groups].flatMap(([id, alike]) => {
    const together = alike.length > (isNotTable(alike[0]) ? 1 : mostAlone);
    return together ? [{ id, jobs: alike }] : alike.map((job) => ({ id: job.id, jobs: [job] }));
  });
}

/** What happened to several files that failed alike, and what to do. */
export function failureOfMany(jobs: readonly ImportJob[]): Pick<Failure, 'message' | 'hint'> {
  const names = jobs.slice(0, 2).map(({ source }) => source.name);
  const more = jobs.length - names.length;
  const listed = more > 0 ? `${names.join(', ')} and ${fixed(more)} more` : names.join(' and ');
  const first = jobs[0].failure;
  if (!isNotTable(jobs[0])) {
    const message = `${fixed(jobs.length)} files could not be imported: ${listed}. ${first?.message ?? ''}`;
    return { message, hint: first?.hint ?? '' };
  }
  const hint = jobs.some(isPicture) ? 'Drop the folder they are in to import pictures.' : (first?.hint ?? '');
  return { message: `${fixed(jobs.length)} files are not tables: ${listed}.`, hint };
}
