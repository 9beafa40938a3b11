import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { effectiveMode, isNarrowerMode } from '../../policy/modes.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { modeText } from '../prompt/prompt.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

interface Conversation {
  readonly spec: TaskSpec;
  readonly state: Pick<TaskState, 'conversation'>;
}

interface WritableConversation extends Conversation {
  readonly journal: { record(...bodies: readonly EventBody[]): void };
}

/** Begins the ids of inputs that tell a model of another mode. */
const NOTICE = 'mode-';

/**
 * Writes another mode down, and that its model is to be told of it. Throws MusterError: `INVALID_PARAM` for a task
 * that no person talks to, or a mode that its definition forbids.
 */
export function recordMode(
  run: WritableConversation,
  mode: PermissionMode,
): { readonly isNarrower: boolean } {
  requireMode(run, mode);
  const before = run.spec.rights.mode;
  const terms = modeTerms(run, mode);
  if (terms.length > 0) run.journal.record(...modeNotice(run, mode), ...terms);
  return { isNarrower: isNarrowerMode(mode, before) };
}

function requireMode({ spec }: Conversation, mode: PermissionMode): void {
  if (spec.parent !== null) {
    throw new MusterError(
      'INVALID_PARAM',
      `task ${spec.id} is no conversation: its mode is set by it`,
    );
  }
  if (effectiveMode(spec.agent, mode) === mode) return;
  throw new MusterError(
    'INVALID_PARAM',
    `${spec.agent.name} runs in ${spec.agent.mode} mode at most, as its definition says`,
  );
}

/**
 * What gives a conversation this mode: a person's own word, and so up to what its definition wants. No events
 * where it has it. What is below it never gets more than it was made with.
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

/** As `modeTerms`, by an answer that tells the model of the mode itself: what was still to be said of one is not. */
export function approvedTerms(run: Conversation, wanted: PermissionMode): readonly EventBody[] {
  return [...withdrawnNotices(run.state), ...modeTerms(run, wanted)];
}

function withdrawnNotices({ conversation }: Conversation['state']): readonly EventBody[] {
  const ids = conversation.queued.map(({ id }) => id).filter(isModeNotice);
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/** Tells its model of the mode, in its next request: in what it begins with stands the mode that it began in. */
export function modeNotice(
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
        text: `<notice>The user set another mode. ${modeText(mode)}</notice>`,
      },
    },
  ];
}

/** Whether it is still to be said when a task goes on after its end. */
export function isModeNotice(id: string): boolean {
  return id.startsWith(NOTICE);
}
