import {
  refreshAuthorization,
  type FetchLike,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { MusterError } from '../base/errors.ts';
import type { McpLogin } from '../protocol/mcp-login.ts';
import { quoteOneLine } from './session-errors.ts';

/** Throws unless a token is one that is sent as it is. */
export function checkTokenType({ token_type: type }: OAuthTokens): void {
  if (type.toLowerCase() === 'bearer') return;
  throw new MusterError(
    'PROVIDER_ERROR',
    `the authorization server issued a token of the type ${quoteOneLine(type)}; only bearer tokens are supported`,
  );
}

/** Returns the fields of a login that hold its tokens. */
export function toTokenFields(
  { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds }: OAuthTokens,
  now: number,
): Pick<McpLogin, 'accessToken' | 'refreshToken' | 'expiresAt'> {
  const expiresAt = seconds === undefined ? null : now + seconds * 1000;
  return { accessToken, refreshToken: refreshToken ?? null, expiresAt };
}

/**
 * Gets new tokens for a login that has a refresh token, from the issuer of that token. Rejects with the errors of the
 * SDK: an OAuthError if the authorization server refuses.
 */
export async function renewLogin(
  login: McpLogin,
  { fetch, now }: { readonly fetch: FetchLike; readonly now: () => number },
): Promise<McpLogin> {
  const { issuer, clientId, clientSecret, authMethod, tokenEndpoint, resource } = login;
  const tokens = await refreshAuthorization(issuer, {
    metadata: {
      issuer,
      token_endpoint: tokenEndpoint,
      authorization_endpoint: issuer,
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: [authMethod],
    },
    clientInformation: {
      client_id: clientId,
      ...(clientSecret === null ? {} : { client_secret: clientSecret }),
    },
    refreshToken: login.refreshToken ?? '',
    ...(resource === null ? {} : { resource }),
    fetchFn: fetch,
  });
  checkTokenType(tokens);
  return { ...login, ...toTokenFields(tokens, now()), scope: tokens.scope ?? login.scope };
}

/**
 * Asks the issuer of a login to revoke its tokens (RFC 7009). Returns false if the issuer offers no revocation. Rejects
 * with MusterError if it does not revoke them.
 */
export async function revokeLogin(login: McpLogin, fetch: FetchLike): Promise<boolean> {
  const { revocationEndpoint, refreshToken, accessToken } = login;
  if (revocationEndpoint === null) return false;
  // A server that revokes the refresh token usually revokes the access token with it.
  const tokens = [
    ...(refreshToken === null ? [] : [[refreshToken, 'refresh_token'] as const]),
    [accessToken, 'access_token'] as const,
  ];
  for (const [token, kind] of tokens) {
    const { headers, fields } = authenticateClient(login);
    const body = new URLSearchParams({ token, token_type_hint: kind, ...fields });
    // oxlint-disable-next-line no-await-in-loop -- the access token may be invalid after the first request
    const response = await fetch(revocationEndpoint, { method: 'POST', headers, body });
    // oxlint-disable-next-line no-await-in-loop -- the connection is closed before the next request
    await response.body?.cancel();
    if (!response.ok) {
      throw new MusterError(
        'PROVIDER_ERROR',
        `the authorization server answered HTTP ${response.status}`,
      );
    }
  }
  return true;
}

function authenticateClient({ clientId, clientSecret, authMethod }: McpLogin) {
  if (authMethod === 'client_secret_basic' && clientSecret !== null) {
    const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    return { headers: { Authorization: `Basic ${credentials}` }, fields: {} };
  }
  const secret = clientSecret === null ? {} : { client_secret: clientSecret };
  return { headers: {}, fields: { client_id: clientId, ...secret } };
}
