import { errorInfo } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { unansweredCalls } from '../protocol/conversation.ts';
import { messageText, toolCalls } from '../protocol/message.ts';
import { closeOpenCalls, runCalls } from './calls.ts';
import type { EngineDeps } from './deps.ts';
import * as endings from './endings.ts';
import type { Ending } from './endings.ts';
import { limitMessage, type LimitHit } from './limits.ts';
import { repeatedCalls } from './progress.ts';
import { isStopOrder, limitOrder, orderOf } from './stop.ts';
import type { TaskRun } from './task-run.ts';
import { runTurn, type TurnOutcome } from './turn.ts';

/** Answers without text or call in a row before the task is given up. */
const MOST_EMPTY_ANSWERS = 3;

/**
 * The one loop of every agent: request, calls, request, until the model ends its answer, a limit or
 * a stop. Never rejects: whatever happens, the end is written and all that was held is given back.
 */
export async function runTask(deps: EngineDeps, run: TaskRun): Promise<void> {
  let ending: Ending;
  try {
    ending = await drive(deps, run);
  } catch (thrown) {
    ending = isStopOrder(thrown) ? stopped(run) : endings.broken(run.state, thrown);
  }
  try {
    await run.stopChildren(`the task above it ended: ${ending.end.because}`);
    closeOpenCalls(run);
    run.journal.record({ type: 'task.ended', ...ending });
    await run.journal.sync();
  } catch (thrown) {
    // The log can't take the end (a full disk): the task reads as interrupted and can be resumed.
    run.loseEnd(errorInfo(thrown));
    deps.onFault(run.spec.id, thrown);
  } finally {
    run.close();
  }
}

async function drive(deps: EngineDeps, run: TaskRun): Promise<Ending> {
  await run.takeSlot();
  // That its parent made it: else a loss of power could leave a task at work that nobody knows of.
  await run.parent?.journal.sync();
  run.journal.record({ type: 'task.started' });
  const { wallMs } = run.spec.limits;
  if (wallMs !== null) {
    const seconds = wallMs / 1000;
    run.stopAfter(wallMs, limitOrder(`the limit task_wall_seconds = ${seconds} is reached`));
  }
  let calls = unansweredCalls(run.state.conversation);
  let emptyAnswers = 0;
  for (;;) {
    if (calls.length > 0) await runCalls(deps, run, calls);
    await run.takeSlot();
    run.signal.throwIfAborted();
    const hit = limitHit(deps, run);
    if (hit !== null) return await lastTurn(deps, run, hit);
    const outcome = await runTurn(deps, run, 'auto');
    if (outcome.kind !== 'answered') return endingOf(run, outcome);
    await run.journal.sync();
    // As the model gave them: in the log, and so in the state, their secrets are redacted.
    calls = toolCalls(outcome.message);
    const text = messageText(outcome.message);
    if (outcome.reason === 'content_filter') return endings.filtered(run.state);
    if (calls.length > 0) {
      emptyAnswers = 0;
    } else if (outcome.reason === 'length') {
      return endings.cutOff(text);
    } else if (text.trim() === '') {
      emptyAnswers += 1;
      if (emptyAnswers === MOST_EMPTY_ANSWERS) return endings.gaveNothing(run.state, emptyAnswers);
      tell(run, 'Your answer was empty. Go on with the task, or give your final answer as text.');
    } else if (run.state.conversation.queued.length === 0) {
      return endings.completed(text);
    }
  }
}

/** A limit that stands against another turn with tools. */
function limitHit(deps: EngineDeps, run: TaskRun): LimitHit | null {
  const { maxTurns } = run.spec.limits;
  const { turns, conversation } = run.state;
  if (maxTurns !== null && turns >= maxTurns) {
    return { limit: 'max_turns', value: maxTurns, used: turns };
  }
  const { noProgressCalls } = deps.settings;
  const repeated = repeatedCalls([...conversation.messages, ...answered(run)]);
  if (repeated >= noProgressCalls) {
    return { limit: 'no_progress_calls', value: noProgressCalls, used: repeated };
  }
  return null;
}

/** The results that the next request will hold. */
function answered(run: TaskRun) {
  const { openCalls, results } = run.state.conversation;
  if (openCalls.length === 0) return [];
  const content = openCalls.flatMap((call) => results.get(call.id) ?? []);
  return [{ role: 'tool', content } as const];
}

/** After a limit: one turn in which the model may only write its answer, where the budget allows. */
async function lastTurn(deps: EngineDeps, run: TaskRun, hit: LimitHit): Promise<Ending> {
  run.journal.record({ type: 'limit.reached', ...hit });
  tell(
    run,
    `Stop here: ${limitMessage(hit)}. No more tools: give your final answer now, with what you have.`,
  );
  const outcome = await runTurn(deps, run, 'none');
  if (outcome.kind === 'stopped') return stopped(run);
  return endings.endedByLimit(run.state, hit);
}

function stopped(run: TaskRun): Ending {
  return endings.stopped(run.state, orderOf(run.signal), { forced: run.wasForced });
}

function tell(run: TaskRun, message: string): void {
  const text = `<notice>${message}</notice>`;
  run.journal.record({
    type: 'input.queued',
    input: { id: newId(), kind: 'notice', from: 'muster', text },
  });
}

function endingOf(run: TaskRun, outcome: Exclude<TurnOutcome, { kind: 'answered' }>): Ending {
  switch (outcome.kind) {
    case 'limit':
      run.journal.record({ type: 'limit.reached', ...outcome.hit });
      return endings.endedByLimit(run.state, outcome.hit);
    case 'failed':
      return endings.failedByModel(run.state, outcome.failure);
    case 'stopped':
      return stopped(run);
    default:
      return outcome satisfies never;
  }
}
