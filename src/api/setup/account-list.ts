import type { LoadedConfig } from '../../config/load.ts';
import { AccountStore } from '../../keys/account-store.ts';
import { createKeychain } from '../../keys/keychain.ts';
import { UsageError } from '../../base/errors.ts';
import { describeAccount } from '../../model/providers/provider-key.ts';
import { discoverProviders, readVariableKey } from '../../model/providers/providers.ts';
import { listProviderNames } from '../../model/providers/sign-in-provider.ts';
import { isPreset, PRESETS } from '../../model/settings/presets.ts';
import { KeyUnavailableError, type StoredAccount } from '../../protocol/api-key.ts';
import { approvalDirectory, type StateOptions } from '../../trust/state-directory.ts';
import { createModelSettings } from './settings.ts';

/** The configuration and directories with which accounts are used. */
export interface AccountOptions {
  readonly loaded: LoadedConfig;
  readonly state: StateOptions;
}

/** The facts about a provider that a person needs before signing in. */
export interface ProviderFacts {
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  /** The page on which a person creates a key; null: it is not known. */
  readonly keyPage: string | null;
  /** True for a server that people run themselves, which needs no key by default. */
  readonly isLocal: boolean;
}

/** A known or configured provider. */
export interface ProviderToSignIn {
  readonly facts: ProviderFacts;
  /** The source of the key that is used now, such as a variable; null: there is none. */
  readonly keyFrom: string | null;
}

/** Lists the known providers and those of the configuration. Throws MusterError if the accounts cannot be read. */
export function listProvidersToSignIn(options: AccountOptions): readonly ProviderToSignIn[] {
  const settings = createModelSettings(options.loaded);
  const accounts = openAccountStore(options.state).all();
  const configured = discoverProviders(settings, options.state.environment, accounts);
  return listProviderNames(settings).map((name) => ({
    facts: describeProvider(name),
    keyFrom: configured.find((each) => each.name === name)?.keyFrom ?? null,
  }));
}

/** Describes a provider by its name. */
export function describeProvider(name: string): ProviderFacts {
  if (!isPreset(name)) return { name, title: name, keyPage: null, isLocal: false };
  const { title, keyPage = null, isLocal = false } = PRESETS[name];
  return { name, title, keyPage, isLocal };
}

/** Opens the accounts. Throws UsageError for a data directory in the project, which may have brought it along. */
export function openAccountStore(state: StateOptions): AccountStore {
  return new AccountStore(approvalDirectory(state));
}

/** An account without its key. */
export interface AccountReport {
  readonly provider: string;
  readonly account: string;
  /** The store of its key. */
  readonly store: 'keychain' | 'file';
  /** ISO 8601. */
  readonly addedOn: string;
  /** The only server to which the key is sent; null: those of the known provider. */
  readonly baseUrl: string | null;
  /** The source of the key that the provider uses instead; null: it uses this account. */
  readonly overriddenBy: string | null;
}

/** The accounts that are signed in. */
export interface AccountsReport {
  /** The path of the file that lists them. */
  readonly file: string;
  readonly accounts: readonly AccountReport[];
}

/** Lists the accounts that are signed in. Throws MusterError if their file cannot be used. */
export function listAccounts({ loaded, state }: AccountOptions): AccountsReport {
  const store = openAccountStore(state);
  const accounts = store.all();
  const providers = discoverProviders(createModelSettings(loaded), state.environment, accounts);
  return {
    file: store.path,
    accounts: accounts.map((entry) => {
      const { provider, account, key, addedOn, origin = null, baseUrl = origin } = entry;
      const isUsed = providers.some(({ keyFrom }) => keyFrom === describeAccount(entry));
      const used = providers.find(({ name }) => name === provider)?.keyFrom ?? null;
      const overriddenBy = isUsed ? null : used;
      const place = key === null ? 'keychain' : 'file';
      return { provider, account, store: place, addedOn, baseUrl, overriddenBy };
    }),
  };
}

/** The accounts to remove. */
export interface SignOutRequest {
  /** The name of the provider. If it is null, the accounts of all providers fit the request. */
  readonly provider: string | null;
  /** The name of the account. If it is null, accounts with any name fit the request. */
  readonly account: string | null;
  /** True to remove several accounts. Otherwise, only one account may fit the request. */
  readonly all: boolean;
}

export interface SignOutReport {
  readonly removed: readonly Pick<AccountReport, 'provider' | 'account' | 'store'>[];
  /** Sentences about keys that could not be removed, and about those that are still used. */
  readonly problems: readonly string[];
  /** Sentences about keys that remain. */
  readonly notes: readonly string[];
}

/**
 * Removes keys from the file and the keychain. Needs no configuration, so that it works with a wrong one. Throws
 * UsageError if the request fits no account or, without `all`, several ones.
 */
export async function signOut(
  request: SignOutRequest,
  state: StateOptions,
): Promise<SignOutReport> {
  const store = openAccountStore(state);
  const chosen = chooseAccounts(store.all(), request);
  const removed: SignOutReport['removed'][number][] = [];
  const problems: string[] = [];
  for (const entry of chosen) {
    const { provider, account, key } = entry;
    try {
      if (key === null) await createKeychain(state.environment).delete(provider, account);
      store.remove(entry);
      removed.push({ provider, account, store: key === null ? 'keychain' : 'file' });
    } catch (thrown) {
      if (!(thrown instanceof KeyUnavailableError)) throw thrown;
      problems.push(`${describeAccount(entry)} was not removed: ${thrown.message}`);
    }
  }
  if (request.all) store.removeDrafts();
  const names = [...new Set(removed.map(({ provider }) => provider))];
  return { removed, problems, notes: names.flatMap((name) => describeRest(name, state)) };
}

function chooseAccounts(
  stored: readonly StoredAccount[],
  { provider, account, all }: SignOutRequest,
): readonly StoredAccount[] {
  const chosen = stored.filter(
    (each) =>
      (provider === null || each.provider === provider) &&
      (account === null || each.account === account),
  );
  const isUnknown = provider !== null && stored.length > 0 && chosen.length === 0;
  if (!isUnknown && (all || (chosen.length === 1 && provider !== null))) return chosen;
  const named = stored.map((each) => `${each.provider} --account ${each.account}`).join(', ');
  if (stored.length === 0) throw new UsageError('no account is signed in');
  if (chosen.length === 0) throw new UsageError(`there is no such account; signed in: ${named}`);
  throw new UsageError(`name one account, or add --all; signed in: ${named}`);
}

/** Says what a removal does not change. */
function describeRest(provider: string, { environment }: StateOptions): readonly string[] {
  if (!isPreset(provider)) return [];
  const { keyFrom } = readVariableKey(provider, environment);
  const { title, keyPage } = PRESETS[provider];
  return [
    ...(keyFrom === undefined ? [] : [`${keyFrom} is set, so ${title} can still be used.`]),
    ...(keyPage === undefined
      ? []
      : [`The key itself is still valid. To withdraw it, delete it on ${keyPage}`]),
  ];
}
