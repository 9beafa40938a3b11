import { formatDuration, plural } from '../../base/text.ts';
import { printable } from '../../base/printable.ts';
import type { NoticeLevel, TaskEvent } from '../../protocol/event.ts';
import type { TaskState } from '../../protocol/state.ts';

/** What is told: long waits and warnings alone, also the tasks, also each of their calls. */
export type LiveDetail = 'waits' | 'tasks' | 'calls';

/** A wait that a person who sees nothing else would take for a hang. */
const LONG_WAIT_MS = 2_000;

/**
 * What is going on, a line at a time, for a person who waits: one when a subagent starts, one for what
 * it notifies of, and one when it ends.
 */
export class LiveLines {
  private readonly write: (line: string) => void;
  private readonly detail: LiveDetail;

  constructor(write: (line: string) => void, detail: LiveDetail) {
    this.write = write;
    this.detail = detail;
  }

  /** `state`: the fold of the task's log with the event. */
  show(event: TaskEvent, state: TaskState): void {
    const line = lineFor(event, state, this.detail);
    // What a model wrote must not pass for a line of its own.
    if (line !== null) this.write(printable(line.replaceAll(/\s*\n\s*/g, ' ')));
  }
}

const NOTICE_MARKS: Readonly<Record<NoticeLevel, string>> = {
  info: '·',
  warning: '! warning:',
  error: '! error:',
};

/** Also to a person who watches nothing: a long wait, and what is not as it was asked for. */
function isAlwaysTold(event: TaskEvent): boolean {
  return (
    event.type === 'warning' || (event.type === 'turn.retried' && event.waitMs >= LONG_WAIT_MS)
  );
}

function lineFor(event: TaskEvent, state: TaskState, detail: LiveDetail): string | null {
  if (detail === 'waits' && !isAlwaysTold(event)) return null;
  const { spec } = state;
  const indent = '  '.repeat(Math.max(spec.depth - 1, 0));
  const name = spec.parent === null ? spec.agent.name : `${spec.agent.name} ${spec.id.slice(0, 6)}`;
  switch (event.type) {
    case 'task.created':
      return spec.parent === null ? null : `${indent}▸ ${name}: ${spec.description}`;
    case 'task.resumed':
      return spec.parent === null ? null : `${indent}▸ ${name}: goes on: ${spec.description}`;
    case 'notified':
      return `${indent}${NOTICE_MARKS[event.level]} ${name}: ${event.message}`;
    case 'task.ended':
      return spec.parent === null ? null : `${indent}${endMark(state)} ${name}: ${endFacts(state)}`;
    case 'turn.retried':
      return `${indent}… ${name}: ${event.failure.message}; again in ${formatDuration(event.waitMs)}`;
    case 'warning':
      return `${indent}! ${name}: ${event.message}`;
    case 'call.started':
      return detail === 'calls' ? `${indent}  ${name}: ${event.tool} ${brief(event.input)}` : null;
    case 'call.refused':
      return detail === 'calls' ? `${indent}  ${name}: ${event.tool} refused: ${event.text}` : null;
    default:
      return null;
  }
}

function endMark(state: TaskState): string {
  return state.status === 'completed' ? '✓' : '✗';
}

function endFacts(state: TaskState): string {
  let calls = 0;
  for (const count of state.toolCounts.values()) calls += count;
  const facts = [
    ...(state.status === 'completed' ? [] : [`${state.status} (${state.end?.because ?? ''})`]),
    plural(state.turns, 'turn'),
    plural(calls, 'tool call'),
    formatDuration((state.endedAt ?? state.createdAt) - state.createdAt),
  ];
  return facts.join(', ');
}

const BRIEF_LENGTH = 100;

function brief(input: unknown): string {
  const text = JSON.stringify(input);
  return text.length <= BRIEF_LENGTH ? text : `${text.slice(0, BRIEF_LENGTH)}…`;
}
