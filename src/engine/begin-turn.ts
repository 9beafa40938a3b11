import { modelName, type ModelRequest } from '../protocol/model.ts';
import type { EngineDeps } from './deps.ts';
import type { TaskRun } from './task-run.ts';

/** `none` for the last turn after a limit: the tools stay in the request, calls are forbidden. */
export type ToolChoice = 'auto' | 'none';

/** A turn under way, and the request that each of its tries sends. */
export interface BegunTurn {
  readonly turn: number;
  readonly request: ModelRequest;
}

/** A request that was begun before a crash is the same again: nothing new may stand in it. */
export function beginTurn(
  { models }: Pick<EngineDeps, 'models'>,
  run: TaskRun,
  toolChoice: ToolChoice,
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
    });
  }
  const maxOutputTokens = models.outputLimit(spec.model);
  const request: ModelRequest = {
    model: spec.model,
    prefix: run.prefix,
    messages: [...state.conversation.messages],
    toolChoice,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(spec.agent.effort === undefined ? {} : { effort: spec.agent.effort }),
    cacheKey: `${spec.root}:${spec.inherited?.agent ?? spec.agent.name}`,
    lane: { tree: run.tree.id, background: run.isBackground },
  };
  return { turn, request };
}
