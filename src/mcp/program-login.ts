import {
  ClientCredentialsProvider,
  fetchToken,
  type FetchLike,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { MusterError } from '../base/errors.ts';
import type { LoginDemand } from '../protocol/mcp-login.ts';
import { chooseScope, discoverIssuer } from './discover-issuer.ts';
import { checkTokenType } from './login-tokens.ts';
import { describeOAuthFailure } from './oauth-errors.ts';
import type { OAuthSettings } from './oauth-settings.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_SECONDS = 120;
/** The algorithms of signatures by the types of keys. */
const ALGORITHMS = new Map([
  ['ec', 'ES256'],
  ['rsa', 'RS256'],
  ['ed25519', 'EdDSA'],
]);

/** The token of a program. There is no other token with which it could be renewed. */
export interface ProgramToken {
  readonly accessToken: string;
  /** The time at which it expires, in milliseconds since the epoch. Null if it is not known. */
  readonly expiresAt: number | null;
}

interface ProgramLoginRequest {
  readonly server: URL;
  readonly settings: OAuthSettings;
  readonly demand: LoginDemand;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

/**
 * Logs in with the key of a program, without a person (client credentials). The key goes only to the issuer that the
 * entry names. Rejects with MusterError.
 */
export async function logInAsProgram(request: ProgramLoginRequest): Promise<ProgramToken> {
  const { settings, demand, fetch, now } = request;
  try {
    const { authorizationServerUrl, metadata, issuer, resource, scopes } =
      await discoverIssuer(request);
    const scope = chooseScope({
      settings,
      demanded: demand.scope,
      earlier: null,
      ofResource: scopes,
      ofIssuer: undefined,
    });
    const tokens = await fetchToken(createProvider(settings, issuer, now), authorizationServerUrl, {
      ...(metadata === undefined ? {} : { metadata }),
      ...(resource === undefined ? {} : { resource }),
      ...(scope === undefined ? {} : { scope }),
      fetchFn: fetch,
    });
    checkTokenType(tokens);
    const { access_token: accessToken, expires_in: seconds } = tokens;
    return { accessToken, expiresAt: seconds === undefined ? null : now() + seconds * 1000 };
  } catch (thrown) {
    throw describeOAuthFailure(thrown);
  }
}

function createProvider(
  { clientId, clientSecret, privateKey }: OAuthSettings,
  issuer: string,
  now: () => number,
): OAuthClientProvider {
  const id = clientId ?? '';
  const provider = new ClientCredentialsProvider({
    clientId: id,
    clientSecret: clientSecret ?? '',
    expectedIssuer: issuer,
  });
  if (privateKey === null) return provider;
  return Object.assign(provider, {
    addClientAuthentication: (_: Headers, fields: URLSearchParams) => {
      fields.set('client_assertion', createAssertion(privateKey, { id, issuer, now: now() }));
      fields.set('client_assertion_type', ASSERTION_TYPE);
    },
  });
}

/** Creates a signed statement of a program about itself (RFC 7523). */
function createAssertion(
  pem: string,
  { id, issuer, now }: { readonly id: string; readonly issuer: string; readonly now: number },
): string {
  // A variable often holds the line ends of a key as `\n`.
  const key = createPrivateKey(pem.replaceAll(String.raw`\n`, '\n'));
  const algorithm = ALGORITHMS.get(key.asymmetricKeyType ?? '');
  if (algorithm === undefined) {
    throw new MusterError('INVALID_PARAM', 'oauth.private_key must be an EC, RSA or Ed25519 key');
  }
  const seconds = Math.floor(now / 1000);
  const claims = {
    iss: id,
    sub: id,
    aud: issuer,
    iat: seconds,
    exp: seconds + ASSERTION_SECONDS,
    jti: randomUUID(),
  };
  const content = [{ alg: algorithm, typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const hash = algorithm === 'EdDSA' ? null : 'sha256';
  const signature = sign(hash, Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}
