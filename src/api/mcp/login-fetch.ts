import { systemClock } from '../../base/clock.ts';
import { MusterError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import type { McpLogins } from '../../mcp/server-login.ts';
import type { Environment } from '../../sys/env.ts';
import { classifyAddress, isLocalhost, withoutBrackets } from '../../web/address.ts';
import { createWebClient, type WebClientOptions } from '../../web/client.ts';
import { displayWebUrl, parseWebUrl } from '../../web/parse-url.ts';

/** The limits of a request to an authorization server. Its documents have a few KB. */
const LIMITS = { totalMs: 30_000, bodyBytes: 256 * 1024, redirects: 0 };

/** The network in which a host is. `other`: one in which nothing may be reached. */
export type Reach = 'public' | 'private' | 'loopback' | 'other';

type LoginFetch = ReturnType<McpLogins['createFetch']>;

/** The access to the authorization server of one MCP server, whose answers name the addresses. */
export interface LoginAccess {
  readonly fetch: LoginFetch;
  /** Throws PERMISSION_DENIED unless a browser may open an address. */
  checkPage(page: URL): Promise<void>;
}

/**
 * Creates the access to the authorization server of an MCP server. Addresses come from the answers of the server, so
 * they must begin with https, and those that are not public are refused unless the server itself is in such a network.
 *
 * @param options.resolve finds the addresses of a host. Default: the resolver of the system.
 */
export function createLoginAccess(
  server: URL,
  environment: Environment,
  options: Pick<WebClientOptions, 'resolve'> = {},
): LoginAccess {
  const resolve = options.resolve ?? resolveWithSystem;
  const web = createWebClient({
    env: environment,
    clock: systemClock,
    version: VERSION,
    limits: LIMITS,
    resolve,
  });
  let reach: Promise<Reach> | null = null;
  // A server with one public address counts as public.
  const findServerReach = (): Promise<Reach> =>
    (reach ??= findReaches(server, resolve).then(([first, ...others]) =>
      others.length === 0 ? first : 'public',
    ));
  return {
    fetch: async (address, init = {}) => {
      const { method = 'GET', signal } = init;
      const own = await findServerReach();
      try {
        const url = checkAddress(String(address), own);
        const response = await web.send({
          method,
          url,
          headers: toRecord(init.headers),
          ...(method === 'GET' ? {} : { body: toText(init.body) }),
          signal: signal ?? new AbortController().signal,
          allowsPrivate: (target) => mayReach(own, classifyHost(target.address)),
          followsRedirect: () => false,
        });
        if (response.isCut) {
          const limit = `${LIMITS.bodyBytes / 1024} KB`;
          throw new MusterError('LIMIT_EXCEEDED', `${displayWebUrl(url)}: more than ${limit}`);
        }
        const { status, statusText } = response;
        const headers = [...response.headers].map(
          ([name, value]) => [name, value] as [string, string],
        );
        const body = WITHOUT_BODY.has(status) ? null : new Uint8Array(response.body);
        return new Response(body, { status, statusText, headers });
      } catch (thrown) {
        // As with the standard `fetch`. Other errors would count as an answer without the wanted document.
        throw new TypeError('fetch failed', { cause: thrown });
      }
    },
    checkPage: async (page) => {
      const own = await findServerReach();
      const url = checkAddress(page.href, own);
      const targets = await findReaches(url, resolve);
      if (targets.some((target) => !mayReach(own, target))) {
        throw refuse(url, 'it is in a private network, and the server is not');
      }
    },
  };
}

/** The statuses whose responses have no body. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/** Parses an address that a server has named. Throws PERMISSION_DENIED if nothing may be sent there. */
function checkAddress(text: string, server: Reach): URL {
  const parsed = parseWebUrl(text);
  if (!parsed.ok)
    throw new MusterError('PERMISSION_DENIED', `an address of the server ${parsed.problem}`);
  const { url } = parsed;
  const isHere = server === 'loopback' && classifyHost(url.hostname) === 'loopback';
  if (url.protocol === 'https:' || isHere) return url;
  throw refuse(url, 'it must begin with https');
}

function refuse(url: URL, problem: string): MusterError {
  const text = `${displayWebUrl(url)}: an address that the server named was not used: ${problem}`;
  return new MusterError('PERMISSION_DENIED', text);
}

/** Tells whether a server may send Muster to an address: to public ones always, to others only from their own network. */
export function mayReach(server: Reach, target: Reach): boolean {
  switch (target) {
    case 'public':
      return true;
    case 'private':
      return server === 'private' || server === 'loopback';
    case 'loopback':
      return server === 'loopback';
    case 'other':
      return false;
  }
}

/** Returns the network of an IP address or of `localhost`. Other names count as public. */
export function classifyHost(host: string): Reach {
  const plain = withoutBrackets(host);
  if (isLocalhost(plain)) return 'loopback';
  const kind = classifyAddress(plain);
  if (kind === 'invalid' || kind === 'public') return 'public';
  return kind === 'loopback' || kind === 'private' ? kind : 'other';
}

/** Finds the networks of a host. A host that cannot be resolved counts as public: the request to it will fail. */
async function findReaches(
  { hostname }: URL,
  resolve: (host: string) => Promise<readonly string[]>,
): Promise<readonly [Reach, ...Reach[]]> {
  const own = classifyHost(hostname);
  if (own !== 'public' || classifyAddress(withoutBrackets(hostname)) === 'public') return [own];
  const addresses = await resolve(hostname).catch(() => []);
  const [first = 'public', ...others] = new Set(addresses.map(classifyHost));
  return [first, ...others];
}

async function resolveWithSystem(host: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  return (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);
}

type RequestHeaders = NonNullable<Parameters<LoginFetch>[1]>['headers'];

function toRecord(headers: RequestHeaders): Record<string, string> {
  return Object.fromEntries(new Headers(headers ?? {}));
}

function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('the body of a request must be a text');
}
