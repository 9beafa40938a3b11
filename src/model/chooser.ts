import type { MusterError } from '../base/errors.ts';
import type { AttachmentRules } from '../protocol/attachment.ts';
import { requestedModels, type AgentDefinition } from '../protocol/agent.ts';
import { modelName, type ModelDetails, type ResolvedModel } from '../protocol/model.ts';
import { isSameModel, loadKnownIds, modelFacts, NO_FACTS } from './catalogue.ts';
import { isDisplayName, splitModelWish, type KnownId } from './display-name.ts';
import { OFFLINE, type ModelSetup } from './choose.ts';
import { fallbacksFor, namesOneModel, resolveFallbacks } from './fallbacks.ts';
import { outputLimit } from './output-limits.ts';
import { resolveForTask, type TaskWish } from './resolve.ts';

type ModelId = Pick<ResolvedModel, 'provider' | 'id'>;

/** Models whose facts are kept. */
const MOST_KEPT = 1000;

/** Of Muster's own engine, which asks nobody. */
const OFFLINE_FACTS: ModelDetails = {
  ...NO_FACTS,
  price: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    source: 'offline is free',
    asOf: null,
  },
};

/** The choice of models for delegated tasks, with one setup behind it. */
export interface Chooser {
  /** Fails only for a wish of the call, as INVALID_PARAM. */
  forTask(wish: Omit<TaskWish, 'allowOverride' | 'knownId'>): ResolvedModel | MusterError;
  /** Loads the catalogue where one of these is a display name, once. */
  prepare(definition: readonly string[]): Promise<void>;
  /** Tokens that each request asks the model for at most; null: none is asked for. */
  outputLimit(model: ResolvedModel): number | null;
  /**
   * What goes on in its turn where the model of a task fails. None for an agent whose definition names a
   * model where no call may override that: it is that model's or nobody's.
   */
  fallbacks(
    model: ResolvedModel,
    agent: Pick<AgentDefinition, 'model' | 'models'>,
  ): readonly ResolvedModel[];
  /** Loads the table of what models take at the first call. */
  attachments(model: ResolvedModel): Promise<AttachmentRules | null>;
  /** Never rejects; what is not known is null. */
  facts(model: ResolvedModel, servedBy?: string): Promise<ModelDetails>;
}

/** Throws UsageError for a fallback model that can't be used. */
export function createChooser(
  setup: ModelSetup,
  { allowOverride }: { readonly allowOverride: boolean },
): Chooser {
  const fallbacks = resolveFallbacks(setup);
  const looked = new Map<string, Promise<ModelDetails>>();
  const factsOf = (model: ModelId): Promise<ModelDetails> => {
    const name = modelName(model);
    const found = looked.get(name) ?? lookUp(setup, model);
    // A server may call itself anything, and something else each time.
    if (looked.size < MOST_KEPT) looked.set(name, found);
    return found;
  };
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
      const { provider, override } = known(setup, model);
      if (provider === undefined) return null;
      return override?.outputLimit ?? outputLimit(provider, model.id);
    },
    fallbacks: (model, agent) =>
      !allowOverride && namesOneModel(requestedModels(agent)) ? [] : fallbacksFor(model, fallbacks),
    async attachments(model) {
      const { provider, override } = known(setup, model);
      if (provider === undefined) return null;
      const { attachmentRules } = await import('./attachment-rules.ts');
      const { protocol } = provider;
      const configured = override?.attachments;
      return attachmentRules({ name: modelName(model), id: model.id, protocol, configured });
    },
    async facts(model, servedBy = model.id) {
      const asked = await factsOf(model);
      if (servedBy === model.id || isSameModel(model.id, servedBy)) return asked;
      const served = await factsOf({ provider: model.provider, id: servedBy });
      // Under a name that nobody knows it is the one that was asked for, as the server calls it.
      return served.price === null ? asked : served;
    },
  };
}

async function lookUp(setup: ModelSetup, model: ModelId): Promise<ModelDetails> {
  if (model.provider === OFFLINE) return OFFLINE_FACTS;
  const { provider, override } = known(setup, model);
  return provider === undefined ? NO_FACTS : modelFacts(provider, model.id, override);
}

function known({ providers, settings }: ModelSetup, model: ModelId) {
  return {
    provider: providers.find(({ name }) => name === model.provider),
    override: settings.catalogue?.get(modelName(model)),
  };
}
