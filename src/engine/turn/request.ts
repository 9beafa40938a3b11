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

/** `none` for the last turn after a limit: the tools stay in the request, calls are forbidden. */
export type ToolChoice = 'auto' | 'none';

/** A turn under way, and the request that each of its tries sends. */
export interface StartedTurn {
  readonly turn: number;
  readonly request: ModelRequest;
  /** It asks for a summary: nothing of the answer is shown as the task's own. */
  readonly isSummary: boolean;
}

/**
 * Begins a turn, or goes on with the one that was begun before a crash: that request is the same again, and
 * nothing new may stand in it. `outputCap`: null where no budget lowers the model's own output limit.
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

/** A request of a task: but for its messages the same as all of them. */
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
    readBlob: (hash) => store.attachment(hash),
  };
}

/** Who is asked by a request of a task, and what it begins with. */
export interface RequestBase {
  readonly model: ResolvedModel;
  readonly prefix: RequestPrefix;
  /** The agent type that the provider's cache knows what follows by. */
  readonly agent: string;
  /** Absent: the model's own. */
  readonly effort?: Effort;
}

/** Of the next request. While a summary of its parent's conversation is due, that conversation's. */
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

export type RequestPart = Message['content'][number];

/** What a request adds to the one before it: the answer to that, what its calls came to, and what was said since. */
export function findAddedParts(messages: readonly Message[]): readonly RequestPart[] {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(Math.max(0, answer))
    .flatMap(({ content }): readonly RequestPart[] => content);
}

/** A digest of each of these, so that a log can be held against what was really sent. */
export function digestAddedParts(messages: readonly Message[]): readonly string[] {
  return findAddedParts(messages).map((part) =>
    hash('sha256', JSON.stringify(part)).slice(0, DIGEST_LENGTH),
  );
}
