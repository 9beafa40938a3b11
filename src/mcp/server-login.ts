import {
  extractWWWAuthenticateParams,
  OAuthError,
  type AuthProvider,
  type FetchLike,
} from '@modelcontextprotocol/client';
import type { LoginDemand, McpLogin, McpLoginStore } from '../protocol/mcp-login.ts';
import { toLoginKey } from './expand-variables.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import type { ProgramToken } from './program-login.ts';
import type { HttpTransport, McpServerOrigin } from './server-entry.ts';
import { renewLogin } from './login-tokens.ts';
import { describeOAuthFailure } from './oauth-errors.ts';
import { describeLoginCommand, McpServerError, type McpFailureKind } from './server-error.ts';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
/** The time before the end of an access token in which it is renewed, unless the token is valid only for a short time. */
const RENEW_BEFORE_MS = 60_000;
/** The part of the lifetime of a token in which it is renewed at most. */
const RENEWAL_PART = 0.1;
/** The errors after which only a new login helps. */
const ENDED: ReadonlySet<string> = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'access_denied',
]);

/** The logins of a process to servers, and what renews them. */
export interface McpLogins {
  readonly store: McpLoginStore;
  /** Creates the `fetch` for requests to the authorization server of a server. It rejects addresses that are not allowed. */
  readonly createFetch: (server: URL) => FetchLike;
  readonly now: () => number;
  /** Keeps a token out of logs. Called before the token is used. */
  readonly onSecret: (secret: string) => void;
}

const NO_DEMAND: LoginDemand = { scope: null, resourceMetadataUrl: null };

interface ServerToLogIn {
  /** The place of its entry. */
  readonly origin: McpServerOrigin;
  /** The transport of the server with its variables replaced. */
  readonly transport: HttpTransport;
  /** Sends the requests to the server. */
  readonly fetch: FetchLike;
  readonly logins: McpLogins;
}

/** Creates the use of a stored login for one connection, and a `fetch` that notices which login the server demands. */
export function createServerLogin(
  name: string,
  server: ServerToLogIn,
): { readonly login: AuthProvider; readonly fetch: FetchLike } {
  const { transport, logins } = server;
  const key = toLoginKey(transport.url, server.origin);
  const login =
    transport.oauth?.isProgram === true
      ? new ProgramLogin(name, { key, settings: transport.oauth, logins })
      : new PersonLogin(name, key, logins);
  return {
    login,
    fetch: async (url, init) => {
      const response = await server.fetch(url, init);
      login.watch(response, new Headers(init?.headers).get('authorization'));
      return response;
    },
  };
}

/** The login of a person in one connection. Requests at the same time share one renewal. */
class PersonLogin implements AuthProvider {
  private readonly name: string;
  private readonly key: string;
  private readonly logins: McpLogins;
  private current: McpLogin | null = null;
  private renewal: Promise<McpLogin> | null = null;
  private renewBeforeMs = RENEW_BEFORE_MS;
  /** The `Authorization` headers to which the server has answered with a demand. */
  private readonly sent = new WeakMap<Response, string>();
  private demand: LoginDemand = NO_DEMAND;

  constructor(name: string, key: string, logins: McpLogins) {
    this.name = name;
    this.key = key;
    this.logins = logins;
  }

  /** Returns the access token, after renewing it if it is about to expire. Returns undefined if there is no login. */
  async token(): Promise<string | undefined> {
    const current = await this.load();
    if (current === null || !this.expiresSoon(current) || current.refreshToken === null) {
      return current?.accessToken;
    }
    try {
      return (await this.renew(current)).accessToken;
    } catch (thrown) {
      // Until it has expired, the token may still work.
      if (this.hasExpired(current)) throw thrown;
      return current.accessToken;
    }
  }

  /** Renews the tokens after the server has refused them. Rejects if a person has to log in. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const sent = this.sent.get(response);
    const current = await this.load();
    if (current === null) throw this.requireLogin('it requires a login');
    // Another request has got new tokens since this one was sent.
    if (sent !== `Bearer ${current.accessToken}`) return;
    await this.renew(current);
  }

  /** Notices what an answer says about the login that the server demands. */
  watch(response: Response, sent: string | null): void {
    const demand = readDemand(response);
    if (demand === null) return;
    this.demand = demand;
    if (sent !== null) this.sent.set(response, sent);
    if (response.status === FORBIDDEN) this.logins.store.noteDemand(this.key, demand);
  }

  /** Returns the login with its newest tokens; null if there is none. */
  private async load(): Promise<McpLogin | null> {
    if (this.renewal !== null) return await this.renewal;
    const read = this.current ?? (await this.read());
    // Another request may have got newer tokens in the meantime.
    this.current ??= read;
    return this.current;
  }

  private async read(): Promise<McpLogin | null> {
    const { login } = await this.logins.store.read(this.key);
    if (login === null) return null;
    this.hide(login);
    return login;
  }

