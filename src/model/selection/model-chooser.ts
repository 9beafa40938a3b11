import type { AttachmentRules } from '../../protocol/attachment.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import {
  modelName,
  type ModelDetails,
  type TokenPrices,
  type ResolvedModel,
} from '../../protocol/model.ts';
import {
  isSameModel,
  loadKnownIds,
  loadModelDetails,
  UNKNOWN_DETAILS,
  type FindKnownId,
  type ListedDetails,
} from '../catalogue/catalogue.ts';
import {
  isDisplayName,
  splitModelNames,
  resolveTaskModel,
  type TaskModelRequest,
} from './resolve-model.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { OFFLINE, type ModelSetup } from './choose-model.ts';
import { selectFallbacks, hasNamedModel, resolveFallbacks } from './fallbacks.ts';
import { findOutputLimit } from '../catalogue/output-limits.ts';

type ModelId = Pick<ResolvedModel, 'provider' | 'id'>;

/** The maximum number of models of which the details are cached. */
const MAX_CACHED = 1000;

const FREE: TokenPrices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** The details of the offline model, which needs no server. */
const OFFLINE_DETAILS: ModelDetails = {
  ...UNKNOWN_DETAILS,
  price: { ...FREE, source: 'offline is free', asOf: null },
};

/** Finds a model in the list of its provider. Called only when something about a model is needed that nothing else states. */
export type FindListedModel = (
  provider: ConfiguredProvider,
  id: string,
) => Promise<ListedDetails | null>;

interface ChooserOptions {
  /** True if calls may name another model than the definition of an agent. */
  readonly allowOverride: boolean;
  /** Default: no provider has a list. */
  readonly findListed?: FindListedModel;
}

/**
 * Creates the chooser of the models for delegated tasks, which also returns the properties of models. Throws
 * UsageError for a fallback model that can't be used.
 */
export function createModelChooser(
  setup: ModelSetup,
  { allowOverride, findListed }: ChooserOptions,
) {
  const fallbacks = resolveFallbacks(setup);
  const cache = new Map<string, Promise<ModelDetails>>();
  const detailsOf = (model: ModelId): Promise<ModelDetails> => {
    const name = modelName(model);
    const found = cache.get(name) ?? loadDetails(setup, model, findListed);
    // A server may return any id, and another one each time.
    if (cache.size < MAX_CACHED) cache.set(name, found);
    return found;
  };
  let knownId: FindKnownId | null = null;
  return {
    /** Chooses the model of a task. Returns an error, with code INVALID_PARAM, only for the model of a call. */
    forTask(task: Omit<TaskModelRequest, 'allowOverride' | 'knownId'>) {
      const request = { ...task, allowOverride, ...(knownId === null ? {} : { knownId }) };
      return resolveTaskModel(setup, request);
    },
    /** Loads the catalogue, once, if one of these names is a display name. */
    async prepare(definition: readonly string[]): Promise<void> {
      if (knownId !== null || !definition.flatMap(splitModelNames).some(isDisplayName)) return;
      knownId = await loadKnownIds();
    },
    /** Returns the limit in tokens on each answer of a model; null: no limit is sent. */
    outputLimit(model: ResolvedModel): number | null {
      const { provider, override } = findConfigured(setup, model);
      if (provider === undefined) return null;
      return override?.outputLimit ?? findOutputLimit(provider, model.id);
    },
    /**
     * Returns the models that are tried in turn when the model of a task fails. There is none for an agent whose
     * definition names a particular model if calls may not override that: no other model may be used.
     */
    fallbacks: (model: ResolvedModel, agent: Pick<AgentDefinition, 'model' | 'models'>) =>
      !allowOverride && hasNamedModel(requestedModels(agent))
        ? []
        : selectFallbacks(model, fallbacks),
    /** Returns the rules for attachments of a model; null: it is not configured. The first call loads their table. */
    async attachments(model: ResolvedModel): Promise<AttachmentRules | null> {
      const { provider, override } = findConfigured(setup, model);
      if (provider === undefined) return null;
      const { createAttachmentRules, findKnownAttachments } =
        await import('../catalogue/attachment-rules.ts');
      const { protocol } = provider;
      const { id } = model;
      const isKnown = override?.attachments !== undefined || findKnownAttachments(id) !== null;
      const listed = isKnown ? null : await findListed?.(provider, id);
      const configured =
        listed?.model.images === true ? (['image'] as const) : override?.attachments;
      return createAttachmentRules({ name: modelName(model), id, protocol, configured });
    },
    /**
     * Returns the details of a model. `servedBy`: the id under which the server has answered, which may be another
     * model with a price of its own. Never rejects; unknown details are null.
     */
    async details(model: ResolvedModel, servedBy = model.id): Promise<ModelDetails> {
      const details = await detailsOf(model);
      if (servedBy === model.id || isSameModel(model.id, servedBy)) return details;
      const served = await detailsOf({ provider: model.provider, id: servedBy });
      // An unknown id is only the server's own name for the requested model.
      return served.price === null ? details : served;
    },
  };
}

async function loadDetails(
  setup: ModelSetup,
  model: ModelId,
  findListed: FindListedModel | undefined,
): Promise<ModelDetails> {
  if (model.provider === OFFLINE) return OFFLINE_DETAILS;
  const { provider, override } = findConfigured(setup, model);
  if (provider === undefined) return UNKNOWN_DETAILS;
  const { id } = model;
  const find = findListed === undefined ? undefined : () => findListed(provider, id);
  return loadModelDetails(provider, id, override, find);
}

function findConfigured({ providers, settings }: ModelSetup, model: ModelId) {
  return {
    provider: providers.find(({ name }) => name === model.provider),
    override: settings.catalogue?.get(modelName(model)),
  };
}
