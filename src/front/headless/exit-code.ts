import type { TaskStatus } from '../../protocol/result.ts';

/** Returns the exit code of `muster -p` for the status of its main task (docs/tasks.md). */
export function exitCode(status: TaskStatus): number {
  switch (status) {
    case 'completed':
      return 0;
    case 'partial':
      return 3;
    case 'parked':
      return 5;
    case 'stopped':
    case 'killed':
      return 6;
    case 'failed':
    case 'interrupted':
    case 'queued':
    case 'running':
      return 1;
    default:
      return status satisfies never;
  }
}

/** 128 plus the number of the signal, as shells report it. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type EndingSignal = keyof typeof SIGNAL_EXIT_CODES;
