import { unknownModel, type ListedModel } from '../../protocol/listed-model.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { hasUsableKey } from '../providers/provider-key.ts';
import { requestModels, type ListDeps } from './request-models.ts';
import { findStoredList, hashAccount, isNew, type StoredList } from './stored-list.ts';

/** The models of a provider. */
export interface ProviderModels {
  readonly models: readonly ListedModel[];
  /**
   * The time at which the provider was asked, in milliseconds since the epoch; null: it never answered, and the models
   * are those that the configuration and the presets name.
   */
  readonly askedAt: number | null;
  /** True if the provider has more models than these. */
  readonly isCut: boolean;
  /** The reason why the provider could not be asked now; null: it was asked, or need not be. */
  readonly problem: string | null;
}

/** The models of a provider, with the list that is to be stored. Default: nothing new is known. */
export interface AskedModels extends ProviderModels {
  readonly newList?: StoredList;
}

export interface ListRequest extends ListDeps {
  /** The lists that are stored. */
  readonly stored: readonly StoredList[];
  /** True to ask even if the stored list is new. */
  readonly isRefresh: boolean;
}

/** The time limit for asking one provider. */
const ASK_MS = 5000;

/**
 * Lists the models of a provider: as stored less than a day ago, or else as the provider answers within 5 s. If it does
 * not, its last list is returned. A server on this machine or network is always asked, since asking is cheap and its
 * models change with each download. Never rejects.
 */
export async function listProviderModels(
  provider: ConfiguredProvider,
  { stored, isRefresh, ...deps }: ListRequest,
): Promise<AskedModels> {
  const last = findStoredList(stored, provider);
  const now = deps.clock.now();
  if (last !== undefined && !isRefresh && !provider.isPrivate && isNew(last, now)) {
    return { ...toModels(last), problem: null };
  }
  const outcome = hasUsableKey(provider)
    ? await requestModels(provider, deps, { timeoutMs: ASK_MS, isDetailed: true })
    : { problem: describeMissingKey(provider) };
  if ('models' in outcome) {
    const { baseUrl } = provider;
    const newList = { baseUrl, account: hashAccount(provider), askedAt: now, ...outcome };
    return { ...toModels(newList), problem: null, newList };
  }
  if (last !== undefined) return { ...toModels(last), ...outcome };
  return { models: namedModels(provider), askedAt: null, isCut: false, ...outcome };
}

/** Returns the models of a provider as they were stored last, or those that the configuration and the presets name. */
export function readStoredModels(
  provider: ConfiguredProvider,
  stored: readonly StoredList[],
): ProviderModels {
  const last = findStoredList(stored, provider);
  const known =
    last === undefined
      ? { models: namedModels(provider), askedAt: null, isCut: false }
      : toModels(last);
  return { ...known, problem: null };
}

function toModels({ models, askedAt, isCut }: StoredList) {
  return { models, askedAt, isCut };
}

function describeMissingKey({ missingKey, keyProblem }: ConfiguredProvider): string {
  return keyProblem ?? `it needs a key in ${missingKey}`;
}

function namedModels({ models, tiers }: ConfiguredProvider): readonly ListedModel[] {
  return [...new Set([...(models ?? []), ...Object.values(tiers)])].map((id) => unknownModel(id));
}
