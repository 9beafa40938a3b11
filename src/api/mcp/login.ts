import { rejectOnAbort } from '../../base/async.ts';
import { systemClock } from '../../base/clock.ts';
import { MusterError } from '../../base/errors.ts';
import { formatDuration } from '../../base/text.ts';
import type { LoginStore, LoginSummary } from '../../keys/login-store.ts';
import { createMcpConnections } from '../../mcp/connections.ts';
import { hasAuthorization } from '../../mcp/create-target.ts';
import {
  expandTransport,
  isLoginTo,
  toLoginKey,
  type VariableSource,
} from '../../mcp/expand-variables.ts';
import type { HttpTransport, McpServerEntry } from '../../mcp/server-entry.ts';
import { McpServerError } from '../../mcp/server-error.ts';
import type { LoginDemand, McpLogin, McpLoginStore } from '../../protocol/mcp-login.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import type { KeyStoreChoice } from '../setup/sign-in.ts';
import { createLoginAccess } from './login-fetch.ts';
import { createServerSearch, findServer } from './manage-servers.ts';
import { openLoginStore } from './open-logins.ts';
import { findOwnSecrets } from './own-secrets.ts';
import { openRedirectListener, type RedirectListener } from './redirect-listener.ts';

/** The time in which a person must have agreed in the browser. */
const ANSWER_MS = 600_000;

/** The conversation with the person who logs in. */
export interface LoginDialog {
  /** Shows the page on which the person agrees, and opens it where that is possible. */
  showPage(page: LoginPage): void;
  /**
   * Asks for the address to which the browser was sent, for a browser that cannot reach this machine. Resolves to null
   * if no more can be asked. The function is null if nobody can be asked.
   */
  readonly askAddress: (() => Promise<string | null>) | null;
  /** Says that an answer was not used. */
  warn(line: string): void;
}

/** The page of an authorization server on which a person agrees to a login. */
export interface LoginPage {
  readonly url: string;
  readonly issuer: string;
}

interface LoginOptions {
  readonly dialog: LoginDialog;
  readonly store: KeyStoreChoice;
  /** The time for the person's answer in milliseconds. Default: ten minutes. */
  readonly answerMs?: number;
}

/** A login that was stored. */
export interface LoginOutcome {
  readonly issuer: string;
  readonly scope: string | null;
  /** Whether the tokens can be renewed without the person. */
  readonly isRenewable: boolean;
  /** The place of the tokens. */
  readonly place: string;
  /** The reason why the keychain is not used; null: it is used, or was not wanted. */
  readonly keychainProblem: string | null;
  /** The file of a project to whose servers the login is limited. Null for a server of the user. */
  readonly projectFile: string | null;
}

