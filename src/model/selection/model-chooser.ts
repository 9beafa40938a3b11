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
import { routeModel } from '../providers/cloud-route.ts';
import { canSearchWeb, type ConfiguredProvider } from '../providers/configured-provider.ts';
import { OFFLINE, type ModelSetup } from './choose-model.ts';
import { selectFallbacks, hasNamedModel, resolveFallbacks } from './fallbacks.ts';
import { isRemoteProvider } from '../../protocol/remote-agent.ts';
import { findOutputLimit } from '../catalogue/output-limits.ts';

type ModelId = Pick<ResolvedModel, 'provider' | 'id'>;

/** The maximum number of models whose details are cached. */
const MAX_CACHED_DETAILS = 1000;

const ZERO_PRICES: TokenPrices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** The details of the offline model, which needs no server. */
const OFFLINE_DETAILS: ModelDetails = {
  ...UNKNOWN_DETAILS,
  price: { ...ZERO_PRICES, source: 'offline is free', asOf: null },
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
 * Creates an object that chooses the models of delegated tasks and returns the properties of models. Throws UsageError
 * for a fallback model that can't be used. `allowOverride`: true if a Task call may replace the model of a definition.
 */
export function createModelChooser(
  setup: ModelSetup,
  { allowOverride, findListed }: ChooserOptions,
) {
  const fallbacks = resolveFallbacks(setup);
  const cache = new Map<string, Promise<ModelDetails>>();
  const loadCachedDetails = (model: ModelId): Promise<ModelDetails> => {
    const name = modelName(model);
    const details = cache.get(name) ?? loadDetails(setup, model, findListed);
    // A server may return any id, and another one each time.
    if (cache.size < MAX_CACHED_DETAILS) cache.set(name, details);
    return details;
  };
  let knownId: FindKnownId | null = null;
  return {
    /** Chooses the model of a task. Returns an error (code INVALID_PARAM) only if the model that the call names is wrong. */
    forTask(task: Omit<TaskModelRequest, 'allowOverride' | 'knownId'>) {
      const request = { ...task, allowOverride, ...(knownId === null ? {} : { knownId }) };
      return resolveTaskModel(setup, request);
    },
    /** Loads the catalogue if one of the names in a definition is a display name. The catalogue is loaded once. */
    async prepare(definition: readonly string[]): Promise<void> {
      if (knownId !== null || !definition.flatMap(splitModelNames).some(isDisplayName)) return;
      knownId = await loadKnownIds();
    },
    /** Tells whether the provider of a model can search the web for it. */
    canSearchWeb(model: ResolvedModel): boolean {
      const { provider } = findConfigured(setup, model);
      return provider !== undefined && canSearchWeb(provider);
    },
    /** Returns the maximum number of tokens of each answer of a model; null: no limit is sent. */
    outputLimit(model: ResolvedModel): number | null {
      const { provider, override } = findConfigured(setup, model);
      if (provider === undefined) return null;
      return override?.outputLimit ?? findOutputLimit(provider, model.id);
    },
    /**
     * Returns the models that are tried in turn when the model of a task fails. The list is empty for a remote agent, and
     * for an agent whose definition names a particular model if calls may not override it, because no other model may be
     * used then.
     */
    fallbacks: (model: ResolvedModel, agent: Pick<AgentDefinition, 'model' | 'models'>) =>
      isRemoteProvider(model.provider) || (!allowOverride && hasNamedModel(requestedModels(agent)))
        ? []
        : selectFallbacks(model, fallbacks),
    /** Returns the rules for attachments of a model; null: its provider is not configured. Loads the table of rules. */
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
     * Returns the details of a model. `servedBy`: the id of the model that answered, which may be another model with
     * another price. Never rejects: the details of an unknown model are null.
     */
    async details(model: ResolvedModel, servedBy = model.id): Promise<ModelDetails> {
      const details = await loadCachedDetails(model);
      if (servedBy === model.id || isSameModel(model.id, servedBy)) return details;
      const served = await loadCachedDetails({ provider: model.provider, id: servedBy });
      // If the catalogue does not know the id, it is assumed to be another name of the requested model.
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
  const provider = providers.find(({ name }) => name === model.provider);
  return {
    provider: provider === undefined ? undefined : routeModel(provider, model.id),
    override: settings.catalogue?.get(modelName(model)),
  };
}
