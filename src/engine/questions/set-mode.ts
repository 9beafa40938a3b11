import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { effectiveMode, isNarrowerMode } from '../../policy/modes.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { describeMode } from '../prompt/prompt.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

interface Conversation {
  readonly spec: TaskSpec;
  readonly state: Pick<TaskState, 'conversation'>;
}

interface WritableConversation extends Conversation {
  readonly journal: { record(...bodies: readonly EventBody[]): void };
}

/** The prefix of the ids of notices about a changed mode. */
const NOTICE_ID_PREFIX = 'mode-';

/**
 * Changes the mode of a conversation and queues a notice for its model. Throws MusterError (`INVALID_PARAM`) for a
 * task that is not a conversation, and for a mode that the definition of its agent forbids.
 */
export function changeMode(
  run: WritableConversation,
  mode: PermissionMode,
): { readonly isNarrower: boolean } {
  requireMode(run, mode);
  const before = run.spec.rights.mode;
  const terms = modeChangeEvents(run, mode);
  if (terms.length > 0) run.journal.record(...modeNoticeEvents(run, mode), ...terms);
  return { isNarrower: isNarrowerMode(mode, before) };
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
 * definition allows; an empty list when the mode does not change. The tasks below the conversation keep the rights
 * with which they were created as their maximum.
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
        text: `<notice>The user set another mode. ${describeMode(mode)}</notice>`,
      },
    },
  ];
}

/** Returns true for the id of a notice about a mode. Such a notice is still delivered when a task is resumed. */
export function isModeNotice(id: string): boolean {
  return id.startsWith(NOTICE_ID_PREFIX);
}