/** Logs in to a server with the help of a person and a browser, and stores the tokens. Rejects with MusterError. */
export async function logIn(
  name: string,
  state: StateOptions,
  { dialog, store: place, answerMs = ANSWER_MS }: LoginOptions,
): Promise<LoginOutcome> {
  const target = await findTarget(name, state);
  if (hasAuthorization(target.transport.headers)) {
    const reason = `the entry of ${name} in ${target.entry.origin.file} has an Authorization header, which is sent instead of a login; remove it first`;
    throw new MusterError('INVALID_PARAM', reason);
  }
  if (target.transport.oauth?.isProgram === true) {
    const reason = `${name} logs in by itself, with grant_type "client_credentials"; try it: muster mcp test ${name}`;
    throw new MusterError('INVALID_PARAM', reason);
  }
  const store = openLoginStore(state);
  const { origin } = target.entry;
  const server = new URL(toLoginKey(target.transport.url, origin));
  const known = await readKnown(store, server.href);
  const access = createLoginAccess(server, state.environment);
  const demand = await findDemand(target, state, access.fetch);
  const { beginLogin } = await import('../../mcp/authorize.ts');
  const settings = target.transport.oauth ?? null;
  const listener = await openRedirectListener(settings?.redirectUrl ?? null);
  try {
    const pending = await beginLogin({
      server,
      settings,
      demand: demand ?? known.demand,
      demandedBefore: known.demand?.scope ?? null,
      earlier: known.login,
      fetch: access.fetch,
      redirectUrl: listener.redirectUrl,
      now: () => systemClock.now(),
    });
    await access.checkPage(pending.page);
    dialog.showPage({ url: pending.page.href, issuer: pending.issuer });
    const answer = await waitForAnswer(listener, pending.isOwnAnswer, { dialog, answerMs });
    const login = await pending.finish(answer);
    const keychainProblem = await store.addTo(place, login);
    const isInFile = keychainProblem !== null || place === 'file';
    return {
      issuer: login.issuer,
      scope: login.scope,
      isRenewable: login.refreshToken !== null,
      place: isInFile ? `${store.path}, which only you can read` : 'the keychain of the system',
      keychainProblem,
      projectFile: origin.scope === 'project' ? origin.file : null,
    };
  } catch (thrown) {
    throw thrown instanceof MusterError
      ? new MusterError(thrown.code, `no login to ${name}: ${thrown.message}`, { cause: thrown })
      : thrown;
  } finally {
    await listener.close();
  }
}

interface LoginTarget {
  readonly entry: McpServerEntry;
  /** The transport with its variables replaced. */
  readonly transport: HttpTransport;
  readonly variables: VariableSource;
}

/** Finds the server to log in to. Throws INVALID_PARAM for one that can have no login. */
async function findTarget(name: string, state: StateOptions): Promise<LoginTarget> {
  const search = await createServerSearch(state);
  const entry = await findServer(name, search);
  const { environment, home, cwd: project } = state;
  const ownSecrets = findOwnSecrets(environment, search.providers);
  const variables = { environment, home, project, ownSecrets };
  const { transport } = expandTransport(entry, variables);
  if (transport.type === 'stdio') {
    const reason = `${name} runs as a process, which gets its keys from "env" of its entry; only servers with a URL have a login`;
    throw new MusterError('INVALID_PARAM', reason);
  }
  return { entry, transport, variables };
}

/** Reads what is known about a server. Tokens that cannot be read any more are no reason not to log in again. */
async function readKnown(store: LoginStore, server: string) {
  try {
    return await store.read(server);
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || store.list().every((each) => each.server !== server)) {
      throw thrown;
    }
    return { login: null, demand: null };
  }
}

/** Connects to a server without a login, and returns the login that it demands then; null if it demands none. */
async function findDemand(
  { entry, variables }: LoginTarget,
  { environment, cwd }: StateOptions,
  fetch: ReturnType<typeof createLoginAccess>['fetch'],
): Promise<LoginDemand | null> {
  let demand: LoginDemand | null = null;
  const store: McpLoginStore = {
    read: () => Promise.resolve({ login: null, demand: null }),
    add: () => Promise.resolve(),
    renew: () => Promise.resolve(),
    noteDemand: (_, noted) => (demand = noted),
    withLock: (_, work) => work(),
  };
  const connections = createMcpConnections({
    variables,
    http: createHttpFetch(environment),
    cwd,
    logins: { store, createFetch: () => fetch, now: () => systemClock.now(), onSecret: () => {} },
  });
  try {
    const { signal } = new AbortController();
    const server = connections.open(entry);
    const info = await server.start(signal);
    if (info.hasTools) await server.listTools(signal);
    return demand;
  } catch (thrown) {
    if (thrown instanceof McpServerError && thrown.kind === 'login') return demand;
    throw thrown;
  } finally {
    await connections.close();
  }
}

