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
const NOTICE = 'mode-';

/**
 * Changes the mode of a conversation and queues a notice for its model. Throws MusterError (`INVALID_PARAM`) for a
 * task that is not a conversation, and for a mode that its definition forbids.
 */
export function changeMode(
  run: WritableConversation,
  mode: PermissionMode,
): { readonly isNarrower: boolean } {
  requireMode(run, mode);
  const before = run.spec.rights.mode;
  const terms = modeTerms(run, mode);
  if (terms.length > 0) run.journal.record(...modeNoticeEvents(run, mode), ...terms);
  return { isNarrower: isNarrowerMode(mode, before) };
}

function requireMode({ spec }: Conversation, mode: PermissionMode): void {
  if (spec.parent !== null) {
    const message = `task ${spec.id} is no conversation: its mode is set by it`;
    throw new MusterError('INVALID_PARAM', message);
  }
  if (effectiveMode(spec.agent, mode) === mode) return;
  const message = `${spec.agent.name} runs in ${spec.agent.mode} mode at most, as its definition says`;
  throw new MusterError('INVALID_PARAM', message);
}

/**
 * Returns the events that give a conversation this mode, at most the one that its definition allows; none when it has
 * that mode. Tasks below it never get more than they were created with.
 */
function modeTerms(
  { spec }: Pick<Conversation, 'spec'>,
  wanted: PermissionMode,
): readonly EventBody[] {
  const mode = effectiveMode(spec.agent, wanted);
  if (mode === spec.rights.mode) return [];
  const { limits, model, rights } = spec;
  return [{ type: 'terms.changed', rights: { ...rights, mode }, limits, model }];
}

/** Returns the events of an approved plan. Pending notices are withdrawn, since the answer names the new mode. */
export function planApprovalEvents(
  run: Conversation,
  wanted: PermissionMode,
): readonly EventBody[] {
  return [...withdrawnNotices(run.state), ...modeTerms(run, wanted)];
}

function withdrawnNotices({ conversation }: Conversation['state']): readonly EventBody[] {
  const ids = conversation.queued.map(({ id }) => id).filter(isModeNotice);
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/** Returns the events that notify the model of its mode, since its system prompt names the mode at its start. */
export function modeNoticeEvents(
  { spec, state }: Conversation,
  wanted: PermissionMode,
): readonly EventBody[] {
  const mode = effectiveMode(spec.agent, wanted);
  return [
    ...withdrawnNotices(state),
    {
      type: 'input.queued',
      input: {
        id: `${NOTICE}${newId()}`,
        kind: 'notice',
        from: 'user',
        text: `<notice>The user set another mode. ${describeMode(mode)}</notice>`,
      },
    },
  ];
}

/** Returns true for the id of a notice about a mode, which is still delivered when a task is resumed. */
export function isModeNotice(id: string): boolean {
  return id.startsWith(NOTICE);
}
