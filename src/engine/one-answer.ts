import { modelName, type ModelPart, type ModelRequest, type Usage } from '../protocol/model.ts';
import type { BegunTurn } from './begin-turn.ts';
import { prepareClaimCheck } from './claims/task-claims.ts';
import type { EngineDeps } from './deps.ts';
import { leftWhileHeld } from './fallback.ts';
import { Streamed } from './streamed.ts';
import type { TaskRun } from './task-run.ts';

type LastPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/** The end of an answer; `estimated`: what it has used, where the provider did not say. */
export type Answer = LastPart & { readonly estimated?: Usage };

/**
 * Sends the request once, and reads what comes to its end. Never rejects. While a rate limit holds it
 * back the task has no slot, and takes one again before the request goes out; held back for long, it
 * fails where a fallback model would go on.
 */
export async function oneAnswer(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request }: BegunTurn,
): Promise<Answer> {
  const task = run.spec.id;
  const streamed = new Streamed();
  let isHoldTold = false;
  for await (const part of deps.model.stream(request, run.signal)) {
    streamed.take(part);
    switch (part.type) {
      case 'held': {
        const failure = leftWhileHeld(deps, run, part);
        if (failure !== null) return { type: 'failed', failure };
        if (!isHoldTold) {
          const { because, untilMs } = part;
          run.journal.record({ type: 'turn.held', turn, because, untilMs });
        }
        isHoldTold = true;
        run.giveSlot();
        break;
      }
      case 'admitted':
        if (!(await hasSlot(run))) return stopped(request);
        break;
      case 'accepted':
        run.journal.record({ type: 'turn.accepted', turn });
        if (run.parent !== null || turn > 1) prepareClaimCheck();
        // Loaded while the answer streams in; asked for again when it has ended.
        void deps.models.facts(request.model);
        break;
      case 'text_delta':
        deps.onSignal({ type: 'text_delta', task, text: part.text });
        break;
      case 'reasoning_delta':
        deps.onSignal({ type: 'reasoning_delta', task, text: part.text });
        break;
      case 'tool_call_started':
        deps.onSignal({ type: 'tool_call_started', task, name: part.name });
        break;
      case 'ping':
        break;
      case 'finished':
      case 'failed':
        return withEstimate(part, streamed, request);
      default:
        part satisfies never;
    }
  }
  const failure = {
    kind: 'malformed',
    message: `${modelName(request.model)}: the answer ended without an end`,
    retryable: true,
  } as const;
  return withEstimate({ type: 'failed', failure }, streamed, request);
}

function withEstimate(part: LastPart, streamed: Streamed, request: ModelRequest): Answer {
  const isTold = part.type === 'finished' ? part.usageMissing !== true : part.usage !== undefined;
  if (isTold) return part;
  const estimated = streamed.estimate(request);
  return estimated === null ? part : { ...part, estimated };
}

async function hasSlot(run: TaskRun): Promise<boolean> {
  try {
    await run.takeSlot();
    return true;
  } catch {
    // It rejects only when the task is stopped, which the caller tells by the signal.
    return false;
  }
}

function stopped({ model }: BegunTurn['request']): Answer {
  const message = `${modelName(model)}: stopped before the request was sent`;
  return { type: 'failed', failure: { kind: 'cancelled', message, retryable: false } };
}
