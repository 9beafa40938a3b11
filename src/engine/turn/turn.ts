import { findDueNotices, capsInUse, queueNewDate } from './turn-notices.ts';
import { requestWithRetries, type FinishedAnswer } from './request-with-retries.ts';
import {
  lowerCapFailure,
  type BudgetShortfall,
  type TurnOutcome,
  startTurn,
  type StartedTurn,
  type ToolChoice,
} from './request.ts';
import type { EngineDeps } from '../task/deps.ts';
import { bookAbandonedResponse } from './streamed-response.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import { RequestBudget, findUnpricedCap } from './request-budget.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { Mention } from '../../protocol/state/conversation.ts';
import { toolCalls, type AssistantMessage, type ToolCallPart } from '../../protocol/message.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import { foldLog } from '../task/fold-log.ts';
import { describePrompt } from '../prompt/prompt.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import { DEFAULT_AGENT, parseTaskArguments } from '../task/task-arguments.ts';

/**
 * Runs one turn: one model request and its answer, including retries. The request holds the queued inputs. The
 * budget is reserved before each try and settled after it. Never rejects because of a provider. Rejects when the
 * task is stopped before the request starts.
 */
export async function runTurn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: ToolChoice,
): Promise<TurnOutcome> {
  await bookAbandonedResponse(deps, run);
  const { model } = run.spec;
  // Without a limit nothing is reserved, and the catalogue need not be loaded yet.
  const details = run.budget.isBounded ? await deps.models.details(model) : null;
  const unpriced = details === null ? null : findUnpricedCap(run.budget, model, details);
  if (unpriced !== null) return { kind: 'limit', hit: unpriced };
  // A request that started before a crash is repeated unchanged, so nothing new may be added to it.
  const isNew = run.state.openTurn === null;
  if (isNew && toolChoice === 'auto') {
    queueNewDate(deps, run);
    queueBudgetNotices(deps, run);
  }
  const requestBudget = new RequestBudget(run, details, {
    kind: toolChoice === 'none' ? 'last' : 'turn',
  });
  const last = isNew && toolChoice === 'auto' ? requestBudget.findLastTurnLimit() : null;
  if (last !== null) return { kind: 'last_turn', hit: last };
  try {
    const shortfall = await requestBudget.reserve();
    if (shortfall !== null) return endWithoutBudget(run, shortfall);
    await run.slot.take();
    run.cancellation.turnSignal.throwIfAborted();
    const outputCap = isNew && deps.outputCap ? deps.outputCap() : requestBudget.outputCap;
    const begun = startTurn(deps, run, { toolChoice, outputCap });
    const take = (finished: FinishedAnswer) =>
      recordAnswer(deps, run, begun, { ...finished, requestBudget });
    return await requestWithRetries(deps, run, begun, { requestBudget, recordAnswer: take });
  } finally {
    requestBudget.release();
  }
}

/**
 * Ends a turn that the budget does not allow. A turn that started before a crash is closed if a request with a
 * lower output cap would fit.
 */
function endWithoutBudget(
  { state, journal }: TaskRun,
  { hit, fitsLowered }: BudgetShortfall,
): TurnOutcome {
  const { openTurn } = state;
  if (openTurn === null || !fitsLowered) return { kind: 'limit', hit };
  journal.record(lowerCapFailure(openTurn.turn, hit));
  return { kind: 'begin_again' };
}

function recordAnswer(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request }: StartedTurn,
  { answer, cost, ms, requestBudget }: FinishedAnswer & { readonly requestBudget: RequestBudget },
): void {
  requestBudget.settleAnswer(cost);
  const { reason, repairs } = answer;
  const mayCall = request.toolChoice === 'auto' && reason !== 'content_filter';
  const message = mayCall
    ? addMentionedCalls(deps, run, { message: answer.message, turn })
    : answer.message;
  run.journal.record({
    type: 'turn.ended',
    turn,
    message,
    ...cost,
    reason,
    ms,
    ...(repairs === undefined ? {} : { repairs }),
  });
  run.calls.remember(message);
}

/** Queues a notice for each limit that the task has used to a large part. */
function queueBudgetNotices({ clock }: Pick<EngineDeps, 'clock'>, run: TaskRun): void {
  const { activation, conversation } = run.state;
  const due = findDueNotices(capsInUse(run, clock), {
    activation: activation.number,
    sentIds: conversation.inputIds,
  });
  for (const { id, text } of due) {
    run.journal.record({ type: 'input.queued', input: createNotice(id, text) });
  }
}

/**
 * Adds a Task call to an answer for each agent type that the user named and that the model did not call itself,
 * so that a user who names an agent always gets it.
 */
function addMentionedCalls(
  deps: Pick<EngineDeps, 'agents' | 'store'>,
  run: Pick<TaskRun, 'state' | 'view'>,
  { message, turn }: { readonly message: AssistantMessage; readonly turn: number },
): AssistantMessage {
  const { mentioned } = run.state.conversation;
  if (mentioned.length === 0 || !run.view.has('Task')) return message;
  const agents = deps.agents.agents();
  const nameOf = (word: string) => (lookUpAgent(word, agents)?.name ?? word).toLowerCase();
  const called = new Set(
    toolCalls(message)
      .flatMap((call) => findDelegatedType(deps, run, call) ?? [])
      .map(nameOf),
  );
  // An agent that is named in two messages gets the later one, which builds on the earlier.
  const byName = new Map(mentioned.map((mention) => [nameOf(mention.agent), mention]));
  const missing = [...byName].flatMap(([name, mention]) => (called.has(name) ? [] : [mention]));
  if (missing.length === 0) return message;
  const added = missing.map((mention, index) =>
    buildMentionCall(mention, `mention_${turn}_${index}`),
  );
  return { ...message, content: [...message.content, ...added] };
}

/** Returns the agent type that a call delegates to, or undefined if it does not delegate. */
function findDelegatedType(
  { store }: Pick<EngineDeps, 'store'>,
  { state }: Pick<TaskRun, 'state'>,
  call: ToolCallPart,
): string | undefined {
  if (canonicalToolName(call.name) !== 'Task' || call.malformed !== undefined) return undefined;
  const parsed = parseTaskArguments(call.input);
  if (!parsed.ok) return undefined;
  const { subagentType, resume } = parsed.input;
  if (subagentType !== undefined || resume === undefined) return subagentType ?? DEFAULT_AGENT;
  const child = [...state.children.keys()].find((id) => id.startsWith(resume));
  return child !== undefined && store.exists(child)
    ? foldLog(store, child).spec.agent.name
    : undefined;
}

function buildMentionCall({ agent, text }: Mention, id: string): ToolCallPart {
  const prompt = `What the user said, naming you (@${agent}):\n\n${text}`;
  const input = { description: describePrompt(text), prompt, subagent_type: agent };
  return { type: 'tool_call', id, name: 'Task', input, by: 'user' };
}
