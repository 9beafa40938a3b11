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
import type { AgentMention } from '../../protocol/state/conversation.ts';
import {
  toolCalls,
  type AssistantMessage,
  type ToolCallPart,
  type Message,
} from '../../protocol/message.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import { foldLog } from '../task/fold-log.ts';
import { describePrompt } from '../prompt/prompt.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import { DEFAULT_AGENT, parseTaskArguments } from '../task/task-arguments.ts';
import type { Clock } from '../../base/clock.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { computeWorkedMs, listWallCaps } from '../task/wall-time.ts';
import { formatLocalDay } from '../../base/local-time.ts';
import { roundAmount } from '../limits/limit-message.ts';

/**
 * Runs one turn: one model request and its answer, including retries. The request contains the queued inputs. The
 * budget is reserved before each try and settled after it. Never rejects because of a provider. Rejects when the task
 * is stopped before the request starts.
 */
export async function runTurn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: ToolChoice,
): Promise<TurnOutcome> {
  await bookAbandonedResponse(deps, run);
  const { model } = run.spec;
  // Without a limit nothing is reserved, so the model catalogue does not have to be loaded yet.
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
  const lastTurnLimit = isNew && toolChoice === 'auto' ? requestBudget.findLastTurnLimit() : null;
  if (lastTurnLimit !== null) return { kind: 'last_turn', hit: lastTurnLimit };
  try {
    const shortfall = await requestBudget.reserve();
    if (shortfall !== null) return endWithoutBudget(run, shortfall);
    await run.slot.take();
    run.cancellation.turnSignal.throwIfAborted();
    if (isNew && hasNothingToSend(run)) return { kind: 'begin_again' };
    const outputCap = isNew && deps.outputCap ? deps.outputCap() : requestBudget.outputCap;
    const startedTurn = startTurn(deps, run, { toolChoice, outputCap });
    const record = (finished: FinishedAnswer) =>
      recordAnswer(deps, run, startedTurn, { ...finished, requestBudget });
    return await requestWithRetries(deps, run, startedTurn, {
      requestBudget,
      recordAnswer: record,
    });
  } finally {
    requestBudget.release();
  }
}

/**
 * Returns true if the newest message is an answer without calls and nothing was added to it. That happens if the user
 * took back the message for which the turn was about to begin.
 */
function hasNothingToSend({ state: { conversation } }: TaskRun): boolean {
  const { queued, openCalls, messages } = conversation;
  return queued.length === 0 && openCalls.length === 0 && messages.at(-1)?.role === 'assistant';
}

