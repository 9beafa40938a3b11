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
import type { Cap } from '../limits/budget.ts';
import { formatLocalDay } from '../../base/local-time.ts';
import { roundAmount } from '../limits/limit-message.ts';

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

const DATE_NOTICE = /^<notice>It is (\d{4}-\d{2}-\d{2}) now\.<\/notice>$/;

/**
 * Adds the present date to a conversation that continues on a later day than the last one it was given. The
 * system prompt, which names the first day, must keep its bytes for the provider's cache.
 */
function queueNewDate(
  { clock, today = () => formatLocalDay(clock.now()) }: Pick<EngineDeps, 'clock' | 'today'>,
  { journal, spec, state }: Pick<TaskRun, 'journal' | 'spec' | 'state'>,
): void {
  const date = today();
  const first = spec.date ?? formatLocalDay(state.createdAt);
  // A clock that was set back makes no new day.
  if (date === null || date <= first) return;
  const { messages, queued } = state.conversation;
  const known = findLatestDate([...messages, ...queued]);
  if (known !== undefined && date <= known) return;
  const input = createNotice(`date-${date}-turn-${state.turns + 1}`, `It is ${date} now.`);
  journal.record({ type: 'input.queued', input });
}

/**
 * Returns the newest date that a conversation was given after its start, or undefined if there is none or a
 * summary replaced it.
 */
function findLatestDate(
  items: readonly (Message | { readonly text: string })[],
): string | undefined {
  for (const item of items.toReversed()) {
    const texts = 'text' in item ? [item.text] : textsOf(item);
    const [date] = texts.flatMap((text) => DATE_NOTICE.exec(text)?.[1] ?? []).toReversed();
    if (date !== undefined) return date;
  }
  return undefined;
}

function textsOf({ role, content }: Message): readonly string[] {
  return role === 'user' ? content.map(({ text }) => text) : [];
}

/**
 * Returns the limits that a task is notified of, with the amount used: its own, and for the root those of the
 * tree.
 */
function capsInUse(run: TaskRun, clock: Clock): readonly LimitHit[] {
  const { tree, state, spec, budget } = run;
  const { maxTurns } = spec.limits;
  const turns = state.turns - state.activation.turnsBefore;
  const seconds = Math.floor(workedMs(run, clock) / 1000);
  return [
    ...(maxTurns === null ? [] : [{ limit: 'max_turns', value: maxTurns, used: turns }]),
    ...budget.capUses,
    ...(tree.id === spec.id ? tree.budget.capUses : []),
    ...wallCaps(run).map(({ limit, value }) => ({ limit, value: value / 1000, used: seconds })),
  ];
}

/** Returns the limits on a task's working time in milliseconds: its own, and for the root that of the tree. */
export function wallCaps({ spec, tree }: TaskRun): readonly Cap[] {
  const { wallMs } = spec.limits;
  const ofTree = tree.id === spec.id ? tree.wallMs : null;
  return [
    ...(wallMs === null ? [] : [{ limit: 'task_wall_seconds', value: wallMs }]),
    ...(ofTree === null ? [] : [{ limit: 'tree_wall_seconds', value: ofTree }]),
  ];
}

/** Returns the milliseconds that a task has worked in its activation, including those under earlier processes. */
function workedMs({ state, workingSince }: TaskRun, clock: Clock): number {
  const here = workingSince === null ? 0 : clock.monotonic() - workingSince;
  return state.activation.workedMs + here;
}

/** The shares of a cap, in percent, at which a task is notified. */
const MARKS = [50, 80] as const;

interface BudgetNotice {
  /** Identifies the mark, the cap and the activation, so that each notice is sent once. */
  readonly id: string;
  readonly text: string;
}

/**
 * Returns the notices that are due: for each cap the highest mark that is passed, unless a notice about that
 * mark or a higher one was sent before.
 *
 * @param activation the number of the task's activation
 * @param sentIds the ids of all notices that the task ever received
 */
export function findDueNotices(
  uses: readonly LimitHit[],
  { activation, sentIds }: { readonly activation: number; readonly sentIds: ReadonlySet<string> },
): readonly BudgetNotice[] {
  return uses.flatMap(({ limit, value, used }) => {
    const mark = MARKS.findLast((each) => used * 100 >= value * each);
    if (mark === undefined) return [];
    const id = (percent: number): string => `budget-${activation}-${limit}-${percent}`;
    if (MARKS.some((each) => each >= mark && sentIds.has(id(each)))) return [];
    const advice = mark === 50 ? '' : ' Bring the task to its end.';
    const text = `${mark} % of ${limit} = ${value} is used (${roundAmount(used)}).${advice}`;
    return [{ id: id(mark), text }];
  });
}
