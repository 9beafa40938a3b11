import { sleep } from '../../base/deadlines.ts';
import { MusterError } from '../../base/errors.ts';
import { messageText, userMessage } from '../../protocol/message.ts';
import {
  modelName,
  type ModelFailure,
  type ModelRequest,
  type ResolvedModel,
} from '../../protocol/model.ts';
import type { ModelAnswerToCall, QuestionToModel } from '../../protocol/tool.ts';
import { MAX_PROVIDER_SEARCHES } from '../../protocol/web.ts';
import { NO_EXPENSE, type Reservation } from '../limits/budget.ts';
import { estimatePrompt, estimateRequestNeed, inputToReserve } from '../limits/estimate.ts';
import { limitMessage } from '../limits/limit-message.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ModelAnswer } from './request.ts';
import { answerExpense, computeAnswerCost, failedAnswerCost } from './request-budget.ts';
import { decideRetry, NO_FAILURES } from './retry.ts';
import { addEstimate } from './stream-response.ts';
import { StreamedResponse } from './streamed-response.ts';

/** The maximum number of output tokens of such a request. An answer about one page is short. */
const MAX_OUTPUT_TOKENS = 4_096;

/** The call that sends the request. */
interface RequestingCall {
  readonly callId: string;
  readonly signal: AbortSignal;
}

/**
 * Sends a request for a running call, apart from the conversation of its task: to the model of the tier `fast`, or to
 * the task's own model if no fast model can be used. The request has no tools. It is reserved and booked in the budget
 * of the task like a turn, retried like a turn, and recorded as `request.ended`. A search goes only to a model whose
 * provider can search. Rejects only when the signal aborts.
 */
export async function requestApart(
  deps: EngineDeps,
  run: TaskRun,
  { callId, signal }: RequestingCall,
  question: QuestionToModel,
): Promise<ModelAnswerToCall> {
  const model = chooseModel(deps, run, question);
  if (model === null) {
    const problem = `neither the fast model nor ${modelName(run.spec.model)} belongs to a provider that can search the web`;
    return { ok: false, problem };
  }
  const request = buildRequestApart(run, model, question);
  const details = run.budget.isBounded ? await deps.models.details(model) : null;
  const reserve = async () => {
    if (details === null) return await run.budget.reserve(NO_EXPENSE, signal);
    const input = inputToReserve(estimatePrompt(request.prefix, request.messages), null);
    const need = estimateRequestNeed(input, details, {
      output: { maxTokens: MAX_OUTPUT_TOKENS, kind: 'repeat' },
    });
    const fees =
      question.webSearch === undefined ? 0 : MAX_PROVIDER_SEARCHES * (details.price?.search ?? 0);
    const expense = { ...need.input, turns: 0, costUsd: need.input.costUsd + fees };
    return await run.budget.reserveRequest({ ...need, input: expense }, signal);
  };
  let retries = NO_FAILURES;
  for (;;) {
    signal.throwIfAborted();
    const reserved = await reserve();
    if (!reserved.ok) return { ok: false, problem: limitMessage(reserved.hit) };
    run.tree.countRequest();
    const answer = await recordRequest(deps, run, request, {
      callId,
      signal,
      question,
      reservation: reserved.reservation,
    });
    signal.throwIfAborted();
    if (answer.type === 'finished') {
      const { message, sources = [] } = answer;
      return { ok: true, text: messageText(message).trim(), sources };
    }
    const decision = decideRetry(answer.failure, retries, {
      retries: deps.settings.retries,
      silentRetries: deps.settings.silentRetries,
      treeRetries: run.tree.remainingRetries,
      random: Math.random(),
    });
    if (!decision.retry) return { ok: false, problem: answer.failure.message };
    if (answer.failure.kind !== 'rate_limit') run.tree.countRetry();
    retries = decision.next;
    await sleep(deps.deadlines, decision.waitMs, signal);
  }
}

/** Chooses the model of a request. Returns null if the request needs a search and no model's provider can search. */
function chooseModel(
  { models }: EngineDeps,
  { spec }: TaskRun,
  { prompt, webSearch }: QuestionToModel,
): ResolvedModel | null {
  const { agent, model: parent } = spec;
  const fast = models.forTask({ call: 'fast', definition: [], agent, prompt, parent });
  const candidates = fast instanceof MusterError ? [parent] : [fast, parent];
  const isUsable = (model: ResolvedModel) =>
    webSearch === undefined || models.canSearchWeb?.(model) === true;
  return candidates.find(isUsable) ?? null;
}

function buildRequestApart(
  { tree, isBackground }: TaskRun,
  model: ResolvedModel,
  { system, prompt, webSearch }: QuestionToModel,
): ModelRequest {
  return {
    model,
    prefix: { system: [system], tools: [] },
    messages: [userMessage(prompt)],
    toolChoice: 'auto',
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    ...(webSearch === undefined ? {} : { webSearch }),
    priority: { tree: tree.id, background: isBackground },
  };
}

/** Sends the request once, settles its reservation and records its end. */
async function recordRequest(
  deps: EngineDeps,
  run: TaskRun,
  request: ModelRequest,
  {
    callId,
    signal,
    question,
    reservation,
  }: RequestingCall & {
    readonly question: QuestionToModel;
    readonly reservation: Reservation;
  },
): Promise<ModelAnswer> {
  const startedAt = deps.clock.monotonic();
  try {
    const answer = await streamToEnd(deps, request, signal);
    const cost = await computeAnswerCost(deps, request, answer);
    reservation.settle(answerExpense(cost));
    const isFinished = answer.type === 'finished';
    run.journal.record({
      type: 'request.ended',
      callId,
      purpose: question.purpose,
      ...(isFinished ? cost : { ...failedAnswerCost(cost), model: cost.model }),
      failure: isFinished ? null : answer.failure,
      ms: Math.round(deps.clock.monotonic() - startedAt),
    });
    return answer;
  } finally {
    reservation.settle(NO_EXPENSE);
  }
}

async function streamToEnd(
  deps: EngineDeps,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const streamed = new StreamedResponse();
  for await (const part of deps.model.stream(request, signal)) {
    switch (part.type) {
      case 'accepted':
        streamed.markAccepted();
        break;
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_call_started':
        streamed.add(part);
        break;
      case 'finished':
      case 'failed':
        return addEstimate(part, streamed, request);
      case 'held':
      case 'admitted':
      case 'ping':
        break;
      default:
        part satisfies never;
    }
  }
  const failure: ModelFailure = {
    kind: 'malformed',
    message: `${modelName(request.model)}: the stream of the answer ended without its last part`,
    retryable: true,
  };
  return addEstimate({ type: 'failed', failure }, streamed, request);
}
