import { errorInfo, errorMessage, MusterError, type ErrorCode } from '../base/errors.ts';
import { unansweredCalls } from '../protocol/conversation.ts';
import type { EndReason } from '../protocol/event.ts';
import { messageText, toolCalls } from '../protocol/message.ts';
import type { ModelFailure } from '../protocol/model.ts';
import { newId } from '../base/ids.ts';
import { refuseUnrun, runCalls } from './calls.ts';
import type { EngineDeps } from './deps.ts';
import { limitMessage, type LimitHit } from './limits.ts';
import { limitOrder, orderOf } from './stop.ts';
import type { TaskRun } from './task-run.ts';
import { runTurn, type TurnOutcome } from './turn.ts';

/** Answers without text or call in a row before the task is given up. */
const MOST_EMPTY_ANSWERS = 3;

interface Ending {
  readonly end: EndReason;
  readonly result: string;
}

/**
 * The one loop of every agent: request, calls, request, until the model ends its answer, a limit or
 * a stop. Never rejects: whatever happens, the end is written and all that was held is given back.
 */
export async function runTask(deps: EngineDeps, run: TaskRun): Promise<void> {
  let ending: Ending;
  try {
    ending = await drive(deps, run);
  } catch (thrown) {
    ending = wasStopped(run, thrown) ? stoppedEnding(run) : brokenEnding(run, thrown);
  }
  try {
    refuseUnrun(run);
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
  let emptyAnswers = 0;
  let calls = unansweredCalls(run.state.conversation);
  for (;;) {
    if (calls.length > 0) await runCalls(deps, run, calls);
    await run.takeSlot();
    run.signal.throwIfAborted();
    const { maxTurns } = run.spec.limits;
    if (maxTurns !== null && run.state.turns >= maxTurns) {
      return await lastTurn(deps, run, {
        limit: 'max_turns',
        value: maxTurns,
        used: run.state.turns,
      });
    }
    const outcome = await runTurn(deps, run, 'auto');
    if (outcome.kind !== 'answered') return endingOf(run, outcome);
    await run.journal.sync();
    const text = messageText(outcome.message);
    // As the model gave them: in the log, and so in the state, their secrets are redacted.
    calls = toolCalls(outcome.message);
    if (calls.length > 0) {
      emptyAnswers = 0;
    } else if (outcome.reason === 'length') {
      return cutOffEnding(text);
    } else if (text.trim() !== '') {
      if (run.state.conversation.queued.length === 0) return completedEnding(text);
    } else {
      emptyAnswers += 1;
      if (emptyAnswers === MOST_EMPTY_ANSWERS) return silentEnding(run);
      tell(run, 'Your answer was empty. Go on with the task, or give your final answer as text.');
    }
  }
}

/** After a limit: one turn in which the model may only write its answer, where the budget allows. */
async function lastTurn(deps: EngineDeps, run: TaskRun, hit: LimitHit): Promise<Ending> {
  run.journal.record({ type: 'limit.reached', ...hit });
  tell(
    run,
    `${capitalised(limitMessage(hit))}. No more tools: give your final answer now, with what you have.`,
  );
  const outcome = await runTurn(deps, run, 'none');
  if (outcome.kind === 'stopped') return stoppedEnding(run);
  return limitEnding(run, limitMessage(hit));
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
      return limitEnding(run, limitMessage(outcome.hit));
    case 'failed':
      return failedEnding(run, outcome.failure);
    case 'stopped':
      return stoppedEnding(run);
    default:
      return outcome satisfies never;
  }
}

function completedEnding(text: string): Ending {
  return {
    end: { status: 'completed', error: null, because: 'the model ended its answer' },
    result: text,
  };
}

function limitEnding(run: TaskRun, message: string): Ending {
  return {
    end: {
      status: 'partial',
      error: { code: 'LIMIT_EXCEEDED', message, retryable: false },
      because: message,
    },
    result: run.state.lastText,
  };
}

function cutOffEnding(text: string): Ending {
  const message = 'the model reached its output limit in the middle of its answer';
  return {
    end: {
      status: 'partial',
      error: { code: 'LIMIT_EXCEEDED', message, retryable: false },
      because: message,
    },
    result: text,
  };
}

function silentEnding(run: TaskRun): Ending {
  const message = `the model gave ${MOST_EMPTY_ANSWERS} empty answers in a row`;
  return failed(run, 'PROVIDER_ERROR', message, { retryable: true });
}

function failedEnding(run: TaskRun, failure: ModelFailure): Ending {
  const code: ErrorCode = failure.kind === 'timeout' ? 'TIMEOUT' : 'PROVIDER_ERROR';
  return failed(run, code, failure.message, { retryable: failure.retryable });
}

function stoppedEnding(run: TaskRun): Ending {
  const order = orderOf(run.signal);
  if (order.code === 'LIMIT_EXCEEDED') return limitEnding(run, order.because);
  return {
    end: {
      status: 'stopped',
      error: { code: 'CANCELLED', message: order.because, retryable: false },
      because: order.because,
    },
    result: run.state.lastText,
  };
}

/** An error of Muster's own is no stop, even where it led to one: its log can't be written. */
function wasStopped(run: TaskRun, thrown: unknown): boolean {
  return run.signal.aborted && !(thrown instanceof MusterError);
}

function brokenEnding(run: TaskRun, thrown: unknown): Ending {
  const code = thrown instanceof MusterError ? thrown.code : 'INTERNAL_ERROR';
  return failed(run, code, errorMessage(thrown), { retryable: false });
}

function failed(
  run: TaskRun,
  code: ErrorCode,
  message: string,
  { retryable }: { readonly retryable: boolean },
): Ending {
  return {
    end: { status: 'failed', error: { code, message, retryable }, because: message },
    result: run.state.lastText,
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
