import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorInfo, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { runningShells } from '../../protocol/state/owned-work.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { ClaimFlag } from '../../protocol/result.ts';
import { answerFlags, untouchedPaths } from '../../receipts/answer-flags.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { closeOpenCalls, runCalls } from '../calls/calls.ts';
import { closeOpenChildren, deliverEnd } from '../delegation/deliver-end.ts';
import type { EngineDeps } from '../task/deps.ts';
import { foldLog } from '../task/fold-log.ts';
import { closeTurn } from '../turn/streamed-response.ts';
import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';
import { makeRoom, compactNow } from '../compaction/make-room.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { nextStep, reportsEndsOnly, type Step } from './next-step.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import { sleep } from '../../base/deadlines.ts';
import { isStopOrder, limitOrder, readStopOrder } from '../task/stop-order.ts';
import {
  decideAfterCheck,
  createAnswerCheck,
  needsSchemaCheck,
  addStructuredResult,
  type AnswerCheck,
} from '../structured/check-answer.ts';
import { fallbackEvents, findFallback } from '../turn/fallback.ts';
import { canReuseResult } from '../reuse/can-reuse.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskRun } from '../task/task-run.ts';
import { runTurn, wallCaps } from '../turn/turn.ts';

/** Ends of children within this time of each other are reported to their parent together. */
const GATHER_MS = 50;
/** Maximum delay of a report: each turn of a parent has a cost, but so does making it wait. */
const MAX_GATHER_MS = 1_000;

/**
 * Runs the loop of a task: request, calls, request, until the model ends its answer, a limit is reached or the task
 * is stopped. Every agent runs in this loop. It never rejects: the end is always written and resources are released.
 */
export function runTask(deps: EngineDeps, run: TaskRun): Promise<void> {
  return run.tree.idleDetector.trackWork(() => runToEnd(deps, run));
}

async function runToEnd(deps: EngineDeps, run: TaskRun): Promise<void> {
  let ending: TaskEnding;
  try {
    ending = await runSteps(deps, run);
  } catch (thrown) {
    if (run.cancellation.isParked) return leaveParked(deps, run);
    ending = isStopOrder(thrown) ? abortedEnding(run) : endings.endBroken(run.state, thrown);
  }
  run.end.decide();
  try {
    await run.stopOwnedWork(`the task above it ended: ${ending.end.because}`);
    // A process that it had started may have had to be killed.
    if (ending.end.status === 'stopped') ending = abortedEnding(run);
    closeOpenCalls(
      run,
      run.cancellation.signal.aborted
        ? readStopOrder(run.cancellation.signal).reason
        : 'the task ended',
    );
    closeOpenChildren(deps, run);
    const claims = await flagsOf(deps, run, ending);
    if (needsSchemaCheck(run.spec, ending))
      ending = await addStructuredResult(deps, run.spec, ending);
    run.journal.record({ type: 'task.ended', ...ending, ...(claims.length > 0 && { claims }) });
    await run.journal.sync();
  } catch (thrown) {
    // The end can't be written (a full disk): the task counts as interrupted and can be resumed.
    run.end.recordLoss(errorInfo(thrown));
    deps.onFault(run.spec.id, thrown);
  } finally {
    deliverEnd(deps, run);
    run.close();
  }
}

/** Flags claims of the answer that the log does not support. A fault in this check is reported, and the answer stays. */
async function flagsOf(
  deps: EngineDeps,
  { spec, state }: TaskRun,
  { result }: TaskEnding,
): Promise<readonly ClaimFlag[]> {
  if (deps.flags !== undefined) return deps.flags();
  if (state.activation.compacts !== null) return state.activation.compacts.claims;
  try {
    const { reused } = state;
    // The answer is that of the earlier task, and so is what its log says about it.
    if (reused !== null)
      return deps.store.exists(reused.of) ? foldLog(deps.store, reused.of).activation.claims : [];
    const paths = untouchedPaths(state, result);
    const missing = await Promise.all(paths.map((path) => isMissing(resolve(spec.cwd, path))));
    const absent = paths.filter((_, index) => missing[index]);
    return answerFlags(state, result, absent);
  } catch (thrown) {
    deps.onFault(spec.id, thrown);
    return [];
  }
}

