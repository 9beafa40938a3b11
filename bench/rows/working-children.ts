import { join } from 'node:path';
import {
  BARE_CLIENT,
  measureDelegations,
  PARALLEL_SETTINGS,
  type DelegationRuns,
  type DelegationTimes,
} from '../harness/delegation-runs.ts';
import { idealMs, raisedNote, type ChildJob } from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { createRepository } from '../harness/repository.ts';
import type { Row } from '../harness/row.ts';
import { writeSourceFile, writeSourceTree } from '../harness/source-tree.ts';

const ROUNDS = 7;
const CHILD_COUNTS = [4, 16, 64];
const TURN_MS = 200;
export const REPOSITORY_FILES = 600;
export const LARGE_FILE_BYTES = 40_000;

/** Each job reads a large file and then searches the repository for the functions with one of these verbs. */
export const READ_AND_SEARCH_JOBS: readonly ChildJob[] = [
  'add',
  'check',
  'encode',
  'find',
  'load',
  'parse',
  'send',
  'write',
].map((verb) => {
  const path = `src/large/${verb}-all.ts`;
  const search = { pattern: `function ${verb}[A-Z]`, output_mode: 'content' };
  return {
    keyword: path,
    turns: [[{ name: 'Read', input: { file_path: path } }], [{ name: 'Grep', input: search }]],
  };
});

/** Writes the repository that these children read and search. */
export function writeSearchedRepository(workspace: string): void {
  writeSourceTree(workspace, REPOSITORY_FILES - READ_AND_SEARCH_JOBS.length);
  for (const { keyword } of READ_AND_SEARCH_JOBS) {
    writeSourceFile(join(workspace, keyword), LARGE_FILE_BYTES);
  }
  createRepository(workspace);
}

/** Children that work: each reads a file of 40 KB and searches a repository of 600 files. */
export const workingChildren: Row = {
  name: 'working-children',
  canCompare: true,
  async measure(options): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    writeSearchedRepository(fixture.workspace);
    const measurements: Measurement[] = [];
    for (const children of CHILD_COUNTS) {
      const shape = { children, turnMs: TURN_MS, jobs: READ_AND_SEARCH_JOBS };
      const rounds = options.rounds ?? ROUNDS;
      const runs = await measureDelegations(fixture, shape, { ...options, rounds });
      const ideal = idealMs({ ...shape, coordinators: 0, waves: 1 });
      measurements.push(...measurementsOf(runs, children, ideal));
    }
    return measurements;
  },
};

function measurementsOf(
  { bare, current, baseline, addedBytes }: DelegationRuns,
  children: number,
  ideal: number,
): readonly Measurement[] {
  const multiples = (runs: readonly DelegationTimes[]) =>
    runs.map(({ totalMs }) => totalMs / ideal);
  const cpuTimes = (runs: readonly DelegationTimes[]) => runs.map(({ cpuMs }) => cpuMs);
  return [
    {
      title: `${children} working children, time ÷ ${ideal} ms`,
      unit: '×',
      samples: multiples(current),
      baseline: multiples(baseline),
      reference: { title: BARE_CLIENT, samples: multiples(bare) },
      notes: [
        `from the answer with the Task calls to the main agent’s next request; ${ideal} ms is the time of the model alone`,
        `each child reads ${LARGE_FILE_BYTES / 1000} KB and searches ${REPOSITORY_FILES} files in 3 turns of ${TURN_MS} ms, which adds ${Math.round(addedBytes / 1000)} KB to its context`,
        raisedNote(PARALLEL_SETTINGS),
      ],
    },
    {
      title: `${children} working children, CPU time`,
      unit: 'ms',
      samples: cpuTimes(current),
      baseline: cpuTimes(baseline),
      reference: { title: BARE_CLIENT, samples: cpuTimes(bare) },
      notes: ['of all processes, in the same time'],
    },
  ];
}
