import { modelName, type ResolvedModel } from '../protocol/model.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { ModelChooser } from '../engine/task/deps.ts';
import type { Script } from './script.ts';

const UNKNOWN = { contextWindow: null, maxOutput: null, price: null };

/** Chooses nothing: what was chosen stands in the log, and so does what it cost. */
export function loggedModels(script: Script, whole: readonly TaskEvent[]): ModelChooser {
  return {
    forTask: ({ parent }) => parent,
    details: async () => UNKNOWN,
    outputLimit: () => null,
    fallbacks: (model) => standInFor(model, script.position, whole),
  };
}

/** Who stood in for a model when it failed next. */
function standInFor(
  model: ResolvedModel,
  from: number,
  whole: readonly TaskEvent[],
): readonly ResolvedModel[] {
  for (const event of whole) {
    if (event.seq <= from || event.type !== 'terms.changed' || event.fallback === undefined)
      continue;
    if (event.fallback.from !== modelName(model)) continue;
    // The first step says that and why it stands in, which is said anew.
    return [{ ...event.model, chain: event.model.chain.slice(1) }];
  }
  return [];
}