  private hide({ accessToken, refreshToken, clientSecret }: McpLogin): void {
    for (const secret of [accessToken, refreshToken, clientSecret]) {
      if (secret !== null) this.logins.onSecret(secret);
    }
  }

  private async renew(refused: McpLogin): Promise<McpLogin> {
    this.renewal ??= this.logins.store
      .withLock(this.key, () => this.renewInTurn(refused))
      .finally(() => {
        this.renewal = null;
      });
    this.current = await this.renewal;
    return this.current;
  }

  /** Renews the tokens, unless another process has done that. No other process renews them meanwhile. */
  private async renewInTurn(refused: McpLogin): Promise<McpLogin> {
    const stored = await this.read();
    if (stored === null) throw this.requireLogin('it requires a login');
    if (stored.accessToken !== refused.accessToken && !this.hasExpired(stored)) return stored;
    if (stored.refreshToken === null) throw this.requireLogin('its login has expired');
    const { createFetch, now, store } = this.logins;
    try {
      const fetch = createFetch(new URL(this.key));
      const renewed = await renewLogin(stored, { fetch, now });
      this.hide(renewed);
      await store.renew(renewed);
      const lifetimeMs = (renewed.expiresAt ?? Number.POSITIVE_INFINITY) - now();
      this.renewBeforeMs = Math.min(RENEW_BEFORE_MS, lifetimeMs * RENEWAL_PART);
      return renewed;
    } catch (thrown) {
      const { message } = describeOAuthFailure(thrown);
      if (thrown instanceof OAuthError && ENDED.has(thrown.code)) {
        throw this.requireLogin(`its login has ended (${message})`);
      }
      throw this.fail(`its login could not be renewed: ${message}`, 'start', thrown);
    }
  }

  private expiresSoon({ expiresAt }: McpLogin): boolean {
    return expiresAt !== null && expiresAt - this.logins.now() < this.renewBeforeMs;
  }

  private hasExpired({ expiresAt }: McpLogin): boolean {
    return expiresAt !== null && expiresAt <= this.logins.now();
  }

  /** Notes that a person has to log in, and returns the error that says so. */
  private requireLogin(reason: string): McpServerError {
    this.logins.store.noteDemand(this.key, this.demand);
    return this.fail(`${reason}: ${describeLoginCommand(this.name)}`, 'login');
  }

  private fail(message: string, kind: McpFailureKind, cause?: unknown): McpServerError {
    return new McpServerError(message, { server: this.name, kind, cause });
  }
}

/** The login of a program in one connection. Its token is kept only as long as the connection. */
class ProgramLogin implements AuthProvider {
  private readonly name: string;
  private readonly parts: ProgramLoginParts;
  private current: ProgramToken | null = null;
  private request: Promise<ProgramToken> | null = null;
  private demand: LoginDemand = NO_DEMAND;

  constructor(name: string, parts: ProgramLoginParts) {
    this.name = name;
    this.parts = parts;
  }

  async token(): Promise<string | undefined> {
    const expiresAt = this.current?.expiresAt ?? null;
    if (expiresAt !== null && expiresAt <= this.parts.logins.now()) await this.onUnauthorized();
    return this.current?.accessToken;
  }

  /** Requests a token after the server has refused to answer without one. */
  async onUnauthorized(): Promise<void> {
    this.request ??= this.requestToken().finally(() => {
      this.request = null;
    });
    this.current = await this.request;
  }

  /** Notices what an answer says about the login that the server demands. */
  watch(response: Response): void {
    this.demand = readDemand(response) ?? this.demand;
  }

  private async requestToken(): Promise<ProgramToken> {
    const { key, settings, logins } = this.parts;
    const server = new URL(key);
    const fetch = logins.createFetch(server);
    const { now, onSecret } = logins;
    try {
      const { logInAsProgram } = await import('./program-login.ts');
      const token = await logInAsProgram({ server, settings, demand: this.demand, fetch, now });
      onSecret(token.accessToken);
      return token;
    } catch (thrown) {
      const message = `it could not be logged in to: ${describeOAuthFailure(thrown).message}`;
      throw new McpServerError(message, { server: this.name, kind: 'login', cause: thrown });
    }
  }
}

interface ProgramLoginParts {
  readonly key: string;
  readonly settings: OAuthSettings;
  readonly logins: McpLogins;
}

/** Returns the login that an answer demands; null if it demands none. */
function readDemand(response: Response): LoginDemand | null {
  const { status } = response;
  if (status !== UNAUTHORIZED && status !== FORBIDDEN) return null;
  const { scope, resourceMetadataUrl, error } = extractWWWAuthenticateParams(response);
  if (status === FORBIDDEN && error !== 'insufficient_scope') return null;
  return { scope: scope ?? null, resourceMetadataUrl: resourceMetadataUrl?.href ?? null };
}
