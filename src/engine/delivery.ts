import { formatDuration, plural, truncate } from '../base/text.ts';
import type { EventBody, TaskInput } from '../protocol/event.ts';
import { NOTHING } from '../protocol/model.ts';
import type { TaskState } from '../protocol/state.ts';
import type { EngineDeps } from './deps.ts';
import { noticeItem } from './notice-text.ts';
import { elapsedMs, wholeResult } from './result.ts';
import type { TaskRun } from './task-run.ts';

/** Code points of a result that stand in the notice of it; a longer one is for TaskOutput to read. */
const RESULT_IN_NOTICE = 600;

/**
 * Brings the end of a task to the one that gets its result. Where that can't be written down, the
 * other one would wait for ever: it fails.
 */
export function deliverEnd(deps: EngineDeps, run: TaskRun): void {
  const { parent } = run;
  if (parent === null) return;
  try {
    recordEnd(parent, run.outcome());
  } catch (thrown) {
    deps.onFault(parent.spec.id, thrown);
    parent.fail(thrown);
  }
  parent.wake();
}

/**
 * Writes into the parent's log that a child has ended: its outbox. A call that waits for it reads the
 * result from there on; for a child in the background the notice is queued, in the same batch, and
 * stays queued until it stands in a request.
 */
export function recordEnd(parent: TaskRun, child: TaskState): void {
  const { id } = child.spec;
  const known = parent.state.children.get(id);
  if (known === undefined || known.status !== null) return;
  const events: EventBody[] = [
    {
      type: 'child.ended',
      child: id,
      // Without a written end (a full disk) it did not end well, and nobody must wait for it.
      status: child.end?.status ?? 'failed',
      changed: [...child.filesChanged.values()],
      spent: child.stint.spent,
      below: tasksBelow(child),
    },
  ];
  if (known.background) events.push({ type: 'input.queued', input: endNotice(child) });
  parent.journal.record(...events);
}

/** For a child that can't be gone on with: nobody must wait for it. */
export function recordLoss(parent: TaskRun, id: string, because: string): void {
  const known = parent.state.children.get(id);
  if (known === undefined || known.status !== null) return;
  const { below, background } = known;
  const text = noticeItem(`- Task ${id} is lost: ${because}.`);
  const input = { id: `${id}-lost`, kind: 'result', from: id, text } as const;
  parent.journal.record(
    { type: 'child.ended', child: id, status: 'failed', changed: [], spent: NOTHING, below },
    ...(background ? [{ type: 'input.queued', input } as const] : []),
  );
}

/** All that a state knows of below a task; what is at work there tells by its own end. */
export function tasksBelow({ children }: TaskState): readonly string[] {
  const ids = new Set<string>();
  for (const [id, { below }] of children) {
    ids.add(id);
    for (const lower of below) ids.add(lower);
  }
  return [...ids];
}

/**
 * The id of the notice of a task's end: another one for each time it ends. One whose end is not written
 * may go on and end within the same stint.
 */
export function endNoticeId({ spec, stint, status, lastSeq }: TaskState): string {
  const id = `${spec.id}-${stint.number}`;
  return status === 'interrupted' ? `${id}-lost-${lastSeq}` : id;
}

function endNotice(child: TaskState): TaskInput {
  const { spec, end } = child;
  const whole = wholeResult(child).trim();
  const shown = truncate(whole, RESULT_IN_NOTICE);
  const facts = [
    end?.status ?? child.status,
    plural(child.turns, 'turn'),
    formatDuration(elapsedMs(child)),
  ].join(', ');
  const error = end?.error ?? null;
  const parts = [
    `- Task ${spec.id} (${spec.agent.name}: ${spec.description}): ${facts}.`,
    ...(error === null ? [] : [`${error.code}: ${error.message}.`]),
    ...(shown === '' ? ['It gave no text.'] : [`Result: ${shown}`]),
    ...(shown.length < whole.length ? [`[Cut. The whole: TaskOutput(task_id: "${spec.id}")]`] : []),
  ];
  return {
    id: endNoticeId(child),
    kind: 'result',
    from: spec.id,
    text: noticeItem(parts.join(' ')),
  };
}
