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
import { closeOpenChildren, deliverEnd } from '../delegation/delivery.ts';
import type { EngineDeps } from '../task/deps.ts';
import { foldLog } from '../task/fold-log.ts';
import { closeTurn } from '../turn/abandoned-response.ts';
import * as endings from '../task/endings.ts';
import type { Ending } from '../task/endings.ts';
import { fallbackEvents, standInFor } from '../turn/fallback.ts';
import { compactNow } from '../compaction/compact-now.ts';
import { makeRoom } from '../compaction/make-room.ts';
import { limitMessage } from '../limits/limits.ts';
import { nextStep, reportsEndsOnly, type Step } from './next-step.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import { mayReuse } from '../reuse/may-reuse.ts';
import { sleep } from '../task/sleep.ts';
import { isStopOrder, limitOrder, orderOf } from '../task/stop.ts';
import { afterCheck } from '../structured/after-check.ts';
import { answerCheck, type AnswerCheck } from '../structured/check-answer.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import { isUnchecked, withStructured } from '../structured/late-check.ts';
import type { TaskRun } from '../task/task-run.ts';
import { runTurn } from '../turn/turn.ts';
import { wallCaps } from '../turn/wall-time.ts';

/** Tasks that end within this of each other are told to their parent together… */
const GATHER_MS = 50;
/** …but none later than this: each turn of a parent costs, and so does keeping it waiting. */
const MOST_GATHER_MS = 1_000;

/**
 * The one loop of every agent: request, calls, request, until the model ends its answer, a limit or
 * a stop. Never rejects: whatever happens, the end is written and all that was held is given back.
 */
export function runTask(deps: EngineDeps, run: TaskRun): Promise<void> {
  return run.tree.idleDetector.working(() => runToEnd(deps, run));
}

async function runToEnd(deps: EngineDeps, run: TaskRun): Promise<void> {
  let ending: Ending;
  try {
    ending = await drive(deps, run);
  } catch (thrown) {
    if (run.cancellation.isParked) return leave(deps, run);
    ending = isStopOrder(thrown) ? cutShort(run) : endings.broken(run.state, thrown);
  }
  run.end.decide();
  try {
    await run.stopOwnedWork(`the task above it ended: ${ending.end.because}`);
    // What it had started may have had to be killed.
    if (ending.end.status === 'stopped') ending = cutShort(run);
    closeOpenCalls(
      run,
      run.cancellation.signal.aborted ? orderOf(run.cancellation.signal).because : 'the task ended',
    );
    closeOpenChildren(deps, run);
    const claims = await flagsOf(deps, run, ending);
    if (isUnchecked(run.spec, ending)) ending = await withStructured(deps, run.spec, ending);
    run.journal.record({ type: 'task.ended', ...ending, ...(claims.length > 0 && { claims }) });
    await run.journal.sync();
  } catch (thrown) {
    // The log can't take the end (a full disk): the task reads as interrupted and can be resumed.
    run.end.recordLoss(errorInfo(thrown));
    deps.onFault(run.spec.id, thrown);
  } finally {
    deliverEnd(deps, run);
    run.close();
  }
}

/** Flags what the log contradicts in the answer. A fault in this check is reported, and the answer stays. */
async function flagsOf(
  deps: EngineDeps,
  { spec, state }: TaskRun,
  { result }: Ending,
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

/** Whether nothing is there. Where that cannot be told, something may be. */
async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    return code === 'ENOENT' || code === 'ENOTDIR';
  }
}

/** Its log stays without an end, for whoever goes on with it; what ran beside it is told there. */
async function leave(deps: EngineDeps, run: TaskRun): Promise<void> {
  try {
    await run.shells.stop(runningShells(run.state), { isTold: true });
    await run.children.allEnded();
    await run.journal.sync();
  } catch (thrown) {
    deps.onFault(run.spec.id, thrown);
  } finally {
    run.close();
  }
}

/** From wherever its log says that the task stands, to its end. */
async function drive(deps: EngineDeps, run: TaskRun): Promise<Ending> {
  await run.slot.take();
  // That its parent made it: else a loss of power could leave a task at work that nobody knows of.
  await run.parent?.children.persisted();
  const { retries, silentRetries, noProgressCalls } = deps.settings;
  const settings = { retries, silentRetries, noProgressCalls };
  run.journal.record({ type: 'task.started', settings });
  limitWallTime(deps, run);
  if (run.drive !== undefined) {
    // It asks no model itself.
    run.slot.give();
    return await run.drive(run);
  }
  if (mayReuse(deps, run.state)) await reuseEarlierResult(deps, run);
  const schema = outputSchemaOf(run.spec);
  const check = schema === null ? null : await answerCheck(schema);
  // It was looked at when the task was made, where it was made by a call.
  if (typeof check === 'string') {
    return endings.failedBySchema(run.state, { code: 'INVALID_PARAM', message: check });
  }
  for (;;) {
    run.cancellation.signal.throwIfAborted();
    run.cancellation.beginStep();
    const standIn = standInFor(deps, run);
    if (standIn !== null) {
      run.journal.record(...fallbackEvents(run.spec, standIn));
      continue;
    }
    const step = nextStep(run.state, deps.settings);
    const ending =
      step.kind === 'check'
        ? takeChecked(run, step.answer, check)
        : await untilInterrupted(run, take(deps, run, step));
    if (ending !== null) return ending;
  }
}

