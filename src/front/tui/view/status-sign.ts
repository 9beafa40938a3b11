import type { TaskRow } from '../model/task-row.ts';
import type { Role } from './theme.ts';

/** The state of a task as a sign that reads without colour, too. */
export interface StatusSign {
  readonly sign: string;
  readonly role: Role;
}

export function statusSign({
  status,
  asks,
  activity,
}: Pick<TaskRow, 'status' | 'asks' | 'activity'>): StatusSign {
  switch (status) {
    case 'queued':
      return { sign: '○', role: 'dim' };
    case 'running':
      if (asks > 0) return { sign: '?', role: 'warn' };
      if (activity.kind === 'held' || activity.kind === 'waiting_to_retry') {
        return { sign: '~', role: 'warn' };
      }
      return { sign: '●', role: 'accent' };
    case 'parked':
      return { sign: '?', role: 'warn' };
    case 'completed':
      return { sign: '✓', role: 'good' };
    case 'partial':
      return { sign: '◐', role: 'warn' };
    case 'failed':
      return { sign: '✗', role: 'bad' };
    case 'stopped':
    case 'killed':
      return { sign: '■', role: 'dim' };
    case 'interrupted':
      return { sign: '!', role: 'bad' };
    default:
      return status satisfies never;
  }
}