/** Returns true if nothing exists at a path, and false if that can't be determined. */
async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    return code === 'ENOENT' || code === 'ENOTDIR';
  }
}

/** Leaves a parked task without an end, so that it can be resumed. The end of its shells is written to its log. */
async function leaveParked(deps: EngineDeps, run: TaskRun): Promise<void> {
  try {
    await run.shells.stop(runningShells(run.state), { notify: true });
    await run.children.allEnded();
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
  // The parent's log must be on disk first: otherwise a power loss could leave a task that no log mentions.
  await run.parent?.children.persisted();
  const { retries, silentRetries, noProgressCalls } = deps.settings;
  const settings = { retries, silentRetries, noProgressCalls };
  run.journal.record({ type: 'task.started', settings });
  limitWallTime(deps, run);
  if (run.drive !== undefined) {
    // A template run asks no model itself.
    run.slot.release();
    return await run.drive(run);
  }
  if (canReuseResult(deps, run.state)) await reuseEarlierResult(deps, run);
  const schema = outputSchemaOf(run.spec);
  const check = schema === null ? null : await createAnswerCheck(schema);
  // A schema from a Task call was already checked when the task was created.
  if (typeof check === 'string') {
    return endings.endFailedBySchema(run.state, { code: 'INVALID_PARAM', message: check });
  }
  for (;;) {
    run.cancellation.signal.throwIfAborted();
    run.cancellation.beginStep();
    const standIn = findFallback(deps, run);
    if (standIn !== null) {
      run.journal.record(...fallbackEvents(run.spec, standIn));
      continue;
    }
    const step = nextStep(run.state, deps.settings);
    const ending =
      step.kind === 'check'
        ? checkAnswer(run, step.answer, check)
        : await untilInterrupted(run, takeStep(deps, run, step));
    if (ending !== null) return ending;
  }
}

/** Looks for an earlier result that can be reused. If there is one, it is written to the log and no model is asked. */
async function reuseEarlierResult(deps: EngineDeps, run: TaskRun): Promise<void> {
  const look = deps.reuse ?? (await import('../reuse/find-reusable-result.ts')).findReusableResult;
  const outcome = await look(deps, run);
  if (outcome !== null) run.journal.record(outcome);
}

/** Rereads definitions before a message's calls choose any by name: prompts may hold skills, and skills may run as tasks. */
async function refreshDefinitions(
  { agents, context, skills }: Pick<EngineDeps, 'agents' | 'context' | 'skills'>,
  { tools }: Pick<TaskSpec, 'tools'>,
): Promise<void> {
  if (tools.includes('Task') || tools.includes('Skill')) {
    await Promise.all([agents.refresh(), skills.refresh(), context?.refresh()]);
  }
}

/** Waits for a step. If it is interrupted, the next step closes its turn or calls. */
async function untilInterrupted(
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

/** Checks an answer and decides about the end in the same moment, so that no message can come in between. */
function checkAnswer(run: TaskRun, answer: string, check: AnswerCheck | null): TaskEnding | null {
  if (check === null) throw new Error(`task ${run.spec.id} has no schema to check by`);
  const next = decideAfterCheck(run.state, answer, check(answer));
  if (next.kind === 'end') {
    run.end.decide();
    return next.ending;
  }
  run.journal.record({ type: 'input.queued', input: createNotice(next.id, next.text) });
  return null;
}

async function takeStep(
  deps: EngineDeps,
  run: TaskRun,
  step: Exclude<Step, { kind: 'check' }>,
): Promise<TaskEnding | null> {
  switch (step.kind) {
    case 'calls':
      await refreshDefinitions(deps, run.spec);
      await runCalls(deps, run, run.calls.restore(step.calls));
      return null;
    case 'turn':
      return await takeTurn(deps, run, step.toolChoice);
    case 'limit':
      return requestFinalAnswer(run, step.hit);
    case 'tell': {
      const input = createNotice(step.id ?? newId(), step.text);
      run.journal.record({ type: 'input.queued', input });
      return null;
    }
    case 'wait':
      await waitForNews(run);
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
      await run.shells.stop(step.shells, { notify: false });
      return null;
    case 'end':
      // Decided in the same moment: a message that came now would not be read.
      run.end.decide();
      return step.ending;
    default:
      return step satisfies never;
  }
}

/** Tells the model that a limit is reached and that it can only give its final answer. */
function requestFinalAnswer(run: TaskRun, hit: LimitHit): null {
  const text = `Stop here: ${limitMessage(hit)}. No more tools: give your final answer now, with what you have.`;
  // The notice comes first, once in an activation: after a crash in the middle of the batch both are written again.
  const input = createNotice(`limit-${run.state.activation.number}`, text);
  run.journal.record({ type: 'input.queued', input }, { type: 'limit.reached', ...hit });
  return null;
}

async function takeTurn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: 'auto' | 'none',
): Promise<TaskEnding | null> {
  await gatherEnds(deps, run);
  await run.slot.take();
  await run.journal.keepAnswer();
  run.cancellation.turnSignal.throwIfAborted();
  const room = await makeRoom(deps, run);
  if (room.kind === 'none') return room.ending;
  if (room.kind === 'changed') return null;
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
      // After a limit there is already an answer, even if it is a partial one.
      if (run.state.activation.hasLastTurnBegun) return null;
      if (findFallback(deps, run) !== null) return null;
      // Compaction makes room before the next request; the task ends there if it can't.
      if (run.state.conversation.compaction.hasOverflowed) return null;
      return endings.endFailedByModel(run.state, outcome.failure);
    case 'stopped':
      return run.cancellation.signal.aborted ? abortedEnding(run) : null;
    default:
      return outcome satisfies never;
  }
}

