import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../base/ids.ts';
import { flagGrantEvents } from '../task/user-approvals.ts';
import { limitRightsToParent, type AgentGrant } from '../../policy/mode-grants.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import { effectiveMode } from '../../policy/modes.ts';
import type { PermissionMode, Rights } from '../../protocol/permission.ts';
import { isModeNotice, modeNoticeEvents } from '../questions/set-mode.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { isInterruptionNotice } from '../task/interruption-notice.ts';
import type { EngineContext } from './engine-context.ts';
import { combineLimits } from '../limits/configured-limits.ts';

/** The terms on which a task is resumed. */
export interface ResumeTerms {
  /** A task id, or `user`. */
  readonly by: string;
  /** The call that resumes it, or null for a person. */
  readonly callId: string | null;
  /** The next message, or null for none. */
  readonly message: TaskInput | null;
  /** True if a task that has ended and gets no message is told to go on. Default: true. */
  readonly isToldToGoOn?: boolean;
  /** The limit of its rights: it gets the recorded ones, narrowed to these. */
  readonly maxRights: Rights;
  /** Default: the recorded model. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
  /** The mode that a person chose. Default: the recorded one. */
  readonly mode?: PermissionMode;
  /** Set to only summarize the context of a task that has ended. */
  readonly compacts?: { readonly keep: string | null };
}

/** Writes the resume of a recovered task and its terms in one batch. A task that had not ended just continues. */
export function recordResume(deps: EngineDeps, run: TaskRun, order: ResumeTerms): void {
  const { by, callId } = order;
  const hasEnded = run.state.end !== null;
  const isConversation = run.spec.fanOut === undefined;
  const { compacts, isToldToGoOn: isWanted = true } = order;
  const isToldToGoOn = isWanted && hasEnded && isConversation && compacts === undefined;
  const message = order.message ?? (isToldToGoOn ? continueMessage() : null);
  const only = compacts === undefined ? {} : { compacts };
  // `task.resumed` comes last: after a crash in the middle of the batch the task is still ended and can be resumed.
  const events: readonly EventBody[] = [
    ...(hasEnded ? withdrawNotices(run) : []),
    ...changedMode(run, order),
    ...(message === null ? [] : [{ type: 'input.queued', input: message } as const]),
    ...changedTerms(deps, run, order),
    ...(run.parent === null ? flagGrantEvents(deps.inbox.modeGrants, run.state.modeGrants) : []),
    ...(hasEnded ? [{ type: 'task.resumed', by, callId, ...only } as const] : []),
  ];
  if (events.length > 0) run.journal.record(...events);
}

/** Withdraws queued notices of Muster, which are about the work that ended, such as a reached limit. */
function withdrawNotices({ state }: TaskRun): readonly EventBody[] {
  const { queued } = state.conversation;
  const ids = queued.flatMap(({ id, kind }) =>
    kind === 'notice' && !isModeNotice(id) && !isInterruptionNotice(id) ? [id] : [],
  );
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/** Creates the message for an ended task that is resumed without another message. */
export function continueMessage(): TaskInput {
  return { id: newId(), kind: 'message', from: 'user', text: 'Go on with the task.' };
}

/** Narrows the rights of a recovered descendant to those that its parent has now. */
export function recordMaxRights(run: TaskRun, maxRights: Rights): void {
  const { limits, model } = run.spec;
  const rights = limitRightsToParent(run.spec.rights, maxRights, modeTerms(run));
  if (isDeepStrictEqual(rights, run.spec.rights)) return;
  run.journal.record({ type: 'terms.changed', rights, limits, model });
}

function changedTerms(deps: EngineDeps, run: TaskRun, order: ResumeTerms): readonly EventBody[] {
  const { spec, state } = run;
  const { settings } = deps;
  const rights = withMode(run, order);
  // A fallback model is used only until the end of the activation.
  const recorded =
    state.end === null ? spec.model : (state.activation.failedModels[0] ?? spec.model);
  const model = order.model ?? recorded;
  const hasNewLimits = state.end !== null || order.maxTurns !== undefined;
  const limits = hasNewLimits
    ? combineLimits({
        config: spec.parent === null ? settings.rootLimits : settings.taskLimits,
        definition: spec.agent.limits,
        call: order.maxTurns === undefined ? {} : { maxTurns: order.maxTurns },
      })
    : spec.limits;
  const before = { rights: spec.rights, limits: spec.limits, model: spec.model };
  if (isDeepStrictEqual({ rights, limits, model }, before)) return [];
  return [{ type: 'terms.changed', rights, limits, model }];
}

/** Tells a conversation about a changed mode, whether the person chose it for this message or with a flag. */
function changedMode(run: TaskRun, order: ResumeTerms): readonly EventBody[] {
  const { parent, fanOut, rights } = run.spec;
  const { mode } = withMode(run, order);
  if (parent !== null || fanOut !== undefined || mode === rights.mode) return [];
  return modeNoticeEvents(run, mode);
}

function modeTerms({ spec, permissions }: TaskRun): AgentGrant {
  return { definition: spec.agent, grant: permissions.modeGrant };
}

/** Returns the recorded rights narrowed to what is granted now, with the mode that the person chose. */
function withMode(run: TaskRun, { maxRights, mode }: ResumeTerms): Rights {
  const { spec } = run;
  const rights = limitRightsToParent(spec.rights, maxRights, modeTerms(run));
  return mode === undefined ? rights : { ...rights, mode: effectiveMode(spec.agent, mode) };
}

/**
 * Starts the loops of recovered tasks, after it has killed the processes that they left behind under the previous
 * owner, which would interfere.
 */
export async function startActivations(
  { startLoop }: Pick<EngineContext, 'startLoop'>,
  opened: readonly TaskRun[],
): Promise<void> {
  const ids = opened.map((run) => run.spec.id);
  try {
    await endMarkedProcesses(TASK_VARIABLE, ids);
  } finally {
    for (const run of opened) startLoop(run);
  }
}
