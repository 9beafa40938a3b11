import { errorInfo } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { runningCommands } from '../../protocol/state/owned-work.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { closeOpenCalls, runCalls } from '../calls/calls.ts';
import { closeOpenChildren, deliverEnd } from '../delegation/deliver-end.ts';
import type { EngineDeps } from '../task/deps.ts';
import { closeTurn } from '../turn/streamed-response.ts';
import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';
import { makeRoom, compactNow } from '../compaction/make-room.ts';
import { lastTurnNotice } from '../limits/limit-message.ts';
import { startWallTimers } from '../task/wall-time.ts';
import { gatherInputs } from './gather-inputs.ts';
import { completesWork, nextStep, type Step } from './next-step.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import { isStopOrder, readStopOrder } from '../task/stop-order.ts';
import {
  decideAfterCheck,
  createAnswerCheck,
  needsSchemaCheck,
  addStructuredResult,
  type AnswerCheck,
} from '../structured/check-answer.ts';
import { escalationEvents } from '../acceptance/decide-acceptance.ts';
import { determineFlags } from '../results/determine-flags.ts';
import * as hooks from '../hooks/task-hooks.ts';
import { changeModel } from '../hooks/model-hooks.ts';
import { fallbackEvents, findFallback } from '../turn/fallback.ts';
import { canReuseResult } from '../reuse/can-reuse.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskRun } from '../task/task-run.ts';
import { runTurn } from '../turn/turn.ts';

/**
 * Runs the loop of a task: request, calls, request, until the model gives a final answer, a limit is reached or the
 * task is stopped. Every agent runs in this loop. It never rejects: in any case the end is recorded or reported as
 * lost, and resources are released.
 */
export function runTask(deps: EngineDeps, run: TaskRun): Promise<void> {
  return run.tree.idleDetector.trackWork(() => runToEnd(deps, run));
}

/** Runs the steps of a task, ends its owned work, and records its end. */
async function runToEnd(deps: EngineDeps, run: TaskRun): Promise<void> {
  let ending: TaskEnding;
  try {
    ending = await runSteps(deps, run);
  } catch (thrown) {
    if (run.cancellation.isParked) return leaveParked(deps, run);
    ending = isStopOrder(thrown) ? createAbortedEnding(run) : endings.endBroken(run.state, thrown);
  }
  run.end.decide();
  try {
    // A failed preparation has ended the task already, or nothing has needed it.
    if (needsPreparation(run.spec)) await run.preparation.catch(() => {});
    await run.stopOwnedWork(`the task above it ended: ${ending.end.because}`);
    await run.process?.end();
    await endRemoteWork(deps, run);
    await hooks.runEndHooks(deps, run, ending.end);
    // Stopping the owned work may have killed a process, which changes the ending of a stopped task.
    if (ending.end.status === 'stopped' && run.cancellation.signal.aborted) {
      ending = createAbortedEnding(run);
    }
    closeOpenCalls(run, describeEndOfCalls(run.cancellation.signal));
    closeOpenChildren(deps, run);
    const claims = await determineFlags(deps, run, ending);
    if (needsSchemaCheck(run.spec, ending))
      ending = await addStructuredResult(deps, run.spec, ending);
    if (run.spec.workspace !== undefined)
      await (await import('../workspace/task-workspace.ts')).closeWorkspace(deps, run);
    run.journal.record({ type: 'task.ended', ...ending, ...(claims.length > 0 && { claims }) });
    await run.journal.sync();
  } catch (thrown) {
    // The end can't be written (a full disk). The task counts as interrupted and can be resumed.
    run.end.recordUnwritten(errorInfo(thrown));
    deps.onFault(run.spec.id, thrown);
  } finally {
    deliverEnd(deps, run);
    run.close();
  }
}

/**
 * Ends the program of a remote agent before the files of its task are looked at. That of a conversation in the terminal UI
 * runs on until the next message.
 */
async function endRemoteWork({ remoteAgents, inbox }: EngineDeps, run: TaskRun): Promise<void> {
  const goesOn =
    run.parent === null && inbox.isUserPresent && run.state.spec.workspace === undefined;
  if (!goesOn) await remoteAgents?.endTask(run.spec.id);
}

/** Describes why calls of an ended task have no outcome, as a clause. */
function describeEndOfCalls(signal: AbortSignal): string {
  if (!signal.aborted) return 'the task ended';
  const { reason } = signal;
  return isStopOrder(reason) ? reason.reason : `the task failed: ${errorInfo(reason).message}`;
}

/** Releases a parked task without recording an end, so that it can be resumed. Its shells are stopped. */
async function leaveParked(deps: EngineDeps, run: TaskRun): Promise<void> {
  try {
    await run.shells.leaveRemote();
    await run.shells.stop(runningCommands(run.state), { notify: true });
    await run.children.waitForAll();
    await run.process?.end();
    await deps.remoteAgents?.endTask(run.spec.id);
    await run.journal.sync();
  } catch (thrown) {
    deps.onFault(run.spec.id, thrown);
  } finally {
    run.close();
  }
}

