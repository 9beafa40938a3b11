import { systemClock } from '../../base/clock.ts';
import { MusterError } from '../../base/errors.ts';
import { createKeychain } from '../../keys/keychain.ts';
import { LoginStore } from '../../keys/login-store.ts';
import type { McpLogins } from '../../mcp/server-login.ts';
import { approvalDirectory, type StateOptions } from '../../trust/state-directory.ts';

interface LoginOptions {
  /** Keeps a token out of logs. */
  readonly onSecret: (secret: string) => void;
  readonly onNotice: (line: string) => void;
  /** Whether a server's demand for a login is stored, so that lists can show it. */
  readonly storesDemands: boolean;
}

/**
 * Opens the store of logins to MCP servers. Reads nothing. Throws UsageError for a data directory in the project, which
 * may have brought logins of somebody else along.
 */
export function openLoginStore(state: StateOptions): LoginStore {
  return new LoginStore(approvalDirectory(state), createKeychain(state.environment));
}

/**
 * Opens the stored logins for connections. The tokens in the file are kept out of logs from now on. Returns null, after a
 * notice, if the file cannot be used: servers without a login work all the same.
 */
export function openLogins(
  state: StateOptions,
  { onSecret, onNotice, storesDemands }: LoginOptions,
): McpLogins | null {
  let store: LoginStore;
  try {
    store = openLoginStore(state);
    for (const secret of store.listSecrets()) onSecret(secret);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    onNotice(`No stored login to an MCP server is used: ${thrown.message}`);
    return null;
  }
  return {
    store: {
      read: (server) => store.read(server),
      add: (login) => store.add(login),
      renew: (login) => store.renew(login),
      withLock: (server, work) => store.withLock(server, work),
      noteDemand: (server, demand) => {
        if (!storesDemands) return;
        try {
          store.noteDemand(server, demand);
        } catch (thrown) {
          // The error about the login itself says what to do.
          if (!(thrown instanceof MusterError)) throw thrown;
          onNotice(thrown.message);
        }
      },
    },
    createFetch: (server) => async (url, init) => {
      // The client for the web is loaded only for a server with a login that expires.
      const { createLoginAccess } = await import('./login-fetch.ts');
      return await createLoginAccess(server, state.environment).fetch(url, init);
    },
    now: () => systemClock.now(),
    onSecret,
  };
}