/**
 * Ends a turn that the budget does not allow. A turn that started before a crash is closed and begins again if a
 * request with a lower output cap would fit.
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

/** Queues the due notices about limits of which the task has used a large part. */
function queueBudgetNotices({ clock }: Pick<EngineDeps, 'clock'>, run: TaskRun): void {
  const { activation, conversation } = run.state;
  const due = findDueNotices(listCapUses(run, clock), {
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
  const canonicalName = (word: string) => (lookUpAgent(word, agents)?.name ?? word).toLowerCase();
  const called = new Set(
    toolCalls(message)
      .flatMap((call) => findDelegatedType(deps, run, call) ?? [])
      .map(canonicalName),
  );
  // An agent that is named in two messages gets the later message, which builds on the earlier one.
  const byName = new Map(mentioned.map((mention) => [canonicalName(mention.agent), mention]));
  const missing = [...byName].flatMap(([name, mention]) => (called.has(name) ? [] : [mention]));
  if (missing.length === 0) return message;
  const added = missing.map((mention, index) =>
    buildMentionCall(mention, `mention_${turn}_${index}`),
  );
  return { ...message, content: [...message.content, ...added] };
}

/** Returns the agent type to which a call delegates, or undefined if the call does not delegate. */
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

function buildMentionCall({ agent, text }: AgentMention, id: string): ToolCallPart {
  const prompt = `What the user said, naming you (@${agent}):\n\n${text}`;
  const input = { description: describePrompt(text), prompt, subagent_type: agent };
  return { type: 'tool_call', id, name: 'Task', input, by: 'user' };
}

const DATE_NOTICE = /^<notice>It is (\d{4}-\d{2}-\d{2}) now\.<\/notice>$/;

/**
 * Queues a notice of the date in a conversation that continues on a later day than the last one that it knows. The
 * system prompt, which contains the first day, must stay the same for the provider's cache.
 */
function queueNewDate(
  { clock, today = () => formatLocalDay(clock.now()) }: Pick<EngineDeps, 'clock' | 'today'>,
  { journal, spec, state }: Pick<TaskRun, 'journal' | 'spec' | 'state'>,
): void {
  const date = today();
  const first = spec.date ?? formatLocalDay(state.createdAt);
  // A clock that was set back does not start a new day.
  if (date === null || date <= first) return;
  const { messages, queued } = state.conversation;
  const known = findLatestDate([...messages, ...queued]);
  if (known !== undefined && date <= known) return;
  const input = createNotice(`date-${date}-turn-${state.turns + 1}`, `It is ${date} now.`);
  journal.record({ type: 'input.queued', input });
}

/**
 * Returns the newest date in the notices of a conversation, or undefined if there is none or a summary has replaced
 * the notices.
 */
function findLatestDate(
  items: readonly (Message | { readonly text: string })[],
): string | undefined {
  for (const item of items.toReversed()) {
    const texts = 'text' in item ? [item.text] : listTexts(item);
    const [date] = texts.flatMap((text) => DATE_NOTICE.exec(text)?.[1] ?? []).toReversed();
    if (date !== undefined) return date;
  }
  return undefined;
}

function listTexts({ role, content }: Message): readonly string[] {
  return role === 'user' ? content.map(({ text }) => text) : [];
}

/**
 * Returns the limits about which a task is notified, with the amounts used: its own limits, and for the root task the
 * limits of the tree.
 */
function listCapUses(run: TaskRun, clock: Clock): readonly LimitHit[] {
  const { tree, state, spec, budget } = run;
  const { maxTurns } = spec.limits;
  const turns = state.turns - state.activation.turnsBefore;
  const seconds = Math.floor(computeWorkedMs(run, clock) / 1000);
  return [
    ...(maxTurns === null ? [] : [{ limit: 'max_turns', value: maxTurns, used: turns }]),
    ...budget.capUses,
    ...(tree.id === spec.id ? tree.budget.capUses : []),
    ...listWallCaps(run).map(({ limit, value }) => ({ limit, value: value / 1000, used: seconds })),
  ];
}

/** The shares of a limit, in percent, at which a task is notified. */
const NOTICE_PERCENTAGES = [50, 80] as const;

interface BudgetNotice {
  /** Identifies the percentage, the limit and the activation, so that each notice is sent once. */
  readonly id: string;
  readonly text: string;
}

/**
 * Returns the due notices: for each limit, the highest percentage that is passed, unless a notice about this
 * percentage or a higher one was sent before.
 *
 * @param activation the number of the task's activation
 * @param sentIds the ids of all notices that the task has ever received
 */
export function findDueNotices(
  uses: readonly LimitHit[],
  { activation, sentIds }: { readonly activation: number; readonly sentIds: ReadonlySet<string> },
): readonly BudgetNotice[] {
  return uses.flatMap(({ limit, value, used }) => {
    const passed = NOTICE_PERCENTAGES.findLast((each) => used * 100 >= value * each);
    if (passed === undefined) return [];
    const toId = (percent: number): string => `budget-${activation}-${limit}-${percent}`;
    if (NOTICE_PERCENTAGES.some((each) => each >= passed && sentIds.has(toId(each)))) return [];
    const advice = passed === 50 ? '' : ' Bring the task to its end.';
    const text = `${passed} % of ${limit} = ${value} is used (${roundAmount(used)}).${advice}`;
    return [{ id: toId(passed), text }];
  });
}