/** Runs a task from the state in its log to its end. */
async function runSteps(deps: EngineDeps, run: TaskRun): Promise<TaskEnding> {
  await run.slot.take();
  // The parent's log must be on disk first, because a power loss could otherwise leave a task that no log mentions.
  await run.parent?.children.waitUntilPersisted();
  const { retries, silentRetries, noProgressCalls } = deps.settings;
  const settings = { retries, silentRetries, noProgressCalls };
  run.journal.record({ type: 'task.started', settings });
  startWallTimers(deps, run);
  if (run.drive !== undefined) {
    // A template run sends no requests itself, so it needs no slot.
    run.slot.release();
    return await run.drive(run);
  }
  if (canReuseResult(deps, run.state)) await reuseEarlierResult(deps, run);
  await openProcess(deps, run);
  if (needsPreparation(run.spec)) {
    run.preparation = prepareWork(deps, run);
    // The first request of a new task does not wait, but a resumed task is told before it about its workspace.
    if (run.state.workspace.start !== null) await run.preparation;
    // Avoid an unhandled rejection: the first step that waits for the preparation gets the same error.
    run.preparation.catch(() => {});
  }
  await hooks.runStartHooks(deps, run);
  const schema = outputSchemaOf(run.spec);
  const check = schema === null ? null : await createAnswerCheck(schema);
  // A text is the reason why the schema is invalid. A schema from a Task call was already checked when the task was
  // created, so this one is from the definition.
  if (typeof check === 'string') {
    return endings.endFailedBySchema(run.state, { code: 'INVALID_PARAM', message: check });
  }
  for (;;) {
    run.cancellation.signal.throwIfAborted();
    run.cancellation.beginStep();
    const fallback = findFallback(deps, run);
    if (fallback !== null) {
      run.journal.record(...fallbackEvents(run.spec, fallback));
      continue;
    }
    const step = nextStep(run.state, deps.settings);
    if (completesWork(step) && (await hooks.runStopHooks(deps, run))) continue;
    const ending =
      step.kind === 'check'
        ? checkAnswer(run, step.answer, check)
        : await waitForStep(run, takeStep(deps, run, step));
    if (ending !== null) return ending;
  }
}

/** Starts the process of a task that has one. The first request does not wait for it. */
async function openProcess(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { processes, deadlines, sandbox, environment, home } = deps;
  const ports = { deadlines, sandbox, environment, home };
  if (run.spec.isolation !== 'process' || processes === undefined) return;
  const { TaskProcess } = await import('../process/task-process.ts');
  run.process = new TaskProcess({
    ...processes,
    taskId: run.spec.id,
    ...ports,
    readRights: () => run.permissions.rights,
    onFailure: (error) => run.fail(error),
  });
}

/** Tells whether something must be prepared before the first call of a task. */
function needsPreparation({ accept, workspace }: TaskSpec): boolean {
  return accept !== undefined || workspace !== undefined;
}

/** Creates the workspace of a task, and records the state before its work if the work must be accepted. */
async function prepareWork(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { workspace, accept } = run.spec;
  if (workspace !== undefined) {
    const { openWorkspace } = await import('../workspace/task-workspace.ts');
    await openWorkspace(deps, run);
  }
  if (accept !== undefined)
    await (await import('../acceptance/check-work.ts')).prepareAcceptance(deps, run);
}

/**
 * Searches for an earlier result that can be reused. Records the result, so that no model is asked, or why there is
 * none.
 */
async function reuseEarlierResult(deps: EngineDeps, run: TaskRun): Promise<void> {
  const find = deps.reuse ?? (await import('../reuse/find-reusable-result.ts')).findReusableResult;
  const outcome = await find(deps, run);
  if (outcome !== null) run.journal.record(outcome);
}

/** Reloads changed definitions before the calls of a message choose agents or skills by name. */
async function refreshDefinitions(
  { agents, context, skills }: Pick<EngineDeps, 'agents' | 'context' | 'skills'>,
  { tools }: Pick<TaskSpec, 'tools'>,
): Promise<void> {
  if (tools.includes('Task') || tools.includes('Skill')) {
    await Promise.all([agents.refresh(), skills.refresh(), context?.refresh()]);
  }
}

/** Waits for a step. After an interruption it returns null, and the next step closes the open turn or calls. */
async function waitForStep(
  run: TaskRun,
  step: Promise<TaskEnding | null>,
): Promise<TaskEnding | null> {
  try {
    return await step;
  } catch (thrown) {
    if (run.cancellation.isInterruption(thrown)) return null;
    throw thrown;
  }
}

/**
 * Checks a final answer against the schema. Nothing is awaited before the end is decided, so that no message is lost.
 */