async function waitForNews(run: TaskRun): Promise<void> {
  run.slot.release();
  await run.tree.idleDetector.trackWait(() => run.mailbox.nextMessage());
}

/**
 * Waits a moment before a request that reports only ends of children, so that ends at nearly the same time are
 * reported together. The task does not hold its slot meanwhile.
 */
async function gatherEnds(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { openChildren } = run.state;
  const latest = deps.clock.monotonic() + MAX_GATHER_MS;
  for (let before = Infinity; reportsEndsOnly(run.state) && openChildren.size < before;) {
    before = openChildren.size;
    if (deps.clock.monotonic() >= latest) return;
    run.slot.release();
    await sleep(deps.deadlines, GATHER_MS, run.cancellation.turnSignal);
  }
}

/** Starts the timer for the remaining wall time. Time in which no process worked on the task does not count. */
function limitWallTime(deps: EngineDeps, run: TaskRun): void {
  run.workingSince = deps.clock.monotonic();
  const [first] = wallCaps(run).toSorted((a, b) => a.value - b.value);
  if (first === undefined) return;
  const ms = Math.max(0, first.value - run.state.activation.workedMs);
  run.cancellation.callAfter(ms, () => {
    const limit = `${first.limit} = ${first.value / 1000}`;
    run.stop(limitOrder(`the limit ${limit} is reached${whileHeld(run)}`));
  });
}

function whileHeld({ state: { activity } }: TaskRun): string {
  return activity.kind === 'held' ? ` while it waited for ${activity.because}` : '';
}

/** Returns the ending of an aborted task: stopped by an order, or failed if it was aborted without one. */
function abortedEnding(run: TaskRun): TaskEnding {
  const { reason } = run.cancellation.signal;
  if (!isStopOrder(reason)) return endings.endBroken(run.state, reason);
  return endings.endStopped(run.state, readStopOrder(run.cancellation.signal), {
    forced: run.cancellation.hasKilledProcess,
  });
}
