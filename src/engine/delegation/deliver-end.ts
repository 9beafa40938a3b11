import { formatWorkspace } from '../results/workspace-text.ts';
import { formatDuration, plural, truncate } from '../../base/text.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskInput } from '../../protocol/input.ts';
import { NO_AMOUNT } from '../../protocol/model.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import { formatFlags } from '../../receipts/answer-flags.ts';
import { formatReceiptParts, buildChildReceipt } from '../../receipts/receipt.ts';
import type { EngineDeps } from '../task/deps.ts';
import { staleReadsNote } from '../task/shared-files.ts';
import { toHookCallId } from '../../protocol/hook-fields.ts';
import { indentNoticeItem } from '../../protocol/notice-text.ts';
import { foldLog } from '../task/fold-log.ts';
import { elapsedMs, fullResult, endNoticeId } from '../results/result.ts';
import { formatResumeHint } from '../results/task-report.ts';
import { countSharedDelegations, type NotifiedAncestor } from './repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The maximum length, in code points, of the result in a notice. TaskOutput returns the rest. */
const MAX_RESULT_LENGTH = 600;
/**
 * The maximum length, in UTF-16 units, of all notices of results that wait for the next request. Once it is reached, a
 * notice contains no result, so that the ends of a thousand tasks fit into one request.
 */
const MAX_QUEUED_LENGTH = 24_000;

/**
 * Reports the end of a task to its parent. If the parent's log can't be written, the parent fails, since it would
 * otherwise wait for this task forever.
 */
export function deliverEnd(deps: EngineDeps, run: TaskRun): void {
  const { parent } = run;
  if (parent === null) return;
  try {
    recordChildEnd(parent, run.outcome());
  } catch (thrown) {
    deps.onFault(parent.spec.id, thrown);
    parent.fail(thrown);
  }
  parent.mailbox.wake();
}

/**
 * Records the end of a child in its parent's log. A call that waits for the child then returns the result. For a child
 * in the background, a notice is queued for the parent's next request.
 */
export function recordChildEnd(
  parent: Pick<TaskRun, 'journal'> & NotifiedAncestor,
  child: TaskState,
): void {
  const { id } = child.spec;
  const childState = parent.state.children.get(id);
  if (childState === undefined || childState.status !== null) return;
  const delegations = countSharedDelegations(child, parent);
  const ended: EventBody = {
    type: 'child.ended',
    child: id,
    // A child whose end could not be written (a full disk) counts as failed, so that no task waits for it.
    status: child.end?.status ?? 'failed',
    ...(hasWorkspaces(child) ? { workspace: true } : {}),
    // Files in a workspace are not those of the parent. They count when they are landed.
    changed: child.spec.workspace === undefined ? [...child.filesChanged.values()] : [],
    ...(child.unlistedChanges.size === 0 || child.spec.workspace !== undefined
      ? {}
      : { unlisted: [...child.unlistedChanges.values()] }),
    spent: child.activation.spent,
    work: child.activation.work,
    below: listKnownDescendants(child),
    ...(Object.keys(delegations).length === 0 ? {} : { delegations }),
    receipt: buildChildReceipt(child),
  };
  const maxLength = Math.max(
    0,
    Math.min(MAX_RESULT_LENGTH, MAX_QUEUED_LENGTH - countQueuedLength(parent.state)),
  );
  const notice = childState.background ? createEndNotice(parent.state, child, maxLength) : null;
  recordWithNotice(parent, ended, notice);
}

function hasWorkspaces({ spec, hasWorkspacesBelow }: TaskState): boolean {
  return spec.workspace !== undefined || hasWorkspacesBelow;
}

