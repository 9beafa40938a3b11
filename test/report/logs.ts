import { LOG_VERSION, type EventBody, type TaskEvent } from '../../src/protocol/events/event.ts';
import type { TaskSpec } from '../../src/protocol/task.ts';
import { createTreeReport, type LogSource, type TreeReport } from '../../src/report/tree-report.ts';
import { taskSpec, turnEnded } from '../store/fixture-data.ts';

/** When every log here begins: 2026-03-01 12:00 UTC. */
export const BEGIN = 1_772_366_400_000;

/** An event and when it was written, in milliseconds after BEGIN; a later owner's has an epoch. */
export type Timed = readonly [at: number, body: EventBody, epoch?: number];

/** A log as it would stand in a file: the created event, then these. */
export function logOf(
  id: string,
  events: readonly Timed[],
  change: Partial<TaskSpec> = {},
): readonly TaskEvent[] {
  const created: Timed = [
    events[0]?.[0] ?? 0,
    { type: 'task.created', spec: taskSpec(id, change) },
  ];
  return [created, ...events].map(([at, body, epoch = 1], seq) =>
    Object.assign({ v: LOG_VERSION, seq, ts: BEGIN + at, task: id, epoch }, body),
  );
}

export const CLAIMED: EventBody = { type: 'task.claimed', pid: 7, host: 'here' };
export const STARTED: EventBody = { type: 'task.started' };

export function asked(turn: number): EventBody {
  return { type: 'turn.started', turn, inputs: [], model: 'scripted/one', toolChoice: 'auto' };
}

export function called(callId: string, tool: string): EventBody {
  return { type: 'call.started', callId, tool, input: { path: 'a.ts' } };
}

export function returned(callId: string, tool: string, text = 'text'): EventBody {
  return { type: 'call.ended', callId, tool, text, error: null, facts: {}, ms: 1 };
}

export function child(id: string): EventBody {
  return { type: 'child.created', child: id, callId: `call-${id}`, background: false };
}

export function ended(result = 'x'): Extract<EventBody, { type: 'task.ended' }> {
  const end = { status: 'completed', error: null, by: null, because: 'it answered' } as const;
  return { type: 'task.ended', end, result };
}

/** Logs in memory; nobody works on those that are not named. */
export function sourceOf(
  logs: ReadonlyMap<string, readonly TaskEvent[]>,
  owned: readonly string[] = [],
): LogSource {
  return {
    scan: (id, visit) => {
      const log = logs.get(id);
      if (log === undefined) throw new Error(`there is no task ${id}`);
      log.forEach(visit);
    },
    isOwned: (id) => owned.includes(id),
  };
}

/** A tree of that many children that read by turns, until there are about so many events. */
export function bigTree(
  { tasks, events }: { readonly tasks: number; readonly events: number },
  words: string,
  visit: (event: TaskEvent) => void = () => {},
): TreeReport {
  const ids = Array.from({ length: tasks }, (_, at) => `child${String(at).padStart(7, '0')}`);
  const each = Math.max(1, Math.floor(events / tasks / 4));
  const logs = new Map([
    [
      'root00000000',
      logOf(
        'root00000000',
        ids.map((id): Timed => [1, child(id)]),
      ),
    ],
    ...ids.map(
      (id, at) => [id, busyLog(id, { at, each, words, posts: at === tasks - 1 })] as const,
    ),
  ]);
  return createTreeReport(sourceOf(logs), 'root00000000', { now: BEGIN + 100_000, visit });
}

function posted(finding: string, words: string): EventBody {
  return { type: 'finding.posted', finding, number: 1, title: words, text: words, callId: 'p' };
}

function busyLog(
  id: string,
  {
    at,
    each,
    words,
    posts,
  }: {
    readonly at: number;
    readonly each: number;
    readonly words: string;
    /** Whether the task posts a finding. */
    readonly posts: boolean;
  },
): readonly TaskEvent[] {
  const turns = Array.from({ length: each }, (_, turn): readonly Timed[] => {
    const begin = at * 10 + turn * 30;
    return [
      [begin, asked(turn + 1)],
      [begin + 15, turnEnded({ turn: turn + 1 })],
      [begin + 15, called(`c${turn}`, 'Read')],
      [begin + 28, returned(`c${turn}`, 'Read', words)],
    ];
  });
  const last = at * 10 + each * 30;
  const log: readonly Timed[] = [
    [at * 10, STARTED],
    ...turns.flat(),
    ...(posts ? [[last, posted(id, words)] as const] : []),
    [last, ended(words)],
  ];
  return logOf(id, log, { parent: 'root00000000', description: words, prompt: words });
}
