import { isIP } from 'node:net';
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  OAuthError,
  OAuthErrorCode,
  originValidationResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { toUrlHost, type HttpAddress } from '../../../sys/http/http-address.ts';
import { isSameToken } from '../../../sys/http/same-token.ts';

/** The only path of the server. */
export const MCP_PATH = '/mcp';
/** The SDK accepts no token without an end. This one lasts as long as the server. */
const FOREVER_SECONDS = Number.MAX_SAFE_INTEGER;

/** The addresses that stand for all addresses of the machine. */
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Lets a request pass, or returns the response that refuses it. */
export type Gate = (request: Request) => Promise<Response | null>;

/**
 * Creates the gate of a server: a request must name this server as its host, come from no page of another site, ask for the
 * one path, and have the token. Nothing of its body is read before.
 */
export function createGate(address: HttpAddress, token: string): Gate {
  const requireToken = requireBearerAuth({
    verifier: {
      verifyAccessToken: async (given) => {
        if (!isSameToken(given, token))
          throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is not that of the server');
        return { token: given, clientId: 'client', scopes: [], expiresAt: FOREVER_SECONDS };
      },
    },
  });
  return async (request) => {
    const { hostname, pathname } = new URL(request.url);
    const hosts = isAllowedHost(address, hostname) ? [hostname] : [];
    const refused =
      hostHeaderValidationResponse(request, hosts) ??
      originValidationResponse(request, [...hosts, ...localhostAllowedOrigins()]);
    if (refused !== undefined) return refused;
    if (pathname !== MCP_PATH)
      return new Response(`The server is at ${MCP_PATH}\n`, { status: 404 });
    const auth = await requireToken(request);
    return auth instanceof Response ? auth : null;
  };
}

/**
 * Checks whether the header `Host` of a request may name a host. A page of the web can have its own name point at this
 * machine, and its browser then sends that name. It cannot do so with an address, so a server for all addresses of
 * the machine accepts every address.
 *
 * @param named the host of the header, as a URL has it, without the port
 */
export function isAllowedHost({ host }: HttpAddress, named: string): boolean {
  if (localhostAllowedHostnames().includes(named) || named === toUrlHost(host)) return true;
  return WILDCARDS.has(host) && isIP(named.replace(/^\[|\]$/g, '')) !== 0;
}
