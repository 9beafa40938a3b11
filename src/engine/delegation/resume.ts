import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../base/ids.ts';
import { rightsBelow, type ModeTerms } from '../../policy/mode-grants.ts';
import { flagGrantEvents } from '../task/mode-grant-store.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import { effectiveMode } from '../../policy/modes.ts';
import type { PermissionMode, Rights } from '../../protocol/permission.ts';
import { isModeNotice, modeNotice } from '../questions/set-mode.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import type { EngineDeps } from '../task/deps.ts';
import { combineLimits } from '../limits/limits.ts';
import type { TaskRun } from '../task/task-run.ts';
import { isInterruptionNotice } from '../task/interruption-notice.ts';
import type { EngineContext } from './engine-context.ts';

/** How a task goes on. */
export interface ResumeOrder {
  /** A task id, or `user`. */
  readonly by: string;
  /** The call that resumes it; null for a person. */
  readonly callId: string | null;
  /** The next message; null: none. */
  readonly message: TaskInput | null;
  /** Whether one that has ended, and gets no message, is told to go on. Default true. */
  readonly isToldToGoOn?: boolean;
  /** Its rights are those recorded, cut by these. */
  readonly maxRights: Rights;
  /** Absent: as recorded. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
  /** By a person's own word. Absent: as recorded. */
  readonly mode?: PermissionMode;
  /** Only its context is summarised; of one that has ended. */
  readonly compacts?: { readonly keep: string | null };
}

/** Writes down, in one batch, that and how an opened task goes on. What had not ended just goes on. */
export function recordResume(deps: EngineDeps, run: TaskRun, order: ResumeOrder): void {
  const { by, callId } = order;
  const hasEnded = run.state.end !== null;
  const isConversation = run.spec.fanOut === undefined;
  const { compacts, isToldToGoOn: isWanted = true } = order;
  const isToldToGoOn = isWanted && hasEnded && isConversation && compacts === undefined;
  const message = order.message ?? (isToldToGoOn ? goOnMessage() : null);
  const only = compacts === undefined ? {} : { compacts };
  // That it goes on comes last: a crash in the middle of the batch leaves it ended, to be resumed again.
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

/** What Muster still had to say was of the work that ended: to stop at its limit, what ran at its end. */
function withdrawNotices({ state }: TaskRun): readonly EventBody[] {
  const { queued } = state.conversation;
  const ids = queued.flatMap(({ id, kind }) =>
    kind === 'notice' && !isModeNotice(id) && !isInterruptionNotice(id) ? [id] : [],
  );
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/** For one that has ended and gets no other message. */
export function goOnMessage(): TaskInput {
  return { id: newId(), kind: 'message', from: 'user', text: 'Go on with the task.' };
}

/** A task below one that goes on never has more than that has now. */
export function recordMaxRights(run: TaskRun, maxRights: Rights): void {
  const { limits, model } = run.spec;
  const rights = rightsBelow(run.spec.rights, maxRights, modeTerms(run));
  if (isDeepStrictEqual(rights, run.spec.rights)) return;
  run.journal.record({ type: 'terms.changed', rights, limits, model });
}

function changedTerms(deps: EngineDeps, run: TaskRun, order: ResumeOrder): readonly EventBody[] {
  const { spec, state } = run;
  const { settings } = deps;
  const rights = withMode(run, order);
  // What stood in for a model that failed did so to the end of its stint.
  const recorded =
    state.end === null ? spec.model : (state.activation.failedModels[0] ?? spec.model);
  const model = order.model ?? recorded;
  const isNewStint = state.end !== null || order.maxTurns !== undefined;
  const limits = isNewStint
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

/** A conversation is told of another mode, whether the person chose it for this message or by a flag. */
function changedMode(run: TaskRun, order: ResumeOrder): readonly EventBody[] {
  const { parent, fanOut, rights } = run.spec;
  const { mode } = withMode(run, order);
  if (parent !== null || fanOut !== undefined || mode === rights.mode) return [];
  return modeNotice(run, mode);
}

function modeTerms({ spec, permissions }: TaskRun): ModeTerms {
  return { definition: spec.agent, grant: permissions.modeGrant };
}

/** Cut by what is granted now; the mode is the person's to choose. */
function withMode(run: TaskRun, { maxRights, mode }: ResumeOrder): Rights {
  const { spec } = run;
  const rights = rightsBelow(spec.rights, maxRights, modeTerms(run));
  return mode === undefined ? rights : { ...rights, mode: effectiveMode(spec.agent, mode) };
}

/**
 * Sets opened tasks to work, once nothing is left of what they ran under the owner before: it would
 * get in their way.
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
