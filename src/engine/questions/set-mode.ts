import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { effectiveMode, isNarrowerMode } from '../../policy/modes.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { describeMode } from '../prompt/prompt.ts';
import type { AnswerWriter, TaskWithMode } from '../task/inbox.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

interface Conversation {
  readonly spec: TaskSpec;
  readonly state: Pick<TaskState, 'conversation'>;
}

interface WritableConversation extends Conversation, TaskWithMode {
  readonly spec: TaskSpec;
}

/** The prefix of the ids of notices about a changed mode. */
const NOTICE_ID_PREFIX = 'mode-';

/**
 * Changes the mode of a conversation and of its tasks at work, and queues a notice for its model. Throws MusterError
 * (`INVALID_PARAM`) for a task that is not a conversation, and for a mode that the definition of its agent forbids.
 *
 * @param tasks all tasks of its tree at work, each after its parent
 */
export function changeMode(
  run: WritableConversation,
  mode: PermissionMode,
  tasks: Iterable<TaskWithMode>,
): void {
  requireMode(run, mode);
  const terms = modeChangeEvents(run, mode);
  if (terms.length > 0) run.journal.record(...modeNoticeEvents(run, mode), ...terms);
  widenTasks(tasks);
}

/**
 * Gives tasks at work the mode that they would have been created with in the present mode of their parents, if that is
 * wider than their own. Nothing widens a task that was created in plan mode. A narrower mode of a parent limits the tasks
 * below it without being recorded for them.
 */
function widenTasks(tasks: Iterable<TaskWithMode>): void {
  for (const { spec, parent, journal } of tasks) {
    if (parent === null || spec.rights.mode === 'plan') continue;
    const mode = effectiveMode(spec.agent, parent.permissions.rights.mode);
    if (!isNarrowerMode(spec.rights.mode, mode)) continue;
    const { limits, model, rights } = spec;
    journal.record({ type: 'terms.changed', rights: { ...rights, mode }, limits, model });
  }
}

/** The mode in which edits inside the workspace roots run without a question. */
const EDITING_MODE = 'acceptEdits';

/**
 * Sets the mode acceptEdits for the conversation of the task that asks, unless its mode is wider already. Throws MusterError
 * (`CONFLICT`) in plan mode, which the user has set after the question was asked: only a choice of a mode lifts it.
 */
export function acceptEdits({ top, tree }: AnswerWriter): void {
  if (top.permissions.rights.mode === 'plan') {
    const message =
      'the conversation is in plan mode now, so no edit is accepted: set another mode first';
    throw new MusterError('CONFLICT', message);
  }
  const isWideEnough = !isNarrowerMode(top.permissions.rights.mode, EDITING_MODE);
  if (isWideEnough) widenTasks(tree.members);
  else changeMode(top, EDITING_MODE, tree.members);
}

/**
 * Returns true if a conversation and the task that asks can have the mode acceptEdits: no definition on the way down to
 * the task has a narrower mode, and none of these tasks was created in plan mode.
 */
export function canAcceptEdits(task: Pick<TaskWithMode, 'spec' | 'parent'>): boolean {
  const { spec, parent } = task;
  if (effectiveMode(spec.agent, EDITING_MODE) !== EDITING_MODE) return false;
  if (parent === null) return spec.parent === null;
  return spec.rights.mode !== 'plan' && canAcceptEdits(parent);
}

function requireMode({ spec }: Conversation, mode: PermissionMode): void {
  if (spec.parent !== null) {
    const message = `task ${spec.id} is not a conversation: only the mode of the conversation that it belongs to can be changed`;
    throw new MusterError('INVALID_PARAM', message);
  }
  if (effectiveMode(spec.agent, mode) === mode) return;
  const message = `${spec.agent.name} runs in ${spec.agent.mode} mode at most, as its definition says`;
  throw new MusterError('INVALID_PARAM', message);
}

/**
 * Returns the events that set the mode of a conversation to the requested mode, or to the widest mode that its
 * definition allows; an empty list when the mode does not change.
 */
function modeChangeEvents(
  { spec }: Pick<Conversation, 'spec'>,
  requested: PermissionMode,
): readonly EventBody[] {
  const mode = effectiveMode(spec.agent, requested);
  if (mode === spec.rights.mode) return [];
  const { limits, model, rights } = spec;
  return [{ type: 'terms.changed', rights: { ...rights, mode }, limits, model }];
}

/**
 * Returns the events that follow the approval of a plan. Pending notices about a mode are withdrawn, since the answer
 * names the new mode.
 */
export function planApprovalEvents(
  run: Conversation,
  requested: PermissionMode,
): readonly EventBody[] {
  return [...withdrawModeNoticeEvents(run.state), ...modeChangeEvents(run, requested)];
}

function withdrawModeNoticeEvents({ conversation }: Conversation['state']): readonly EventBody[] {
  const ids = conversation.queued.map(({ id }) => id).filter(isModeNotice);
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/**
 * Returns the events that notify the model of the requested mode. They are needed because the system prompt names the
 * mode with which the task started.
 */
export function modeNoticeEvents(
  { spec, state }: Conversation,
  requested: PermissionMode,
): readonly EventBody[] {
  const mode = effectiveMode(spec.agent, requested);
  return [
    ...withdrawModeNoticeEvents(state),
    {
      type: 'input.queued',
      input: {
        id: `${NOTICE_ID_PREFIX}${newId()}`,
        kind: 'notice',
        from: 'user',
        text: `<notice>The user set another mode. ${describeMode(mode, spec.tools)}</notice>`,
      },
    },
  ];
}

/** Returns true for the id of a notice about a mode. Such a notice is still delivered when a task is resumed. */
export function isModeNotice(id: string): boolean {
  return id.startsWith(NOTICE_ID_PREFIX);
}