function checkAnswer(run: TaskRun, answer: string, check: AnswerCheck | null): TaskEnding | null {
  if (check === null) throw new Error(`task ${run.spec.id} has no output schema`);
  const next = decideAfterCheck(run.state, answer, check(answer));
  if (next.kind === 'end') {
    run.end.decide();
    return next.ending;
  }
  run.journal.record({ type: 'input.queued', input: createNotice(next.id, next.text) });
  return null;
}

/** Takes a step. Returns the ending if the task ends with this step, or null. */
async function takeStep(
  deps: EngineDeps,
  run: TaskRun,
  step: Exclude<Step, { kind: 'check' }>,
): Promise<TaskEnding | null> {
  switch (step.kind) {
    case 'calls':
      if (needsPreparation(run.spec)) await run.preparation;
      await refreshDefinitions(deps, run.spec);
      await runCalls(deps, run, run.calls.restore(step.calls));
      return null;
    case 'turn':
      return await takeTurn(deps, run, step.toolChoice);
    case 'limit':
      return requestFinalAnswer(run, step.hit);
    case 'notice': {
      const input = createNotice(step.id ?? newId(), step.text);
      run.journal.record({ type: 'input.queued', input });
      return null;
    }
    case 'accept':
      await (await import('../acceptance/check-work.ts')).checkWork(deps, run);
      return null;
    case 'escalate':
      run.journal.record(...escalationEvents(run.state, step));
      return null;
    case 'wait':
      await waitForMessage(deps, run);
      return null;
    case 'compact':
      await run.slot.take();
      await compactNow(deps, run, step.keep);
      return null;
    case 'close_turn':
      await closeTurn(deps, run, step);
      return null;
    case 'close_calls':
      closeOpenCalls(run, step.because);
      return null;
    case 'stop_shells':
      await run.shells.stop(step.shells, { notify: step.notify });
      return null;
    case 'end':
      // Nothing is awaited between the decision and this call, so that no message arrives that nobody reads.
      run.end.decide();
      return step.ending;
    default:
      return step satisfies never;
  }
}

/** Tells the model that a limit is reached and that it can only give its final answer. */
function requestFinalAnswer(run: TaskRun, hit: LimitHit): null {
  // The notice comes first: after a crash in the middle of the batch both events are written again, and the id keeps
  // the notice from being queued twice.
  const input = createNotice(`limit-${run.state.activation.number}`, lastTurnNotice(hit));
  run.journal.record({ type: 'input.queued', input }, { type: 'limit.reached', ...hit });
  return null;
}

/** Sends the next request, after compaction if needed. Returns the ending if the task ends with this turn, or null. */
async function takeTurn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: 'auto' | 'none',
): Promise<TaskEnding | null> {
  if (!(await gatherInputs(deps, run))) return null;
  // A remote agent works in the workspace from its first request on.
  if (run.spec.agent.remote !== undefined && needsPreparation(run.spec)) await run.preparation;
  await run.journal.syncNewestAnswer();
  run.cancellation.turnSignal.throwIfAborted();
  await changeModel(deps, run);
  const room = await makeRoom(deps, run);
  if (room.kind !== 'enough') return room.kind === 'none' ? room.ending : null;
  const outcome = await runTurn(deps, run, toolChoice);
  switch (outcome.kind) {
    case 'answered':
    case 'begin_again':
      return null;
    case 'limit':
      run.journal.record({ type: 'limit.reached', ...outcome.hit });
      return endings.endByLimit(run.state, run.state.activation.limit ?? outcome.hit);
    case 'last_turn':
      return requestFinalAnswer(run, outcome.hit);
    case 'failed':
      // After a limit the task already has an answer, even if it is a partial one.
      if (run.state.activation.hasLastTurnBegun) return null;
      if (findFallback(deps, run) !== null) return null;
      // Compaction makes room before the next request, or ends the task if that is impossible.
      if (run.state.conversation.compaction.hasOverflowed) return null;
      return endings.endFailedByModel(run.state, outcome.failure);
    case 'stopped':
      return run.cancellation.signal.aborted ? createAbortedEnding(run) : null;
    default:
      return outcome satisfies never;
  }
}

/** Waits for a message or the end of a child or shell. The task does not hold its slot meanwhile. */
async function waitForMessage(deps: EngineDeps, run: TaskRun): Promise<void> {
  run.slot.release();
  deps.onSignal({ type: 'task_waiting', task: run.spec.id });
  await run.tree.idleDetector.trackWait(() => run.mailbox.waitForWake());
}

/** Creates the ending of an aborted task: stopped if there was an order to stop it, and failed otherwise. */
function createAbortedEnding(run: TaskRun): TaskEnding {
  const { reason } = run.cancellation.signal;
  if (!isStopOrder(reason)) return endings.endBroken(run.state, reason);
  return endings.endStopped(run.state, readStopOrder(run.cancellation.signal), {
    forced: run.cancellation.hasKilledProcess,
  });
}
