import { modelName, type ModelRequest } from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { EngineDeps } from '../task/deps.ts';
import { requestOrigin } from './request-origin.ts';
import type { TaskRun } from '../task/task-run.ts';

/** `none` for the last turn after a limit: the tools stay in the request, calls are forbidden. */
export type ToolChoice = 'auto' | 'none';

/** A turn under way, and the request that each of its tries sends. */
export interface BegunTurn {
  readonly turn: number;
  readonly request: ModelRequest;
  /** It asks for a summary: nothing of the answer is shown as the task's own. */
  readonly isSummary: boolean;
}

/**
 * Begins a turn, or goes on with the one that was begun before a crash: that request is the same again, and
 * nothing new may stand in it. `outputCap`: null where no budget lowers the model's own output limit.
 */
export function beginTurn(
  { models, store }: Pick<EngineDeps, 'models' | 'store'>,
  run: TaskRun,
  {
    toolChoice,
    outputCap,
  }: { readonly toolChoice: ToolChoice; readonly outputCap: OutputCap | null },
): BegunTurn {
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
  const request = requestOf({ models, store }, run, {
    messages: [...state.conversation.messages],
    toolChoice,
    outputCap,
  });
  return { turn, request, isSummary: false };
}

/** A request of a task: but for its messages the same as all of them. */
export function requestOf(
  { models, store }: Pick<EngineDeps, 'models' | 'store'>,
  run: TaskRun,
  asked: Pick<ModelRequest, 'messages' | 'toolChoice'> & { readonly outputCap: OutputCap | null },
): ModelRequest {
  const { spec, tree, isBackground } = run;
  const { model, prefix, agent, effort } = requestOrigin(run);
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
