import { dropMissing } from '../../base/drop-missing.ts';
import { isDeepStrictEqual } from 'node:util';
import type { TaskInput } from '../../protocol/input.ts';
import type { Effort, ResolvedModel } from '../../protocol/model.ts';
import { isRemoteProvider } from '../../protocol/remote-agent.ts';
import type { TaskRun } from '../task/task-run.ts';
import { newId } from '../../base/ids.ts';
import { flagGrantEvents } from '../task/inbox.ts';
import { limitRightsToParent, type AgentGrant } from '../../policy/mode-grants.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { effectiveMode } from '../../policy/modes.ts';
import type { PermissionMode, Rights } from '../../protocol/permission.ts';
import { isModeNotice, modeNoticeEvents } from '../questions/set-mode.ts';
import type { EngineDeps } from '../task/deps.ts';
import { isRewindNotice } from '../rewind/restore-file.ts';
import { isInterruptionNotice } from '../task/stop-order.ts';
import { combineLimits, type RunLimits } from '../limits/configured-limits.ts';

/** The terms on which a task is resumed. */
interface ResumeTerms {
  /** A task id, or `user`. */
  readonly by: string;
  /** The id of the call that resumes the task, or null for a person. */
  readonly callId: string | null;
  /** The next message, or null for none. */
  readonly message: TaskInput | null;
  /** True to add a message that asks the task to continue, if it has ended and gets no other message. Default: true. */
  readonly asksToContinue?: boolean;
  /** The maximum rights. The task gets its recorded rights, narrowed to these. */
  readonly maxRights: Rights;
  /** Default: the recorded model. A remote agent keeps the recorded one. */
  readonly model?: ResolvedModel;
  /** The effort of the requests; null for that of the model. Default: the recorded effort. */
  readonly effort?: Effort | null;
  readonly maxTurns?: number;
  /** The limits of the work that begins. Default: those of the configuration. */
  readonly limits?: RunLimits;
  /** The mode that a person chose. Default: the recorded mode. */
  readonly mode?: PermissionMode;
  /** Set to only summarize the context of a task that has ended. `keep` is what the summary has to keep. */
  readonly compacts?: { readonly keep: string | null };
}

/**
 * Records the resume of a recovered task and its terms in one batch. A task that had not ended needs no resume event.
 */
export function recordResume(deps: EngineDeps, run: TaskRun, terms: ResumeTerms): void {
  const { by, callId } = terms;
  const hasEnded = run.state.end !== null;
  const isConversation = run.spec.fanOut === undefined;
  const { compacts, asksToContinue = true } = terms;
  const needsMessage = asksToContinue && hasEnded && isConversation && compacts === undefined;
  const message = terms.message ?? (needsMessage ? createContinueMessage() : null);
  const compactsField = compacts === undefined ? {} : { compacts };
  // `task.resumed` comes last: after a crash in the middle of the batch the task is still ended and can be resumed.
  const events: readonly EventBody[] = [
    ...(hasEnded ? buildWithdrawalEvents(run) : []),
    ...buildModeEvents(run, terms),
    ...(message === null ? [] : [{ type: 'input.queued', input: message } as const]),
    ...toTermsEvents(deps, run, terms),
    ...(run.parent === null ? flagGrantEvents(deps.inbox.modeGrants, run.state.modeGrants) : []),
    ...(hasEnded ? [{ type: 'task.resumed', by, callId, ...compactsField } as const] : []),
  ];
  if (events.length > 0) run.journal.record(...events);
}

/**
 * Withdraws queued notices of Muster about the work that ended, such as a reached limit. Notices of a mode, an interruption
 * or files that were put back stay.
 */
function buildWithdrawalEvents({ state }: TaskRun): readonly EventBody[] {
  const { queued } = state.conversation;
  const stays = (id: string): boolean =>
    isModeNotice(id) || isInterruptionNotice(id) || isRewindNotice(id);
  const ids = queued.flatMap(({ id, kind }) => (kind === 'notice' && !stays(id) ? [id] : []));
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/** Creates the message for an ended task that is resumed without another message. */
export function createContinueMessage(): TaskInput {
  return { id: newId(), kind: 'message', from: 'user', text: 'Go on with the task.' };
}

/** Narrows the rights of a recovered descendant to the current rights of its parent. */
export function recordNarrowedRights(run: TaskRun, maxRights: Rights): void {
  const { limits, model } = run.spec;
  const rights = limitRightsToParent(run.spec.rights, maxRights, toAgentGrant(run));
  if (isDeepStrictEqual(rights, run.spec.rights)) return;
  run.journal.record({ type: 'terms.changed', rights, limits, model });
}

/** Builds the event that records changed rights, limits or model, if there are any. */
function toTermsEvents(deps: EngineDeps, run: TaskRun, terms: ResumeTerms): readonly EventBody[] {
  const { spec, state } = run;
  const { settings } = deps;
  const rights = computeRights(run, terms);
  // A fallback model is used only until the end of the activation, and the model of a slash command only for its turn. Then the
  // model before them is used again.
  const own = state.modelAfterCommand ?? state.activation.failedModels[0] ?? spec.model;
  const recorded = state.end === null ? spec.model : own;
  const model = isRemoteProvider(recorded.provider) ? recorded : (terms.model ?? recorded);
  const call: RunLimits = { ...dropMissing({ maxTurns: terms.maxTurns }), ...terms.limits };
  const hasNewLimits = state.end !== null || Object.keys(call).length > 0;
  const limits = hasNewLimits
    ? combineLimits({
        config: spec.parent === null ? settings.rootLimits : settings.taskLimits,
        definition: spec.agent.limits,
        call,
      })
    : spec.limits;
  const before = { rights: spec.rights, limits: spec.limits, model: spec.model };
  const hasNewEffort = terms.effort !== undefined && terms.effort !== (spec.agent.effort ?? null);
  const effort = hasNewEffort ? { effort: terms.effort } : {};
  if (!hasNewEffort && isDeepStrictEqual({ rights, limits, model }, before)) return [];
  return [{ type: 'terms.changed', rights, limits, model, ...effort }];
}

/**
 * Builds the notice about a changed mode for a conversation, whether the mode was chosen for this message or by a flag.
 */
function buildModeEvents(run: TaskRun, terms: ResumeTerms): readonly EventBody[] {
  const { parent, fanOut, rights } = run.spec;
  const { mode } = computeRights(run, terms);
  if (parent !== null || fanOut !== undefined || mode === rights.mode) return [];
  return modeNoticeEvents(run, mode);
}

function toAgentGrant({ spec, permissions }: TaskRun): AgentGrant {
  return { definition: spec.agent, grant: permissions.modeGrant };
}

/** Returns the recorded rights, narrowed to the maximum rights, with the mode that the person chose. */
function computeRights(run: TaskRun, { maxRights, mode }: ResumeTerms): Rights {
  const { spec } = run;
  const rights = limitRightsToParent(spec.rights, maxRights, toAgentGrant(run));
  return mode === undefined ? rights : { ...rights, mode: effectiveMode(spec.agent, mode) };
}
