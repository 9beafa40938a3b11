import { integerKey } from './key-kinds.ts';

/** The keys of the section `process`, about the processes of tasks with `isolation: process`. A project may not set them. */
export const PROCESS_KEYS = {
  heap_mb: integerKey(512, [32, 65_536], 'the heap of the process of a task, in MB', {
    project: 'never',
  }),
  memory_mb: integerKey(
    4_096,
    [64, 1_048_576],
    'the memory of the process of a task and of its commands together, in MB',
    { project: 'never' },
  ),
  cpu_seconds: integerKey(
    1_800,
    [1, 604_800],
    'the processor time of the process of a task, and of each process of its commands',
    { project: 'never' },
  ),
} as const;
