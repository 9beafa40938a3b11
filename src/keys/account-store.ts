import type { JsonObject } from '../base/json.ts';
import type { StoredAccount } from '../protocol/api-key.ts';
import { StateList, type ListFormat } from '../store/state/state-list.ts';

/** An account in the file, with the time at which it was added. */
interface AccountEntry extends StoredAccount {
  /** ISO 8601. */
  readonly addedOn: string;
}

/**
 * The file of the accounts that are signed in. A key is in the file itself, which only the user can read (0600), or in
 * the keychain of the system.
 */
const ACCOUNTS: ListFormat<AccountEntry> = {
  // The name is one that no tool reads or writes (sys/files/secret-paths.ts).
  fileName: 'credentials.json',
  remedy: 'sign in again with "muster login"',
  isSecret: true,
  listName: 'accounts',
  keyOf: ({ provider, account }) => JSON.stringify([provider, account]),
  describeInvalid: (position) => `entry ${position} is no account`,
  read({ provider, account, key, baseUrl, origin, addedOn }: JsonObject) {
    if (
      typeof provider !== 'string' ||
      typeof account !== 'string' ||
      (typeof key !== 'string' && key !== null) ||
      (typeof baseUrl !== 'string' && baseUrl !== undefined) ||
      (typeof origin !== 'string' && origin !== undefined) ||
      typeof addedOn !== 'string'
    ) {
      return undefined;
    }
    return {
      provider,
      account,
      key,
      ...(baseUrl !== undefined && { baseUrl }),
      ...(origin !== undefined && { origin }),
      addedOn,
    };
  },
};

/** The accounts that are signed in, in the order in which they were added. Methods throw MusterError. */
export class AccountStore {
  readonly #list: StateList<AccountEntry>;

  /** `directory`: the state directory. */
  constructor(directory: string) {
    this.#list = new StateList(directory, ACCOUNTS);
  }

  get path(): string {
    return this.#list.path;
  }

  all(): readonly AccountEntry[] {
    return this.#list.all();
  }

  /** Adds an account, which replaces an earlier one of the same provider and name. */
  add(account: StoredAccount, now: Date): void {
    this.#list.add([{ ...account, addedOn: now.toISOString() }]);
  }

  /** Removes an account. Does nothing if there is none of this name. */
  remove({ provider, account }: Pick<StoredAccount, 'provider' | 'account'>): void {
    this.#list.remove((each) => each.provider === provider && each.account === account);
  }

  /** Removes the drafts of the file that processes have left, which hold the keys, too. */
  removeDrafts(): void {
    this.#list.removeDrafts();
  }
}