/** Records in the parent's log that a child is lost, so that no task waits for the child. */
export function recordLostChild(
  parent: Pick<TaskRun, 'journal' | 'state'>,
  id: string,
  reason: string,
): void {
  const childState = parent.state.children.get(id);
  if (childState === undefined || childState.status !== null) return;
  const { below, background } = childState;
  const text = indentNoticeItem(`- Task ${id} is lost: ${reason}.`);
  const nonce = drawNonce(text);
  const input = { id: `${id}-lost`, kind: 'result', from: id, text, nonce } as const;
  const ended = { type: 'child.ended', child: id, status: 'failed', changed: [] } as const;
  recordWithNotice(parent, { ...ended, spent: NO_AMOUNT, below }, background ? input : null);
}

/**
 * Records an end with its notice. The notice comes first: after a crash in the middle of the batch, the end is still
 * missing and both events are written again.
 */
function recordWithNotice(
  parent: Pick<TaskRun, 'journal'>,
  ended: EventBody,
  notice: TaskInput | null,
): void {
  const queued = notice === null ? [] : [{ type: 'input.queued', input: notice } as const];
  parent.journal.record(...queued, ended);
}

/**
 * Closes the children of a task that are still open when nothing below it runs any more: children whose end could not
 * be written, and children that were reserved before a crash and that no call will start any more.
 */
export function closeOpenChildren(
  { store }: Pick<EngineDeps, 'store'>,
  run: Pick<TaskRun, 'journal'> & NotifiedAncestor,
): void {
  for (const id of run.state.openChildren) {
    const callId = run.state.children.get(id)?.callId ?? '';
    const child = store.exists(id) ? foldLog(store, id) : null;
    const hasStarted = child !== null && isStartedBy(child.activation, run.state.spec.id, callId);
    if (hasStarted) recordChildEnd(run, child);
    else recordLostChild(run, id, 'the task above it ended before it started');
  }
}

/**
 * Lists the ids of all descendants that a task's state contains, without those that answered hooks: no task can name these,
 * and they do not count as tasks of the tree. The descendants of a child are added when the child ends.
 */
export function listKnownDescendants({ children }: TaskState): readonly string[] {
  const ids = new Set<string>();
  for (const [id, { below, callId }] of children) {
    if (callId !== toHookCallId(id)) ids.add(id);
    for (const lower of below) ids.add(lower);
  }
  return [...ids];
}

function countQueuedLength({ conversation: { queued } }: TaskState): number {
  return queued.reduce((sum, { kind, text }) => sum + (kind === 'result' ? text.length : 0), 0);
}

/** Creates the notice about the end of a child. `maxLength` is the maximum length of the result, in code points. */
function createEndNotice(parent: TaskState, child: TaskState, maxLength: number): TaskInput {
  const { spec, end } = child;
  const result = fullResult(child).trim();
  const shown = truncate(result, maxLength);
  const summary = [
    end?.status ?? child.status,
    plural(child.turns, 'turn'),
    formatDuration(elapsedMs(child)),
  ].join(', ');
  const error = end?.error ?? null;
  const staleReads = staleReadsNote(parent, child);
  const hint = formatResumeHint(child, parent);
  const workspace = formatWorkspace(child);
  const parts = [
    `- Task ${spec.id} (${spec.agent.name}: ${spec.description}): ${summary}.`,
    ...(error === null ? [] : [`${error.code}: ${error.message}.`]),
    ...(result === '' ? ['It gave no text.'] : []),
    ...(shown === '' ? [] : [`Result: ${shown}`]),
    ...(child.activation.claims.length === 0 ? [] : [`[${formatFlags(child.activation.claims)}]`]),
    `[Receipt: ${formatReceiptParts(child, maxLength > 0 ? 'full' : 'counts').join(' · ')}]`,
    ...(workspace === '' ? [] : [workspace]),
    ...(hint === '' ? [] : [hint]),
    ...(staleReads === '' ? [] : [staleReads]),
    ...(shown.length < result.length ? [`[Cut. In full: TaskOutput(task_id: "${spec.id}")]`] : []),
  ];
  const text = indentNoticeItem(parts.join(' '));
  return { id: endNoticeId(child), kind: 'result', from: spec.id, text, nonce: drawNonce(text) };
}
