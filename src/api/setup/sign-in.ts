import { MusterError, UsageError } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import { Deadlines } from '../../base/deadlines.ts';
import { VERSION } from '../../base/version.ts';
import type { AccountStore } from '../../keys/account-store.ts';
import { createKeychain, KeychainError, type Keychain } from '../../keys/keychain.ts';
import { checkKey, type KeyCheck } from '../../model/check-key.ts';
import {
  DEFAULT_ACCOUNT,
  findKeyProblem,
  MAX_KEY_BYTES,
  parseKey,
} from '../../model/providers/provider-key.ts';
import { isOwnHost } from '../../model/providers/providers.ts';
import { findSignInProvider } from '../../model/providers/sign-in-provider.ts';
import { isPrivateHost } from '../../model/providers/vendors.ts';
import { isPreset } from '../../model/settings/presets.ts';
import type { StoredAccount } from '../../protocol/api-key.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import {
  describeProvider,
  listAccounts,
  openAccountStore,
  type AccountOptions,
  type ProviderFacts,
} from './account-list.ts';
import { createModelPortLimits, createModelSettings } from './settings.ts';

/** The place for a key. `auto`: the keychain if it works, otherwise the file. */
export type KeyStoreChoice = 'auto' | 'keychain' | 'file';

export interface SignInRequest {
  readonly provider: string;
  /** The name of the account; null: the default one. */
  readonly account: string | null;
  /** The address of the server; null: that of the known or configured provider. */
  readonly baseUrl: string | null;
}

/** The place in which a key was stored. */
export interface StoredKey {
  readonly store: 'keychain' | 'file';
  /** The path of the file that lists the account. */
  readonly file: string;
  /** The reason why the keychain is not used; null: it is used, or was not wanted. */
  readonly keychainProblem: string | null;
  /** True if an earlier key of the account is still in the keychain, which cannot be used. */
  readonly isOldKeyLeft: boolean;
  /** The source of the key that the provider uses instead; null: it uses this account. */
  readonly overriddenBy: string | null;
}

/** A sign-in to one provider, before the key is known. */
export interface SignIn {
  readonly provider: ProviderFacts;
  readonly account: string;
  /** The address to which the key will be sent. */
  readonly baseUrl: string;
  /** True if Muster can choose a model of the provider by itself. */
  readonly hasDefaultModel: boolean;
  /** Sentences that a person should read before the key is typed. */
  readonly warnings: readonly string[];
  /** Returns the key in a typed or piped text. Throws UsageError if there is none that can be sent. */
  parse(text: string): string;
  /** Asks the provider whether it accepts the key. Throws UsageError for a wrong proxy or certificate file. */
  check(key: string): Promise<KeyCheck>;
  /** Stores the key in place of an earlier one. Throws MusterError, and has changed nothing then. */
  store(key: string, choice: KeyStoreChoice): Promise<StoredKey>;
}

/**
 * Prepares a sign-in. Throws UsageError for an unknown provider, for a name that no account can have, and for a data
 * directory in the project.
 */
export function prepareSignIn(
  { provider: name, account = null, baseUrl }: SignInRequest,
  options: AccountOptions,
): SignIn {
  const { loaded, state } = options;
  const store = openAccountStore(state);
  // A key is not sent anywhere if it could not be stored then.
  store.all();
  const named = {
    provider: name,
    account: checkName(account ?? DEFAULT_ACCOUNT),
    ...(baseUrl !== null && { baseUrl }),
  };
  const settings = createModelSettings(loaded);
  const sources = { settings, env: state.environment };
  // The key is not known yet, and does not decide where it is sent.
  const server = findSignInProvider({ ...named, key: 'unknown' }, sources);
  const identity = { ...named, ...bindToServer(named, new URL(server.baseUrl)) };
  return {
    provider: describeProvider(name),
    account: identity.account,
    baseUrl: server.baseUrl,
    hasDefaultModel: Object.keys(server.tiers).length > 0,
    warnings: findWarnings(server.baseUrl),
    parse: parseTypedKey,
    async check(key) {
      const { keyFrom: _, ...target } = server;
      return checkKey(
        { ...target, apiKey: key },
        {
          fetch: createHttpFetch(state.environment),
          clock: systemClock,
          deadlines: new Deadlines(systemClock),
          version: VERSION,
          limits: createModelPortLimits(loaded.config),
          admission: { maxConcurrent: 1, requestsPerMinute: 0 },
        },
      );
    },
    async store(key, choice) {
      const keychain = createKeychain(state.environment);
      const stored = await storeKey({ ...identity, key }, choice, { store, keychain });
      const entry = listAccounts(options).accounts.find(
        (each) => each.provider === name && each.account === identity.account,
      );
      return { ...stored, overriddenBy: entry?.overriddenBy ?? null };
    },
  };
}

