import type { TaskStatus } from '../../../protocol/result.ts';
import type { TaskRow } from '../model/task-row.ts';
import type { TextRole } from './theme.ts';

/** The state of a task as a sign, which can be read without colors. */
export interface StatusSign {
  readonly sign: string;
  readonly role: TextRole;
}

const SIGNS: Readonly<Record<TaskStatus, StatusSign>> = {
  queued: { sign: '○', role: 'dim' },
  running: { sign: '●', role: 'accent' },
  parked: { sign: '?', role: 'warn' },
  completed: { sign: '✓', role: 'good' },
  partial: { sign: '◐', role: 'warn' },
  failed: { sign: '✗', role: 'bad' },
  stopped: { sign: '■', role: 'dim' },
  killed: { sign: '■', role: 'dim' },
  interrupted: { sign: '!', role: 'bad' },
};

export function statusSign(row: Pick<TaskRow, 'status' | 'asks' | 'activity'>): StatusSign {
  if (row.status !== 'running') return SIGNS[row.status];
  if (row.asks > 0) return SIGNS.parked;
  const isHeld = row.activity.kind === 'held' || row.activity.kind === 'waiting_to_retry';
  return isHeld ? { sign: '~', role: 'warn' } : SIGNS.running;
}