/** Where that is wanted and there is one, its answer stands in the log from here on, and no model is asked. */
async function reuseEarlierResult(deps: EngineDeps, run: TaskRun): Promise<void> {
  const look = deps.reuse ?? (await import('../reuse/look-for-result.ts')).lookForResult;
  const outcome = await look(deps, run);
  if (outcome !== null) run.journal.record(outcome);
}

/** Once a message, before any is chosen by name: a child's prompt may hold skills, and a skill may run as a child. */
async function refreshDefinitions(
  { agents, context, skills }: Pick<EngineDeps, 'agents' | 'context' | 'skills'>,
  { tools }: Pick<TaskSpec, 'tools'>,
): Promise<void> {
  if (tools.includes('Task') || tools.includes('Skill')) {
    await Promise.all([agents.refresh(), skills.refresh(), context?.refresh()]);
  }
}

/** What is left of an interrupted step is closed by the next one. */
async function untilInterrupted(
  run: TaskRun,
  step: Promise<Ending | null>,
): Promise<Ending | null> {
  try {
    return await step;
  } catch (thrown) {
    if (run.cancellation.isInterruption(thrown)) return null;
    throw thrown;
  }
}

/** At once, as the end of a task is decided. */
function takeChecked(run: TaskRun, answer: string, check: AnswerCheck | null): Ending | null {
  if (check === null) throw new Error(`task ${run.spec.id} has no schema to check by`);
  const next = afterCheck(run.state, answer, check(answer));
  if (next.kind === 'end') {
    run.end.decide();
    return next.ending;
  }
  run.journal.record({ type: 'input.queued', input: createNotice(next.id, next.text) });
  return null;
}

async function take(
  deps: EngineDeps,
  run: TaskRun,
  step: Exclude<Step, { kind: 'check' }>,
): Promise<Ending | null> {
  switch (step.kind) {
    case 'calls':
      await refreshDefinitions(deps, run.spec);
      await runCalls(deps, run, run.calls.unredacted(step.calls));
      return null;
    case 'turn':
      return await turn(deps, run, step.toolChoice);
    case 'limit':
      return announceLast(run, step.hit);
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
      await run.shells.stop(step.shells, { isTold: false });
      return null;
    case 'end':
      // In the same moment: a message that came now would find nobody to read it.
      run.end.decide();
      return step.ending;
    default:
      return step satisfies never;
  }
}

/** Only an answer is left to give: the model is told so. */
function announceLast(run: TaskRun, hit: LimitHit): null {
  const text = `Stop here: ${limitMessage(hit)}. No more tools: give your final answer now, with what you have.`;
  // The notice first, told once a stint: a crash in the middle of the batch makes both be written again.
  const input = createNotice(`limit-${run.state.activation.number}`, text);
  run.journal.record({ type: 'input.queued', input }, { type: 'limit.reached', ...hit });
  return null;
}

async function turn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: 'auto' | 'none',
): Promise<Ending | null> {
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
      return endings.endedByLimit(run.state, run.state.activation.limit ?? outcome.hit);
    case 'last_turn':
      return announceLast(run, outcome.hit);
    case 'failed':
      // After a limit there is an answer already, if only a part of one.
      if (run.state.activation.lastTurn) return null;
      if (standInFor(deps, run) !== null) return null;
      // Before it is asked again, room is made; where none can be, it ends there.
      if (run.state.conversation.compaction.overflowed) return null;
      return endings.failedByModel(run.state, outcome.failure);
    case 'stopped':
      return run.cancellation.signal.aborted ? cutShort(run) : null;
    default:
      return outcome satisfies never;
  }
}

async function waitForNews(run: TaskRun): Promise<void> {
  run.slot.give();
  await run.tree.idleDetector.waiting(() => run.mailbox.nextMessage());
}

/**
 * Before a request that tells of ends and of nothing else: what ends at nearly the same time is told
 * together. Without its slot.
 */
async function gatherEnds(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { openChildren } = run.state;
  const latest = deps.clock.monotonic() + MOST_GATHER_MS;
  for (let before = Infinity; reportsEndsOnly(run.state) && openChildren.size < before;) {
    before = openChildren.size;
    if (deps.clock.monotonic() >= latest) return;
    run.slot.give();
    await sleep(deps.deadlines, GATHER_MS, run.cancellation.turnSignal);
  }
}

/** What of it is left: the time in which nobody worked on the task does not count. */
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

/** Stopped by an order; or failed, where what aborted it is none. */
function cutShort(run: TaskRun): Ending {
  const { reason } = run.cancellation.signal;
  if (!isStopOrder(reason)) return endings.broken(run.state, reason);
  return endings.stopped(run.state, orderOf(run.cancellation.signal), {
    forced: run.cancellation.wasForced,
  });
}
