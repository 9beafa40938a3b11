import {
  modelName,
  type ModelRequest,
  type RequestPrefix,
  type ResolvedModel,
} from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { Effort } from '../../protocol/agent.ts';
import { hash } from 'node:crypto';
import type { Message } from '../../protocol/message.ts';

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
    lane: { tree: tree.id, background: isBackground },
    readBlob: (hash) => store.getAttachment(hash),
  };
}

/** The part that requests of a task share: the model, and the beginning of the request. */
export interface RequestBase {
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
  const { handover } = state.conversation;
  if (handover !== null && handover.text === null) return handover.of;
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