/**
 * Returns the only server to which a key may be sent, unless the address of the account names it or the provider has
 * hosts of its own: the address of any other provider may change.
 */
function bindToServer(
  { provider, baseUrl }: Pick<StoredAccount, 'provider' | 'baseUrl'>,
  server: URL,
): Pick<StoredAccount, 'origin'> {
  const isBound = baseUrl !== undefined || (isPreset(provider) && isOwnHost(provider, server));
  return isBound ? {} : { origin: server.origin };
}

/** The names that the configuration accepts, too. */
const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function checkName(account: string): string {
  if (ACCOUNT_NAME.test(account)) return account;
  throw new UsageError(
    `--account ${JSON.stringify(account)}: the name has letters, digits, ".", "_" and "-", at most 64, and begins with a letter or digit`,
  );
}

function findWarnings(baseUrl: string): readonly string[] {
  if (!baseUrl.startsWith('http://') || isPrivateHost(baseUrl)) return [];
  return [`The connection to ${baseUrl} is not encrypted: others on the way can read the key.`];
}

function parseTypedKey(text: string): string {
  const key = parseKey(text.trimStart().split(/\r?\n/, 1)[0] ?? '');
  if (key === '') throw new UsageError('no key was given, so nothing is stored');
  if (key.length > MAX_KEY_BYTES) {
    throw new UsageError(`the text is longer than a key may be (${MAX_KEY_BYTES} bytes)`);
  }
  const problem = findKeyProblem(key);
  if (problem !== null) throw new UsageError(`the text ${problem}`);
  return key;
}

interface KeyStores {
  readonly store: AccountStore;
  readonly keychain: Keychain;
}

async function storeKey(
  account: StoredAccount & { readonly key: string },
  choice: KeyStoreChoice,
  { store, keychain }: KeyStores,
): Promise<Omit<StoredKey, 'overriddenBy'>> {
  const { provider, account: name } = account;
  const before = store.all().find((each) => each.provider === provider && each.account === name);
  const wasInKeychain = before !== undefined && before.key === null;
  const file = store.path;
  let keychainProblem: string | null = null;
  if (choice !== 'file') {
    try {
      await writeToKeychain(account, keychain);
      await addKeychainAccount({ ...account, key: null }, wasInKeychain, { store, keychain });
      return { store: 'keychain', file, keychainProblem, isOldKeyLeft: false };
    } catch (thrown) {
      if (!(thrown instanceof KeychainError) || choice === 'keychain') throw thrown;
      keychainProblem = thrown.reason;
    }
  }
  addAccount(account, store);
  const isOldKeyLeft = wasInKeychain && !(await tryDelete(account, keychain));
  return { store: 'file', file, keychainProblem, isOldKeyLeft };
}

async function writeToKeychain(
  { provider, account, key }: StoredAccount & { readonly key: string },
  keychain: Keychain,
): Promise<void> {
  await keychain.write(provider, account, key);
  if ((await keychain.read(provider, account)) === key) return;
  throw new KeychainError(provider, account, 'it does not return the key that was stored');
}

/** Lists an account whose key is in the keychain. If that fails, a key that no account had before is deleted again. */
async function addKeychainAccount(
  account: StoredAccount,
  wasInKeychain: boolean,
  { store, keychain }: KeyStores,
): Promise<void> {
  try {
    addAccount(account, store);
  } catch (thrown) {
    if (!wasInKeychain) await tryDelete(account, keychain);
    throw thrown;
  }
}

function addAccount(account: StoredAccount, store: AccountStore): void {
  try {
    store.add(account, new Date());
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    const remedy =
      'The key is not stored: it needs a data directory that can be written, or a variable of the environment';
    throw new MusterError(thrown.code, `${thrown.message}. ${remedy}`, { cause: thrown });
  }
}

/** Deletes a key from the keychain. Returns false if the keychain cannot be used. */
async function tryDelete(
  { provider, account }: StoredAccount,
  keychain: Keychain,
): Promise<boolean> {
  try {
    await keychain.delete(provider, account);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof KeychainError)) throw thrown;
    return false;
  }
}
