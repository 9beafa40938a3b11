import type { EventBody } from '../../protocol/events/event.ts';
import {
  modelName,
  NO_USAGE,
  type AnswerListener,
  type ModelRequest,
  type ProgressPart,
  type UsageMissing,
} from '../../protocol/model.ts';
import type { TaskSignal } from '../../protocol/signal.ts';
import type { ModelAnswer, LastPart } from './answer.ts';
import type { BegunTurn } from './begin-turn.ts';
import type { EngineDeps } from '../task/deps.ts';
import { timeLeftWhileHeld } from './fallback.ts';
import { limitMessage } from '../limits/limits.ts';
import { waitForPromptCache } from './lead-siblings.ts';
import { digestsOfAdded } from './request-parts.ts';
import type { Spending } from './spending.ts';
import { Streamed } from './streamed.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { LeadingRequest } from '../limits/prompt-cache-warm-up.ts';

/**
 * Sends the request once, and reads what comes to its end. Never rejects. While a rate limit holds it
 * back the task has no slot and holds nothing of the budget, and takes both again before the request
 * goes out; held back for long, it fails where a fallback model would go on.
 */
export async function streamResponse(
  deps: EngineDeps,
  run: TaskRun,
  begun: BegunTurn,
  spending: Spending,
): Promise<ModelAnswer> {
  const lead = await waitForPromptCache(deps, run, begun.request);
  try {
    return await askOnce(deps, run, { ...begun, spending, lead });
  } finally {
    lead?.over();
  }
}

interface Asking extends BegunTurn {
  readonly spending: Spending;
  readonly lead: LeadingRequest | null;
}

async function askOnce(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request, isSummary, spending, lead }: Asking,
): Promise<ModelAnswer> {
  const task = run.spec.id;
  const streamed = new Streamed();
  let isHoldTold = false;
  const show = (part: ProgressPart): void => {
    streamed.take(part);
    if (!isSummary) deps.onSignal(signalOf(part, task));
  };
  const listener = { ...silenceLog(deps, run, turn), progressed: show };
  for await (const part of deps.model.stream(request, run.cancellation.turnSignal, listener)) {
    switch (part.type) {
      case 'held': {
        const failure = timeLeftWhileHeld(deps, run, part);
        if (failure !== null) return { type: 'failed', failure };
        if (!isHoldTold) {
          const { because, untilMs } = part;
          run.journal.record({ type: 'turn.held', turn, because, untilMs });
        }
        isHoldTold = true;
        spending.release();
        run.slot.give();
        break;
      }
      case 'admitted': {
        const prevented = await whyNotSent(run, request, spending);
        if (prevented !== null) return prevented;
        break;
      }
      case 'accepted':
        streamed.accepted();
        lead?.accepted();
        run.journal.record({
          type: 'turn.accepted',
          turn,
          added: digestsOfAdded(request.messages),
        });
        // Loaded while the answer streams in; asked for again when it has ended.
        void deps.models.facts(request.model);
        break;
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_call_started':
        show(part);
        break;
      case 'ping':
        break;
      case 'finished':
      case 'failed':
        return withCut(withEstimate(part, streamed, request), streamed);
      default:
        part satisfies never;
    }
  }
  const failure = {
    kind: 'malformed',
    message: `${modelName(request.model)}: the answer ended without an end`,
    retryable: true,
  } as const;
  return withCut(withEstimate({ type: 'failed', failure }, streamed, request), streamed);
}

function signalOf(part: ProgressPart, task: string): TaskSignal {
  if (part.type !== 'tool_call_started') return { ...part, task };
  const { type, name } = part;
  return { type, task, name };
}

/** Shows a silence to whoever looks at the task. A log that can't be written ends the task elsewhere. */
function silenceLog(
  deps: EngineDeps,
  run: TaskRun,
  turn: number,
): Pick<AnswerListener, 'quiet' | 'flowing'> {
  const record = (body: EventBody): void => {
    try {
      run.journal.record(body);
    } catch (thrown) {
      deps.onFault(run.spec.id, thrown);
    }
  };
  return {
    quiet: (silence) => record({ type: 'turn.quiet', turn, ...silence }),
    flowing: () => record({ type: 'turn.flowing', turn }),
  };
}

/** The answer with an estimate of what its server did not report; it counts beside what it did. */
function withEstimate(part: LastPart, streamed: Streamed, request: ModelRequest): ModelAnswer {
  const missing = missingUsage(part);
  if (missing === null) return part;
  const guess = streamed.estimate(request, part);
  if (guess === null) return part;
  if (missing === 'all') return { ...part, estimated: guess };
  const { input, output } = guess;
  const estimated = { ...NO_USAGE, ...(missing === 'input' ? { input } : { output }) };
  return { ...part, estimated };
}

function missingUsage(part: LastPart): UsageMissing | null {
  if (part.type === 'finished') return part.usageMissing ?? null;
  return part.usage === undefined ? 'all' : null;
}

function withCut(answer: ModelAnswer, { text }: Streamed): ModelAnswer {
  return answer.type === 'finished' || text.trim() === '' ? answer : { ...answer, cut: text };
}

/** Before a request that was held back goes out; null: it may. */
async function whyNotSent(
  run: TaskRun,
  { model }: ModelRequest,
  spending: Spending,
): Promise<ModelAnswer | null> {
  try {
    const noRoom = await spending.reserve();
    if (noRoom !== null) return { ...unsent(limitMessage(noRoom.hit)), noRoom };
    await run.slot.take();
    return null;
  } catch {
    // Both reject only when the task is stopped, which the caller tells by the signal.
    return unsent(`${modelName(model)}: stopped before the request was sent`);
  }
}

function unsent(message: string) {
  return { type: 'failed', failure: { kind: 'cancelled', message, retryable: false } } as const;
}
