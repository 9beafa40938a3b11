import { MusterError } from '../../base/errors.ts';
import { AccountStore } from '../../keys/account-store.ts';
import type { KeyReaderOptions } from '../../keys/key-reader.ts';
import type { KeyReader, StoredAccount } from '../../protocol/api-key.ts';
import { approvalDirectory, type StateOptions } from '../../trust/state-directory.ts';

/**
 * Reads the accounts that are signed in. If their file cannot be used, nobody is signed in, and a notice says why.
 *
 * @param directory the state directory
 * @param state the options that locate the directory, to refuse accounts that the project may have brought along.
 *   Default: they are only listed.
 */
export function readAccounts(
  directory: string,
  onNotice: (line: string) => void,
  state?: StateOptions,
): readonly StoredAccount[] {
  try {
    const accounts = new AccountStore(directory).all();
    if (accounts.length > 0 && state !== undefined) approvalDirectory(state);
    return accounts;
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    onNotice(`No stored key is used: ${thrown.message}`);
    return [];
  }
}

/** Creates a reader of keys that is loaded when the first key is read: most runs have theirs in the environment. */
export function loadKeyReader(options: KeyReaderOptions): KeyReader {
  let loading: Promise<KeyReader> | null = null;
  return {
    async read(source, readOptions) {
      loading ??= import('../../keys/key-reader.ts').then(({ createKeyReader }) =>
        createKeyReader(options),
      );
      return (await loading).read(source, readOptions);
    },
  };
}
