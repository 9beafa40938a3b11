import { costUsd } from '../model/cost.ts';
import {
  addAmounts,
  modelName,
  NO_USAGE,
  NOTHING,
  paidTokens,
  type Amount,
  type ModelFailure,
  type ModelPart,
  type ModelPrice,
  type ModelRequest,
  type Usage,
} from '../protocol/model.ts';
import type { EngineDeps } from './deps.ts';
import { expectedUse } from './estimate.ts';
import type { LimitHit } from '../protocol/stint.ts';
import { withMentioned } from './mentioned-calls.ts';
import { decideRetry, NO_FAILURES } from './retry.ts';
import { sleep } from './sleep.ts';
import type { TaskRun } from './task-run.ts';

export type TurnOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'stopped' };

/** `none` for the last turn after a limit: the tools stay in the request, calls are forbidden. */
type ToolChoice = 'auto' | 'none';

type Answer = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/**
 * One model request and its answer, retries included. Never rejects for what a provider does. What
 * waits in the queue stands in the request; the budget is reserved before it and settled after it.
 * Rejects when the task is stopped before the request is begun.
 */
export async function runTurn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: ToolChoice,
): Promise<TurnOutcome> {
  const amount = await expected(deps, run);
  // Without its slot: who has reserved may need one before it can settle.
  const reserved = await run.budget.reserve(amount, run.signal, () => run.giveSlot());
  if (!reserved.ok) return { kind: 'limit', hit: reserved.hit };
  const spending = new Spending();
  try {
    await run.takeSlot();
    run.signal.throwIfAborted();
    return await askUntilAnswered(deps, run, { ...beginTurn(run, toolChoice), spending });
  } finally {
    reserved.reservation.settle(spending.total);
  }
}

/** A request that was begun before a crash is the same again: nothing new may stand in it. */
function beginTurn(run: TaskRun, toolChoice: ToolChoice): Omit<TurnRequest, 'spending'> {
  const { state, journal, spec } = run;
  const turn = state.openTurn?.turn ?? state.turns + 1;
  if (state.openTurn === null) {
    journal.record({
      type: 'turn.started',
      turn,
      inputs: state.conversation.queued.map((input) => input.id),
      model: modelName(spec.model),
      toolChoice,
    });
  }
  const request: ModelRequest = {
    model: spec.model,
    prefix: run.prefix,
    messages: [...state.conversation.messages],
    toolChoice,
    ...(spec.agent.effort === undefined ? {} : { effort: spec.agent.effort }),
    cacheKey: `${spec.root}:${spec.agent.name}`,
  };
  return { turn, request };
}

/** What all tries of one request cost together. */
class Spending {
  total = NOTHING;

  add(usage: Usage | undefined, price: ModelPrice | null): void {
    if (usage === undefined) return;
    const tokens = paidTokens(usage);
    this.total = addAmounts(this.total, { tokens, costUsd: costUsd(usage, price) ?? 0 });
  }
}

/**
 * What to hold back. Without a cap there is nothing to hold, and the catalogue need not be loaded
 * before the first request goes out.
 */
async function expected(deps: EngineDeps, run: TaskRun): Promise<Amount> {
  if (!run.budget.bounded) return NOTHING;
  const facts = await deps.models.facts(run.spec.model);
  if (facts.price === null && deps.settings.treeCostUsd > 0) warnUnpriced(run);
  return expectedUse(run.state, run.prefix, facts);
}

/** A cap that can't act must not look as if it did. */
function warnUnpriced({ spec, state, journal }: TaskRun): void {
  const message = `no price is known for ${modelName(spec.model)}: the limit tree_cost_usd does not count what it costs`;
  if (!state.warnings.includes(message)) journal.record({ type: 'warning', message });
}

interface TurnRequest {
  readonly turn: number;
  readonly request: ModelRequest;
  readonly spending: Spending;
}

async function askUntilAnswered(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request, spending }: TurnRequest,
): Promise<TurnOutcome> {
  const { journal } = run;
  let retries = NO_FAILURES;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = deps.clock.monotonic();
    run.tree.requestSent();
    const answer = await oneAnswer(deps, run, { turn, request });
    const { price } = await deps.models.facts(request.model);
    spending.add(answer.usage, price);
    if (answer.type === 'finished') {
      const { provider } = request.model;
      const mayCall = request.toolChoice === 'auto' && answer.reason !== 'content_filter';
      const message = mayCall
        ? withMentioned(deps, run, { message: answer.message, turn })
        : answer.message;
      const servedBy = answer.servedBy ?? request.model.id;
      journal.record({
        type: 'turn.ended',
        turn,
        message,
        usage: answer.usage,
        costUsd: costUsd(answer.usage, price),
        reason: answer.reason,
        model: modelName({ provider, id: servedBy }),
        ms: Math.round(deps.clock.monotonic() - startedAt),
      });
      run.keepAsGiven(message);
      return { kind: 'answered' };
    }
    const { failure, usage = NO_USAGE } = answer;
    const decision = decideRetry(failure, retries, {
      retries: deps.settings.retries,
      treeRetries: run.tree.retriesLeft,
      random: Math.random(),
    });
    if (!decision.retry || run.signal.aborted) {
      journal.record({ type: 'turn.failed', turn, failure, usage });
      return run.signal.aborted ? { kind: 'stopped' } : { kind: 'failed', failure };
    }
    if (failure.kind !== 'rate_limit') run.tree.retried();
    retries = decision.next;
    const waitMs = Math.round(decision.waitMs);
    journal.record({ type: 'turn.retried', turn, attempt, failure, waitMs, usage });
    if (!(await waitForRetry(deps, run, waitMs))) {
      journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
      return { kind: 'stopped' };
    }
  }
}

/** Without its slot, which others can use meanwhile. False when stopped. */
async function waitForRetry(deps: EngineDeps, run: TaskRun, waitMs: number): Promise<boolean> {
  run.giveSlot();
  try {
    await sleep(deps.deadlines, waitMs, run.signal);
    await run.takeSlot();
    return true;
  } catch {
    // Both reject only when the task is stopped, which the caller sees by the signal.
    return false;
  }
}

async function oneAnswer(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request }: Pick<TurnRequest, 'turn' | 'request'>,
): Promise<Answer> {
  const task = run.spec.id;
  for await (const part of deps.model.stream(request, run.signal)) {
    switch (part.type) {
      case 'accepted':
        run.journal.record({ type: 'turn.accepted', turn });
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
        return part;
      default:
        part satisfies never;
    }
  }
  return {
    type: 'failed',
    failure: {
      kind: 'malformed',
      message: `${modelName(request.model)}: the answer ended without an end`,
      retryable: true,
    },
  };
}
