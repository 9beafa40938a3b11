import { MusterError } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import { createKeychain } from '../../keys/keychain.ts';
import { LoginStore } from '../../keys/login-store.ts';
import type { McpLogins } from '../../mcp/server-login.ts';
import type { Environment } from '../../sys/env.ts';

interface LoginParts {
  readonly environment: Environment;
  /** The state directory. */
  readonly directory: string;
  /** Keeps a token out of logs. */
  readonly onSecret: (secret: string) => void;
  readonly onNotice: (line: string) => void;
  /** Whether a server's demand for a login is stored, so that lists can show it. */
  readonly storesDemands: boolean;
}

/** Opens the store of logins to MCP servers. Reads nothing. */
export function openLoginStore({
  environment,
  directory,
}: Pick<LoginParts, 'environment' | 'directory'>): LoginStore {
  return new LoginStore(directory, createKeychain(environment));
}

/** Opens the stored logins for connections. The tokens in the file are kept out of logs from now on. */
export function openLogins(parts: LoginParts): McpLogins {
  const { environment, onSecret, onNotice } = parts;
  const store = openLoginStore(parts);
  const report = (work: () => void): void => {
    try {
      work();
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      onNotice(thrown.message);
    }
  };
  report(() => {
    for (const secret of store.listSecrets()) onSecret(secret);
  });
  return {
    store: {
      read: (server) => store.read(server),
      add: (login) => store.add(login),
      renew: (login) => store.renew(login),
      withLock: (server, work) => store.withLock(server, work),
      // A run that cannot write there says what is missing all the same.
      noteDemand: (server, demand) => {
        if (parts.storesDemands) report(() => store.noteDemand(server, demand));
      },
    },
    createFetch: (server) => async (url, init) => {
      // The client for the web is loaded only for a server with a login that expires.
      const { createLoginAccess } = await import('./login-fetch.ts');
      return await createLoginAccess(server, environment).fetch(url, init);
    },
    now: () => systemClock.now(),
    onSecret,
  };
}
