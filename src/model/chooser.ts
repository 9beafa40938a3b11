import type { MusterError } from '../base/errors.ts';
import { modelName, type ModelFacts, type ResolvedModel } from '../protocol/model.ts';
import { loadKnownIds, modelFacts, NO_FACTS } from './catalogue.ts';
import { isDisplayName, splitModelWish, type KnownId } from './display-name.ts';
import { outputLimit } from './output-limits.ts';
import { resolveForTask, type ModelSetup, type TaskWish } from './resolve.ts';

/** The choice of models for delegated tasks, with one setup behind it. */
export interface Chooser {
  /** Fails only for a wish of the call, as INVALID_PARAM. */
  forTask(wish: Omit<TaskWish, 'allowOverride' | 'knownId'>): ResolvedModel | MusterError;
  /** Loads the catalogue where one of these is a display name, once. */
  prepare(definition: readonly string[]): Promise<void>;
  /** Tokens that each request asks the model for at most; null: none is asked for. */
  outputLimit(model: ResolvedModel): number | null;
  /** Never rejects; what is not known is null. */
  facts(model: ResolvedModel): Promise<ModelFacts>;
}

export function createChooser(
  setup: ModelSetup,
  { allowOverride }: { readonly allowOverride: boolean },
): Chooser {
  const known = new Map<string, Promise<ModelFacts>>();
  let knownId: KnownId | null = null;
  return {
    forTask: (wish) =>
      resolveForTask(setup, {
        ...wish,
        allowOverride,
        ...(knownId === null ? {} : { knownId }),
      }),
    async prepare(definition) {
      if (knownId !== null || !definition.flatMap(splitModelWish).some(isDisplayName)) return;
      knownId = await loadKnownIds();
    },
    outputLimit(model) {
      const provider = setup.providers.find(({ name }) => name === model.provider);
      if (provider === undefined) return null;
      const override = setup.settings.catalogue?.get(modelName(model));
      return override?.outputLimit ?? outputLimit(provider, model.id);
    },
    facts(model) {
      const name = modelName(model);
      const found = known.get(name) ?? lookUp(setup, model);
      known.set(name, found);
      return found;
    },
  };
}

async function lookUp(setup: ModelSetup, model: ResolvedModel): Promise<ModelFacts> {
  const provider = setup.providers.find(({ name }) => name === model.provider);
  if (provider === undefined) return NO_FACTS;
  return modelFacts(provider, model.id, setup.settings.catalogue?.get(modelName(model)));
}
