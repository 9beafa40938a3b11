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
import type { AgentSource, EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { Message } from '../../protocol/message.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { isRemoteProvider, type RemoteTask } from '../../protocol/remote-agent.ts';
import { forbidsAllChanges } from '../../policy/denied-paths.ts';
import { isToolDisallowed } from '../../policy/rules/tool-cover.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import { limitMessage } from '../limits/limit-message.ts';

/**
 * The tool choice of a request. `none` is for the last turn after a limit: the tools stay in the request, but calls
 * are forbidden.
 */
export type ToolChoice = 'auto' | 'none';

/** A turn that has started, and the request that is sent in each try. */
export interface StartedTurn {
  readonly turn: number;
  readonly request: ModelRequest;
  /** True if the request asks for a summary. Its answer is not shown as an answer of the task. */
  readonly isSummary: boolean;
}

/**
 * Starts a turn, or continues the turn that started before a crash and repeats its request unchanged.
 *
 * @param options `outputCap`: null if no budget lowers the model's own output limit
 */
export function startTurn(
  deps: Pick<EngineDeps, 'agents' | 'models' | 'store'>,
  run: TaskRun,
  options: { readonly toolChoice: ToolChoice; readonly outputCap: OutputCap | null },
): StartedTurn {
  const { toolChoice, outputCap } = options;
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
  const request = buildRequest(deps, run, {
    messages: [...state.conversation.messages],
    toolChoice,
    outputCap,
  });
  return { turn, request, isSummary: false };
}

/** Builds a request of a task. All requests of a task differ only in their messages and limits. */
export function buildRequest(
  { agents, models, store }: Pick<EngineDeps, 'agents' | 'models' | 'store'>,
  run: TaskRun,
  options: Pick<ModelRequest, 'messages' | 'toolChoice'> & { readonly outputCap: OutputCap | null },
): ModelRequest {
  const { spec, tree, isBackground } = run;
  const { model, prefix, agent, effort } = getRequestBase(run);
  const maxOutputTokens = options.outputCap?.tokens ?? models.outputLimit(model);
  return {
    model,
    prefix,
    messages: options.messages,
    toolChoice: options.toolChoice,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(effort === undefined ? {} : { effort }),
    cacheKey: `${spec.root}:${agent}`,
    priority: { tree: tree.id, background: isBackground },
    readBlob: (hash) => store.getAttachment(hash),
    ...(isRemoteProvider(model.provider) ? { remote: describeRemoteTask(agents, run) } : {}),
  };
}

/**
 * Describes a task for the program or server that does its work. Only the present definition says what to start or to
 * reach: the definition in the log may come from another machine, or from a file that is not trusted any more.
 */
function describeRemoteTask(
  agents: Pick<AgentSource, 'agents'>,
  { spec, permissions, view }: Pick<TaskRun, 'spec' | 'permissions' | 'view'>,
): RemoteTask {
  const { agent, cwd, id } = spec;
  const { rights } = permissions;
  const present = lookUpAgent(agent.name, agents.agents());
  const { scope, path } = (present ?? agent).origin;
  return {
    agent: present?.remote ?? null,
    name: agent.name,
    path,
    isForeign: scope === 'project' || scope === 'plugin',
    instructions: agent.prompt,
    task: id,
    cwd,
    rights,
    mayChange:
      rights.mode !== 'plan' &&
      !forbidsAllChanges(rights) &&
      ['Write', 'Bash'].every((name) => view.has(name) && !isToolDisallowed(rights, name)),
  };
}

/** The part that the requests of a task share: the model, the beginning of the request and the effort. */
interface RequestBase {
  readonly model: ResolvedModel;
  readonly prefix: RequestPrefix;
  /** The agent type, which is part of the cache key for the provider. */
  readonly agent: string;
  /** The effort of the model. Default: the model's own. */
  readonly effort?: Effort;
}

/**
 * Returns the base of the next request. If a summary of the parent's conversation is due, the base of the parent's
 * requests is returned.
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
  const base = { model, prefix, agent: inherited?.agent ?? agent.name };
  return effort === undefined ? base : { ...base, effort };
}

/** The length of a digest in hex digits. 48 bits are enough to distinguish the parts of one task. */
const DIGEST_LENGTH = 12;

/** One part of a message, such as a text, a call or a result. */
export type RequestPart = Message['content'][number];

/**
 * Returns the parts that a request adds to the request before it: the answer to the latter, the results of its calls,
 * and newer inputs.
 */
export function findAddedParts(messages: readonly Message[]): readonly RequestPart[] {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(Math.max(0, answer))
    .flatMap(({ content }): readonly RequestPart[] => content);
}

/** Returns a digest of each added part, so that a rerun can compare its requests with those that were sent. */
export function digestAddedParts(messages: readonly Message[]): readonly string[] {
  return findAddedParts(messages).map((part) =>
    hash('sha256', JSON.stringify(part)).slice(0, DIGEST_LENGTH),
  );
}

/** A limit that leaves no budget for a try of a request. */
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
  /**
   * No request was sent. Either the budget does not allow the same request again, but allows it with a lower output cap;
   * or there is nothing to send any more, because the user took back a message.
   */
  | { readonly kind: 'begin_again' }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'stopped' };

/** The last part of an answer. */
export type FinalPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/**
 * The end of an answer.
 *
 * - `estimated`: the estimated usage, if the provider did not report it
 * - `shortfall`: the limit that left no budget for the request when it could be sent at last
 * - `partialText`: the text of an interrupted answer
 */
export type ModelAnswer = FinalPart & {
  readonly estimated?: Usage;
  readonly shortfall?: BudgetShortfall;
  readonly partialText?: string;
};

type TurnFailed = Extract<EventBody, { type: 'turn.failed' }>;

/**
 * Builds the event that ends a turn whose request no longer fits into the budget. The task then sends a new request
 * with a lower output cap.
 */
export function lowerCapFailure(turn: number, hit: LimitHit): TurnFailed {
  const message = `${limitMessage(hit)}; the request is sent again with a lower output cap`;
  // No other failure of the kind `cancelled` is retryable, so a rerun of the log recognizes this event.
  const failure = { kind: 'cancelled', message, retryable: true } as const;
  return { type: 'turn.failed', turn, failure, usage: NO_USAGE };
}

/** Returns true for an event that `lowerCapFailure` built. */
export function isLowerCapFailure(event: EventBody | undefined): boolean {
  if (event?.type !== 'turn.failed') return false;
  return event.failure.kind === 'cancelled' && event.failure.retryable;
}
