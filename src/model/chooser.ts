import type { MusterError } from '../base/errors.ts';
import type { ModelFacts, ResolvedModel } from '../protocol/model.ts';
import { modelFacts, NO_FACTS } from './catalogue.ts';
import { resolveForTask, type ModelSetup, type TaskWish } from './resolve.ts';

/** The choice of models for delegated tasks, with one setup behind it. */
export interface Chooser {
  /** Fails only for a wish of the call, as INVALID_PARAM. */
  forTask(wish: Omit<TaskWish, 'allowOverride'>): ResolvedModel | MusterError;
  /** Never rejects; what is not known is null. */
  facts(model: ResolvedModel): Promise<ModelFacts>;
}

export function createChooser(
  setup: ModelSetup,
  { allowOverride }: { readonly allowOverride: boolean },
): Chooser {
  return {
    forTask: (wish) => resolveForTask(setup, { ...wish, allowOverride }),
    async facts(model) {
      const provider = setup.providers.find(({ name }) => name === model.provider);
      return provider === undefined ? NO_FACTS : modelFacts(provider, model.id);
    },
  };
}
