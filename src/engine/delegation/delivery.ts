import { formatDuration, plural, truncate } from '../../base/text.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskInput } from '../../protocol/input.ts';
import { NOTHING } from '../../protocol/model.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import { flagsText } from '../../receipts/answer-flags.ts';
import { receiptParts } from '../../receipts/receipt-line.ts';
import { childReceipt } from '../../receipts/receipt.ts';
import type { EngineDeps } from '../task/deps.ts';
import { staleReadsNote } from '../task/file-versions.ts';
import { indentNoticeItem } from '../../protocol/notice-text.ts';
import { foldLog } from '../task/fold-log.ts';
import { elapsedMs, fullResult, endNoticeId } from '../results/result.ts';
import { resumeHint } from '../results/resume-hint.ts';
import { delegationsToReport, type Above } from './check-repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Code points of a result that stand in the notice of it; a longer one is for TaskOutput to read. */
const RESULT_IN_NOTICE = 600;
/**
 * UTF-16 units of what waits to be told of ends. Of those that come on top only the line that says so
 * stands in the notice: the ends of a thousand tasks must fit into one request.
 */
const RESULTS_TOGETHER = 24_000;

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
  parent.mailbox.wake();
}

/**
 * Writes into the parent's log that a child has ended: its outbox. A call that waits for it reads the
 * result from there on; for a child in the background a notice is queued, until it stands in a request.
 */
export function recordEnd(parent: Pick<TaskRun, 'journal'> & Above, child: TaskState): void {
  const { id } = child.spec;
  const known = parent.state.children.get(id);
  if (known === undefined || known.status !== null) return;
  const delegations = delegationsToReport(child, parent);
  const ended: EventBody = {
    type: 'child.ended',
    child: id,
    // Without a written end (a full disk) it did not end well, and nobody must wait for it.
    status: child.end?.status ?? 'failed',
    changed: [...child.filesChanged.values()],
    spent: child.activation.spent,
    work: child.activation.work,
    below: tasksBelow(child),
    ...(Object.keys(delegations).length === 0 ? {} : { delegations }),
    receipt: childReceipt(child),
  };
  const most = Math.max(0, Math.min(RESULT_IN_NOTICE, RESULTS_TOGETHER - untold(parent.state)));
  recordWithNotice(parent, ended, known.background ? endNotice(parent.state, child, most) : null);
}

/** For a child that can't be gone on with: nobody must wait for it. */
export function recordLoss(
  parent: Pick<TaskRun, 'journal' | 'state'>,
  id: string,
  because: string,
): void {
  const known = parent.state.children.get(id);
  if (known === undefined || known.status !== null) return;
  const { below, background } = known;
  const text = indentNoticeItem(`- Task ${id} is lost: ${because}.`);
  const nonce = drawNonce(text);
  const input = { id: `${id}-lost`, kind: 'result', from: id, text, nonce } as const;
  const ended = { type: 'child.ended', child: id, status: 'failed', changed: [] } as const;
  recordWithNotice(parent, { ...ended, spent: NOTHING, below }, background ? input : null);
}

/** The notice first: a crash in the middle of the batch then makes it all be written again. */
function recordWithNotice(
  parent: Pick<TaskRun, 'journal'>,
  ended: EventBody,
  notice: TaskInput | null,
): void {
  const queued = notice === null ? [] : [{ type: 'input.queued', input: notice } as const];
  parent.journal.record(...queued, ended);
}

/**
 * For when all that is at work below a task has ended: open are then only children whose end could not be
 * written, and those that were announced before a crash and that no call makes or resumes any more.
 */
export function closeOpenChildren(
  { store }: Pick<EngineDeps, 'store'>,
  run: Pick<TaskRun, 'journal'> & Above,
): void {
  for (const id of run.state.openChildren) {
    const callId = run.state.children.get(id)?.callId ?? '';
    const child = store.exists(id) ? foldLog(store, id) : null;
    const hasBegun = child !== null && isStartedBy(child.activation, run.state.spec.id, callId);
    if (hasBegun) recordEnd(run, child);
    else recordLoss(run, id, 'the task above it ended before it began');
  }
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

function untold({ conversation: { queued } }: TaskState): number {
  return queued.reduce((sum, { kind, text }) => sum + (kind === 'result' ? text.length : 0), 0);
}

/** `most`: code points of its result. */
function endNotice(parent: TaskState, child: TaskState, most: number): TaskInput {
  const { spec, end } = child;
  const whole = fullResult(child).trim();
  const shown = truncate(whole, most);
  const facts = [
    end?.status ?? child.status,
    plural(child.turns, 'turn'),
    formatDuration(elapsedMs(child)),
  ].join(', ');
  const error = end?.error ?? null;
  const stale = staleReadsNote(parent, child);
  const hint = resumeHint(child, parent);
  const parts = [
    `- Task ${spec.id} (${spec.agent.name}: ${spec.description}): ${facts}.`,
    ...(error === null ? [] : [`${error.code}: ${error.message}.`]),
    ...(whole === '' ? ['It gave no text.'] : []),
    ...(shown === '' ? [] : [`Result: ${shown}`]),
    ...(child.activation.claims.length === 0 ? [] : [`[${flagsText(child.activation.claims)}]`]),
    `[Receipt: ${receiptParts(child, most > 0 ? 'full' : 'counts').join(' · ')}]`,
    ...(hint === '' ? [] : [hint]),
    ...(stale === '' ? [] : [stale]),
    ...(shown.length < whole.length ? [`[Cut. The whole: TaskOutput(task_id: "${spec.id}")]`] : []),
  ];
  const text = indentNoticeItem(parts.join(' '));
  return { id: endNoticeId(child), kind: 'result', from: spec.id, text, nonce: drawNonce(text) };
}
