import { randomBytes } from 'node:crypto';
import { toUrlHost, type HttpAddress } from '../../sys/http/http-address.ts';
import { isSameToken } from '../../sys/http/same-token.ts';

/** The parts of a request that decide whether it is admitted. A header that is missing is null. */
export interface KnockingRequest {
  readonly method: string;
  readonly path: string;
  /** The value of `?token=`. */
  readonly token: string | null;
  readonly host: string | null;
  readonly origin: string | null;
  /** The header `Sec-Fetch-Site`. */
  readonly fetchSite: string | null;
  readonly cookie: string | null;
  readonly authorization: string | null;
  readonly contentType: string | null;
  /** The header `KEY_HEADER`. */
  readonly key: string | null;
}

/** The outcome for a request: it is served, it gets the cookie and the address with the key, or it is refused. */
export type Admission =
  | { readonly kind: 'served' }
  | { readonly kind: 'login'; readonly cookie: string; readonly location: string }
  | { readonly kind: 'refused'; readonly status: number; readonly message: string };

const SERVED: Admission = { kind: 'served' };
/** The time for which the address that is passed to a browser can be used. */
const TICKET_MS = 60_000;
const SECRET_BYTES = 32;

/**
 * Decides which requests are served. A request must name this server as its host, because the page of another site can have
 * its own name point at this machine; must come from no page of another site; and must have the token, or the cookie that a
 * browser gets for the token. A request that changes something must also have the key of the page, unless it has the token:
 * browsers send cookies to all ports of a host. The token, the cookie and the key are new in each process.
 */
export class WebGate {
  /** The token for the address that is printed. */
  readonly token = newSecret();
  readonly #cookie = newSecret();
  readonly #key = newSecret();
  readonly #port: number;
  readonly #hosts: ReadonlySet<string>;
  /** The tokens that can be used once, with the times of `performance.now()` until which they can be used. */
  readonly #tickets = new Map<string, number>();

  constructor({ host, port }: HttpAddress) {
    this.#port = port;
    const names = ['127.0.0.1', 'localhost', '[::1]', toUrlHost(host)];
    this.#hosts = new Set(names.map((name) => new URL(`http://${name}:${port}`).host));
  }

  /** Creates a token that can be used once, within a minute: other users may see the arguments of the program that opens a page. */
  createTicket(): string {
    const ticket = newSecret();
    this.#tickets.set(ticket, performance.now() + TICKET_MS);
    return ticket;
  }

  admit(request: KnockingRequest): Admission {
    const { method, origin, fetchSite, contentType } = request;
    const host = request.host === null ? null : normalizeHost(request.host);
    if (host === null || !this.#hosts.has(host)) {
      return refuse(
        421,
        `this server is not ${request.host ?? 'without a name'}: use the address that muster web has printed`,
      );
    }
    const isForeign = origin !== null && origin !== `http://${host}`;
    const isCrossSite = fetchSite !== null && fetchSite !== 'same-origin' && fetchSite !== 'none';
    if (isForeign || isCrossSite) {
      return refuse(
        403,
        'the request comes from a page of another site: open the address that muster web has printed in a tab of its own',
      );
    }
    if (method !== 'GET' && method !== 'POST')
      return refuse(405, `this server knows no method ${method}`);
    if (request.path === '/' && request.token !== null) return this.#logIn(request.token);
    const credential = this.#findCredential(request);
    if (credential === null) {
      return refuse(
        401,
        'the cookie or the token of this server is missing: open the address that muster web has printed. It is another one after each start',
      );
    }
    if (method !== 'POST') return SERVED;
    if (origin === null) return refuse(403, 'the header Origin is missing');
    if (credential === 'cookie' && !isSameToken(request.key ?? '', this.#key)) {
      return refuse(
        403,
        'the key of the page is missing or is of an earlier start: open the address that muster web has printed again',
      );
    }
    const type = contentType?.split(';')[0]?.trim().toLowerCase();
    return type === 'application/json'
      ? SERVED
      : refuse(415, 'the header Content-Type must be application/json');
  }

  #logIn(token: string): Admission {
    if (!isSameToken(token, this.token) && !this.#useTicket(token)) {
      return refuse(
        401,
        'the token is not the one of this server: open the address that muster web has printed. It is another one after each start',
      );
    }
    return {
      kind: 'login',
      cookie: `${this.#cookieName}=${this.#cookie}; Path=/; HttpOnly; SameSite=Strict`,
      // Browsers send the part after the # to no server.
      location: `/#key=${this.#key}`,
    };
  }

  #useTicket(token: string): boolean {
    const until = this.#tickets.get(token);
    this.#tickets.delete(token);
    return until !== undefined && performance.now() < until;
  }

  /** Returns what admits a request; null if nothing does. */
  #findCredential({ cookie, authorization }: KnockingRequest): 'token' | 'cookie' | null {
    const bearer = /^Bearer ([^\s]+)$/i.exec(authorization ?? '')?.[1];
    if (bearer !== undefined) return isSameToken(bearer, this.token) ? 'token' : null;
    const values = readCookies(cookie ?? '', this.#cookieName);
    return values.some((value) => isSameToken(value, this.#cookie)) ? 'cookie' : null;
  }

  /** The name of the cookie. Browsers send cookies to all ports of a host, so that each server needs a name of its own. */
  get #cookieName(): string {
    return `muster-web-${this.#port}`;
  }
}

function readCookies(header: string, name: string): readonly string[] {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/** Writes the header `Host` as browsers do, which leave out the default port. */
function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/:80$/, '');
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function refuse(status: number, message: string): Admission {
  return { kind: 'refused', status, message };
}
