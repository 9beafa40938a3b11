import { hash } from 'node:crypto';
import {
  modelName,
  type ModelRequest,
  type RequestPrefix,
  type ResolvedModel,
  type ModelFailure,
  type ModelPart,
  type Usage,
  NO_USAGE,
  type Effort,
} from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { Message } from '../../protocol/message.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { limitMessage } from '../limits/limit-message.ts';

/**
 * The tool choice of a request. `none`, for the last turn after a limit: the tools stay in the request, but calls
 * are forbidden.
 */
export type ToolChoice = 'auto' | 'none';

/** A turn that has started, and the request that each of its tries sends. */
export interface StartedTurn {
  readonly turn: number;
  readonly request: ModelRequest;
  /** True if the request asks for a summary, whose answer is not shown as the task's own. */
  readonly isSummary: boolean;
}

/**
 * Starts a turn, or continues the one that started before a crash: its request is repeated unchanged.
 *
 * @param outputCap null if no budget lowers the model's own output limit
 */
export function startTurn(
  { models, store }: Pick<EngineDeps, 'models' | 'store'>,
  run: TaskRun,
  {
    toolChoice,
    outputCap,
  }: { readonly toolChoice: ToolChoice; readonly outputCap: OutputCap | null },
): StartedTurn {
  const { state, journal, spec } = run;
  const turn = state.openTurn?.turn ?? state.turns + 1;
  if (state.openTurn === null) {
    journal.record({
      type: 'turn.started',
      turn,
      inputs: state.conversation.queued.map((input) => input.id),
      model: modelName(spec.model),
      toolChoice,
      ...(outputCap === null ? {} : { outputCap }),
    });
  }
  const request = buildRequest({ models, store }, run, {
    messages: [...state.conversation.messages],
    toolChoice,
    outputCap,
  });
  return { turn, request, isSummary: false };
}

/** Builds a request of a task. All requests of a task differ only in their messages and limits. */
export function buildRequest(
  { models, store }: Pick<EngineDeps, 'models' | 'store'>,
  run: TaskRun,
  asked: Pick<ModelRequest, 'messages' | 'toolChoice'> & { readonly outputCap: OutputCap | null },
): ModelRequest {
  const { spec, tree, isBackground } = run;
  const { model, prefix, agent, effort } = getRequestBase(run);
  const maxOutputTokens = asked.outputCap?.tokens ?? models.outputLimit(model);
  return {
    model,
    prefix,
    messages: asked.messages,
    toolChoice: asked.toolChoice,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(effort === undefined ? {} : { effort }),
    cacheKey: `${spec.root}:${agent}`,
    priority: { tree: tree.id, background: isBackground },
    readBlob: (hash) => store.getAttachment(hash),
  };
}

/** The part that requests of a task share: the model, and the beginning of the request. */
interface RequestBase {
  readonly model: ResolvedModel;
  readonly prefix: RequestPrefix;
  /** The agent type that is part of the key for the provider's cache. */
  readonly agent: string;
  /** Default: the model's own. */
  readonly effort?: Effort;
}

/**
 * Returns the base of the next request. While a summary of the parent's conversation is due, it is the base of
 * that conversation.
 */
export function getRequestBase({
  spec,
  prefix,
  state,
}: Pick<TaskRun, 'spec' | 'prefix' | 'state'>): RequestBase {
  const { summaryTransfer } = state.conversation;
  if (summaryTransfer !== null && summaryTransfer.text === null) return summaryTransfer.of;
  const { agent, inherited, model } = spec;
  const { effort } = agent;
  const own = { model, prefix, agent: inherited?.agent ?? agent.name };
  return effort === undefined ? own : { ...own, effort };
}

/** About 48 bits: enough to tell one text of a task from another. */
const DIGEST_LENGTH = 12;

/** One part of a message: a text, a call or a result. */
export type RequestPart = Message['content'][number];

/**
 * Returns the parts that a request adds to the one before it: the answer to that, the results of its calls, and
 * newer inputs.
 */
export function findAddedParts(messages: readonly Message[]): readonly RequestPart[] {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(Math.max(0, answer))
    .flatMap(({ content }): readonly RequestPart[] => content);
}

/** Returns a digest of each added part, so that a log can be compared with what was really sent. */
export function digestAddedParts(messages: readonly Message[]): readonly string[] {
  return findAddedParts(messages).map((part) =>
    hash('sha256', JSON.stringify(part)).slice(0, DIGEST_LENGTH),
  );
}

/** The limit that leaves no budget for a try of a request. */
export interface BudgetShortfall {
  readonly hit: LimitHit;
  /** True if the same request would fit with a lower output cap. */
  readonly fitsLowered: boolean;
}

/** The outcome of one turn. */
export type TurnOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  /** No request was sent: the budget allows a last answer, but no more calls before it. */
  | { readonly kind: 'last_turn'; readonly hit: LimitHit }
  /** The budget does not allow the same request again, but one with a lower output cap. */
  | { readonly kind: 'begin_again' }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'stopped' };

/** The last part of an answer. */
export type FinalPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/**
 * The end of an answer.
 *
 * - `estimated`: the tokens used, if the provider did not report them
 * - `shortfall`: the limit that left no budget for the request by the time that it could be sent
 * - `partialText`: the text of an answer that broke off
 */
export type ModelAnswer = FinalPart & {
  readonly estimated?: Usage;
  readonly shortfall?: BudgetShortfall;
  readonly partialText?: string;
};

type TurnFailed = Extract<EventBody, { type: 'turn.failed' }>;

/**
 * Builds the event that ends a turn whose request no longer fits into the budget. The task then makes a new
 * request with a lower output cap.
 */
export function lowerCapFailure(turn: number, hit: LimitHit): TurnFailed {
  const message = `${limitMessage(hit)}; the request is made anew with a lower output cap`;
  // No other cancelled request is retryable: a rerun of the log recognizes this one by that.
  const failure = { kind: 'cancelled', message, retryable: true } as const;
  return { type: 'turn.failed', turn, failure, usage: NO_USAGE };
}

/** Says whether an event is one that `lowerCapFailure` built. */
export function isLowerCapFailure(event: EventBody | undefined): boolean {
  if (event?.type !== 'turn.failed') return false;
  return event.failure.kind === 'cancelled' && event.failure.retryable;
}
