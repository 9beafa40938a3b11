import { MusterError } from '../../base/errors.ts';
import { AccountStore } from '../../keys/account-store.ts';
import type { KeyReaderOptions } from '../../keys/key-reader.ts';
import type { KeyReader, StoredAccount } from '../../protocol/api-key.ts';

/**
 * Reads the accounts that are signed in. If their file cannot be used, nobody is signed in, and a notice says why.
 *
 * @param directory the state directory
 */
export function readAccounts(
  directory: string,
  onNotice: (line: string) => void,
): readonly StoredAccount[] {
  try {
    return new AccountStore(directory).all();
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
