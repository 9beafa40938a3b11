import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openFileStore } from '../../src/store/file-store.ts';
import type { Sandbox } from '../e2e/muster.ts';
import { readLogs, type Logs } from './check-logs.ts';
import { foldEvents } from '../../src/protocol/state/fold.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

/** What was under way at a moment, as the logs tell it. */
export type StandingPart =
  | 'nothing written'
  | 'request sent'
  | 'answer coming'
  | 'effect under way'
  | 'look under way'
  | 'foreground child awaited'
  | 'outcome of a child awaited'
  | 'message under way'
  | 'result undelivered'
  | 'child announced, not made'
  | 'claimed, not at work'
  | 'only waiting'
  | 'ended';

export type Standing = ReadonlySet<StandingPart>;

/** The ids of all logs in a sandbox. */
export function logIds(sandbox: Sandbox): readonly string[] {
  return readdirSync(join(sandbox.data, 'tasks'))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length));
}

/** Where a run stands that nobody works on. */
export async function standingOf(sandbox: Sandbox): Promise<Standing> {
  const store = openFileStore({ dataDir: sandbox.data, durability: 'fast' });
  const logs = readLogs(store, logIds(sandbox));
  await store.close();
  const states = [...logs.values()].map(({ events }) => foldEvents(events));
  const root = states.find(({ spec }) => spec.parent === null);
  if (root === undefined) return new Set(['nothing written']);
  if (root.end !== null) return new Set(['ended']);
  const parts = new Set(states.flatMap((state) => partsOf(state, logs)));
  return parts.size === 0 ? new Set(['only waiting']) : parts;
}

function partsOf(state: TaskState, logs: Logs): readonly StandingPart[] {
  if (state.end !== null) return [];
  const parts: StandingPart[] = [...state.runningCalls.values()].map(({ tool }) =>
    partOfCall(tool),
  );
  if (state.openTurn !== null) {
    parts.push(state.activity.kind === 'streaming' ? 'answer coming' : 'request sent');
  }
  if (state.conversation.queued.some(({ kind }) => kind === 'result')) {
    parts.push('result undelivered');
  }
  for (const id of state.children.keys()) {
    if (!logs.has(id)) parts.push('child announced, not made');
  }
  if (state.status === 'queued' && state.epoch > 1) parts.push('claimed, not at work');
  return parts;
}

function partOfCall(tool: string): StandingPart {
  switch (tool) {
    case 'Bash':
    case 'Write':
    case 'Edit':
      return 'effect under way';
    case 'Task':
      return 'foreground child awaited';
    case 'TaskOutput':
      return 'outcome of a child awaited';
    case 'TaskSend':
      return 'message under way';
    default:
      return 'look under way';
  }
}