/** Waits for the browser, or for the address that a person pastes instead. */
async function waitForAnswer(
  listener: RedirectListener,
  isOwnAnswer: (answer: URLSearchParams) => boolean,
  { dialog, answerMs }: { readonly dialog: LoginDialog; readonly answerMs: number },
): Promise<URLSearchParams> {
  const limit = new AbortController();
  const timer = setTimeout(() => {
    const message = `nobody agreed in the browser within ${formatDuration(answerMs)}`;
    limit.abort(new MusterError('TIMEOUT', message));
  }, answerMs);
  const pasted = readPastedAnswer(isOwnAnswer, dialog);
  try {
    const arrived = listener.waitFor(isOwnAnswer, () =>
      dialog.warn('A program sent an answer that does not belong to this login. It was not used.'),
    );
    return await rejectOnAbort(Promise.race([arrived, pasted]), limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads pasted addresses until one belongs to the login. Never settles if there is none. */
async function readPastedAnswer(
  isOwnAnswer: (answer: URLSearchParams) => boolean,
  { askAddress, warn }: LoginDialog,
): Promise<URLSearchParams> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- the next question depends on the answer
    const text = (await askAddress?.()) ?? null;
    if (text === null) return await new Promise(() => {});
    const answer = URL.parse(text)?.searchParams;
    if (answer !== undefined && isOwnAnswer(answer)) return answer;
    if (text !== '') warn('This address does not belong to this login. Paste the whole address.');
  }
}

/** The end of a login. */
export interface LogoutOutcome {
  /** `revoked`: the authorization server has made the tokens invalid. `removed`: they were only deleted here. */
  readonly kind: 'revoked' | 'removed' | 'none';
  /** The reason why the tokens were not revoked; null if they were, or if there were none. */
  readonly problem: string | null;
}

/**
 * Revokes the tokens of a login if its issuer offers that, and deletes them in any case.
 *
 * @param name the name of a server, or the URL of one that is no longer configured
 */
export async function logOut(name: string, state: StateOptions): Promise<LogoutOutcome> {
  const store = openLoginStore(state);
  const known = store.list();
  if (!WEB_URL.test(name)) {
    const { entry, transport } = await findTarget(name, state);
    return await forget(toLoginKey(transport.url, entry.origin), known, { store, state });
  }
  const keys = known.map(({ server }) => server).filter((key) => isLoginTo(name, key));
  let outcome = NO_LOGIN;
  for (const key of keys) {
    // oxlint-disable-next-line no-await-in-loop -- each change waits for the lock of the file
    const next = await forget(key, known, { store, state });
    // A login that could not be revoked matters more than one that was.
    if (outcome.kind !== 'removed') outcome = next.kind === 'none' ? outcome : next;
  }
  return outcome;
}

const WEB_URL = /^https?:\/\//i;

/** Revokes and deletes the login that is stored by a key. */
async function forget(
  key: string,
  known: readonly LoginSummary[],
  { store, state }: { readonly store: LoginStore; readonly state: StateOptions },
): Promise<LogoutOutcome> {
  const { login } = await readKnown(store, key);
  const outcome = login === null ? NO_LOGIN : await revoke(login, state);
  await store.remove(key);
  const isKnown = known.some((each) => each.server === key && each.issuer !== null);
  return isKnown && outcome.kind === 'none' ? { kind: 'removed', problem: null } : outcome;
}

const NO_LOGIN: LogoutOutcome = { kind: 'none', problem: null };

async function revoke(login: McpLogin, { environment }: StateOptions): Promise<LogoutOutcome> {
  const [{ revokeLogin }, { describeOAuthFailure }] = await Promise.all([
    import('../../mcp/login-tokens.ts'),
    import('../../mcp/oauth-errors.ts'),
  ]);
  const { fetch } = createLoginAccess(new URL(login.server), environment);
  try {
    if (await revokeLogin(login, fetch)) return { kind: 'revoked', problem: null };
    return { kind: 'removed', problem: `${login.issuer} offers no way to revoke tokens` };
  } catch (thrown) {
    return { kind: 'removed', problem: describeOAuthFailure(thrown).message };
  }
}
