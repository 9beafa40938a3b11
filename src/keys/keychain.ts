import type { AsyncEntry } from '@napi-rs/keyring';
import { errorMessage } from '../base/errors.ts';
import { KeyUnavailableError } from '../protocol/api-key.ts';

/** The keychain of the operating system. Methods reject with KeyUnavailableError. */
export interface Keychain {
  /** Returns the key; null: the keychain has none for this account. */
  read(provider: string, account: string): Promise<string | null>;
  write(provider: string, account: string, key: string): Promise<void>;
  /** Deletes the key. Does nothing if there is none. */
  delete(provider: string, account: string): Promise<void>;
}

/** The name under which the keychain lists the keys. */
const SERVICE = 'muster';
/** The time in which a person can unlock the keychain. */
const UNLOCK_MS = 60_000;
/**
 * On Linux, the Secret Service of the desktop. Without this option the package would fall back to the keyring of the
 * kernel, which forgets everything at a restart.
 */
const OPTIONS = { linux: { store: 'secret-service' } } as const;

type KeyringPackage = typeof import('@napi-rs/keyring');

function openEntry({ AsyncEntry: Entry }: KeyringPackage, name: string): AsyncEntry {
  return new Entry(SERVICE, name, OPTIONS);
}

/**
 * Opens the keychain. Returns the reason instead if there is none: the optional package `@napi-rs/keyring` is not
 * installed, or the system runs no keychain.
 */
export async function openKeychain(): Promise<Keychain | { readonly missing: string }> {
  let keyring: KeyringPackage;
  try {
    keyring = await import('@napi-rs/keyring');
    // The constructor throws if the system has no keychain.
    openEntry(keyring, 'probe');
  } catch (thrown) {
    return { missing: errorMessage(thrown) };
  }
  const access = async <Result>(
    provider: string,
    account: string,
    use: (entry: AsyncEntry, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    try {
      const entry = openEntry(keyring, `${provider}/${account}`);
      return await use(entry, AbortSignal.timeout(UNLOCK_MS));
    } catch (thrown) {
      throw new KeyUnavailableError(
        `the keychain cannot be used for the account "${account}" of ${provider}: ${errorMessage(thrown)}. Unlock it, or sign in with "muster login ${provider} --store file"`,
      );
    }
  };
  return {
    read: (provider, account) =>
      access(provider, account, (entry, signal) => entry.getPassword(signal)),
    write: (provider, account, key) =>
      access(provider, account, (entry, signal) => entry.setPassword(key, signal)),
    delete: (provider, account) =>
      access(provider, account, async (entry, signal) => {
        await entry.deletePassword(signal);
      }),
  };
}
