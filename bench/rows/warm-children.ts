import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { idealMs, raisedNote, type ChildJob } from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { createRepository } from '../harness/repository.ts';
import type { Row } from '../harness/row.ts';
import { measureWarmWaves, type WarmWave } from '../harness/warm-waves.ts';
import {
  LARGE_FILE_BYTES,
  READ_AND_SEARCH_JOBS,
  REPOSITORY_FILES,
  writeSearchedRepository,
} from './working-children.ts';

const WAVES = 9;
const TURN_MS = 200;
const SETTINGS = {
  MUSTER_TASK_TOOL_MAX_PARALLEL: '256',
  MUSTER_TASK_TOOL_MAX_TASKS: '10000',
  MUSTER_TASK_TOOL_MAX_TOKENS: '1000000000',
  MUSTER_PROVIDER_MAX_CONCURRENT: '512',
};
/** The most that a wave may take, as a multiple of the time of the model alone. */
const BOUNDS: Readonly<Record<number, number>> = { 4: 1.15, 16: 1.35, 64: 2 };

/** Children that read and search, in a process that has run such children before. */
export const warmChildren: Row = {
  name: 'warm-children',
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    writeSearchedRepository(fixture.workspace);
    const measurements: Measurement[] = [];
    for (const children of [4, 16, 64, 256]) {
      const shape = { children, turnMs: TURN_MS, jobs: READ_AND_SEARCH_JOBS };
      const options = { bin, waves: rounds ?? WAVES, args: [], settings: SETTINGS };
      const waves = await measureWarmWaves(fixture, shape, options);
      const note = `each child reads ${LARGE_FILE_BYTES / 1000} KB and searches ${REPOSITORY_FILES} files in 3 turns of ${TURN_MS} ms`;
      const work = { kind: 'working', children, ideal: idealOf(shape), note, bounds: BOUNDS };
      measurements.push(...measurementsOf(waves, work));
    }
    return measurements;
  },
};

const EDITED_FILES = 64;

/** Each job reads a file of its own, changes it, and changes it back by a command. */
const EDITING_JOBS: readonly ChildJob[] = Array.from({ length: EDITED_FILES }, (_, index) => {
  const path = editedPath(index);
  const edit = { file_path: path, old_string: 'state: before', new_string: 'state: after' };
  const command = `sed -i 's/state: after/state: before/' ${path} && wc -l ${path}`;
  return {
    keyword: path,
    turns: [
      [{ name: 'Read', input: { file_path: path } }],
      [{ name: 'Edit', input: edit }],
      [{ name: 'Bash', input: { command, description: 'change it back' } }],
    ],
  };
});

function editedPath(index: number): string {
  return `src/edited/part-${String(index).padStart(2, '0')}.txt`;
}

/** Children that use Read, Edit and Bash, in a process that has run such children before. */
export const editingChildren: Row = {
  name: 'editing-children',
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    for (let index = 0; index < EDITED_FILES; index += 1) {
      const path = join(fixture.workspace, editedPath(index));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${'some text\n'.repeat(50)}state: before\n`);
    }
    createRepository(fixture.workspace);
    const measurements: Measurement[] = [];
    for (const children of [4, 16, 64]) {
      const agent = 'general-purpose';
      const shape = { children, agent, turnMs: TURN_MS, jobs: EDITING_JOBS };
      const args = ['--permission-mode', 'acceptEdits', '--allow', 'Bash'];
      const options = { bin, waves: rounds ?? WAVES, args, settings: SETTINGS };
      const waves = await measureWarmWaves(fixture, shape, options);
      const note = `each child reads a file, edits it and runs a command in 4 turns of ${TURN_MS} ms`;
      const work = { kind: 'editing', children, ideal: idealOf(shape), note, bounds: {} };
      measurements.push(...measurementsOf(waves, work));
    }
    return measurements;
  },
};

interface Work {
  readonly kind: string;
  readonly children: number;
  /** The time of the model alone, in milliseconds. */
  readonly ideal: number;
  readonly note: string;
  /** The most multiples of `ideal`, by the number of children. */
  readonly bounds: Readonly<Record<number, number>>;
}

function measurementsOf(
  waves: readonly WarmWave[],
  { kind, children, ideal, note, bounds }: Work,
): readonly Measurement[] {
  const max = bounds[children];
  return [
    {
      title: `${children} ${kind} children, warm, time ÷ ${ideal} ms`,
      unit: '×',
      samples: waves.map(({ totalMs }) => totalMs / ideal),
      ...(max === undefined ? {} : { bound: { kind: 'max', max, goal: max } }),
      notes: [note, raisedNote(SETTINGS)],
    },
    {
      title: `${children} ${kind} children, warm, CPU time`,
      unit: 'ms',
      samples: waves.map(({ cpuMs }) => cpuMs),
    },
  ];
}

function idealOf(shape: Omit<Parameters<typeof idealMs>[0], 'waves' | 'coordinators'>): number {
  return idealMs({ ...shape, coordinators: 0, waves: 1 });
}
