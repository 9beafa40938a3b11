import {
  computeScopeUnion,
  exchangeAuthorization,
  isHttpsUrl,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
  type AuthorizationServerMetadata,
  type FetchLike,
  type OAuthClientInformationMixed,
} from '@modelcontextprotocol/client';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { MusterError } from '../base/errors.ts';
import type { LoginDemand, McpLogin } from '../protocol/mcp-login.ts';
import { chooseScope, discoverIssuer } from './discover-issuer.ts';
import { checkTokenType, toTokenFields } from './login-tokens.ts';
import { describeOAuthFailure } from './oauth-errors.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import { quoteOneLine } from './session-errors.ts';

/** The name under which Muster registers at authorization servers. */
const CLIENT_NAME = 'Muster';
const CHALLENGE_METHOD = 'S256';
/** The maximum length of the address that a browser opens. */
const MAX_URL_LENGTH = 16_384;

/** A login to begin. */
export interface LoginRequest {
  readonly server: URL;
  readonly settings: OAuthSettings | null;
  /** The demand of the server; null if it has made none. */
  readonly demand: LoginDemand | null;
  /** The scopes that the server has demanded before. Null for none. */
  readonly demandedBefore: string | null;
  /** The earlier login, whose scopes a new one of the same issuer keeps. Null for none. */
  readonly earlier: Pick<McpLogin, 'issuer' | 'scope'> | null;
  /** Sends the requests, and rejects those to addresses that are not allowed. */
  readonly fetch: FetchLike;
  /** The address on this machine to which the browser returns. */
  readonly redirectUrl: string;
  readonly now: () => number;
}

/** A login that waits for a person, who agrees to it in a browser. */
export interface PendingLogin {
  /** The page on which the person agrees. */
  readonly page: URL;
  readonly issuer: string;
  /** Tells whether an answer of the browser belongs to this login. */
  isOwnAnswer(answer: URLSearchParams): boolean;
  /** Exchanges the answer of the browser for tokens. Rejects with MusterError. */
  finish(answer: URLSearchParams): Promise<McpLogin>;
}

/**
 * Finds the authorization server of an MCP server, introduces Muster to it, and creates the address of the page on which
 * a person agrees. Rejects with MusterError.
 */
export async function beginLogin(request: LoginRequest): Promise<PendingLogin> {
  try {
    return await prepare(request);
  } catch (thrown) {
    throw describeOAuthFailure(thrown);
  }
}

async function prepare(request: LoginRequest): Promise<PendingLogin> {
  const { server, settings, demand, fetch, redirectUrl } = request;
  const found = await discoverIssuer(request);
  const { authorizationServerUrl, metadata, resource, issuer } = found;
  checkSecret(settings, issuer);
  checkChallengeMethod(metadata);
  const earlierScope = request.earlier?.issuer === issuer ? request.earlier.scope : null;
  const scope = chooseScope({
    settings,
    demanded: demand?.scope ?? null,
    earlier: computeScopeUnion(earlierScope ?? '', request.demandedBefore ?? '') ?? null,
    ofResource: found.scopes,
    ofIssuer: metadata?.scopes_supported,
  });
  const client = await findClient(request, { authorizationServerUrl, metadata, scope });
  const state = randomBytes(32).toString('base64url');
  const { authorizationUrl: page, codeVerifier } = await startAuthorization(
    authorizationServerUrl,
    {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation: client,
      redirectUrl,
      state,
      ...(scope === undefined ? {} : { scope }),
      ...(resource === undefined ? {} : { resource }),
    },
  );
  if (page.href.length > MAX_URL_LENGTH) {
    throw refuse(
      'LIMIT_EXCEEDED',
      `the address of its login page is longer than ${MAX_URL_LENGTH} characters`,
    );
  }
  return {
    page,
    issuer,
    isOwnAnswer: (answer) => isEqual(answer.get('state') ?? '', state),
    async finish(answer) {
      try {
        const iss = answer.get('iss') ?? undefined;
        const authorizationCode = readCode(answer, iss, metadata);
        const tokens = await exchangeAuthorization(authorizationServerUrl, {
          ...(metadata === undefined ? {} : { metadata }),
          clientInformation: client,
          authorizationCode,
          ...(iss === undefined ? {} : { iss }),
          codeVerifier,
          redirectUri: redirectUrl,
          ...(resource === undefined ? {} : { resource }),
          fetchFn: fetch,
        });
        checkTokenType(tokens);
        return {
          server: server.href,
          issuer,
          clientId: client.client_id,
          clientSecret: client.client_secret ?? null,
          authMethod: selectClientAuthMethod(
            client,
            metadata?.token_endpoint_auth_methods_supported ?? [],
          ),
          tokenEndpoint: metadata?.token_endpoint ?? new URL('/token', authorizationServerUrl).href,
          revocationEndpoint: findRevocationEndpoint(metadata),
          resource: resource ?? null,
          scope: tokens.scope ?? scope ?? null,
          ...toTokenFields(tokens, request.now()),
        };
      } catch (thrown) {
        throw describeOAuthFailure(thrown);
      }
    },
  };
}

/** Throws if a secret would go to an authorization server that nobody but the MCP server has named. */
function checkSecret(settings: OAuthSettings | null, named: string): void {
  if (settings === null || settings.clientSecret === null || settings.issuer !== null) return;
  const issuer = quoteOneLine(named);
  throw refuse(
    'INVALID_PARAM',
    `its entry has a client_secret without an issuer, so the server would decide who gets the secret. It names ${issuer}: if that is right, write "issuer": ${JSON.stringify(issuer)} beside the client_secret`,
  );
}

/** Throws unless the authorization server protects the code of a login, as the protocol requires. */
function checkChallengeMethod(metadata: AuthorizationServerMetadata | undefined): void {
  const methods =
    metadata === undefined ? [CHALLENGE_METHOD] : metadata.code_challenge_methods_supported;
  if (methods?.includes(CHALLENGE_METHOD) === true) return;
  throw refuse(
    'PERMISSION_DENIED',
    'its authorization server does not say that it supports PKCE with S256, without which a login is not safe',
  );
}

interface Issuer {
  readonly authorizationServerUrl: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly scope: string | undefined;
}

/** Returns the client of the entry, the document that describes Muster, or a client that is registered now. */
async function findClient(
  { settings, redirectUrl, fetch }: LoginRequest,
  { authorizationServerUrl, metadata, scope }: Issuer,
): Promise<OAuthClientInformationMixed> {
  const { clientId = null, clientSecret = null, clientMetadataUrl = null } = settings ?? {};
  if (clientId !== null) {
    return {
      client_id: clientId,
      ...(clientSecret === null ? {} : { client_secret: clientSecret }),
    };
  }
  if (clientMetadataUrl !== null && metadata?.client_id_metadata_document_supported === true) {
    if (isHttpsUrl(clientMetadataUrl)) return { client_id: clientMetadataUrl };
    throw refuse('INVALID_PARAM', 'oauth.client_metadata_url must be an https URL with a path');
  }
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw refuse(
      'INVALID_PARAM',
      `its authorization server ${quoteOneLine(metadata.issuer)} registers no programs. Register Muster there by hand, and write the id that you get as "oauth": {"client_id": "…"} into the entry of the server`,
    );
  }
  return await registerClient(authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    clientMetadata: {
      client_name: CLIENT_NAME,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: chooseAuthMethod(metadata?.token_endpoint_auth_methods_supported),
      application_type: 'native',
    },
    ...(scope === undefined ? {} : { scope }),
    fetchFn: fetch,
  });
}

/** Chooses the way in which a client proves who it is: none, if the server accepts that, since nobody can hide a secret in a program. */
function chooseAuthMethod(supported: readonly string[] = []): string {
  const order = ['none', 'client_secret_basic', 'client_secret_post'];
  return order.find((method) => supported.includes(method)) ?? 'none';
}

/** Returns the code in an answer. Throws before anything of the answer is used if another issuer has sent it. */
function readCode(
  answer: URLSearchParams,
  iss: string | undefined,
  metadata: AuthorizationServerMetadata | undefined,
): string {
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  });
  const error = answer.get('error');
  const code = answer.get('code');
  if (error === null && code !== null && code !== '') return code;
  const details = [error ?? 'the answer has no code', answer.get('error_description')];
  const text = quoteOneLine(details.filter((each) => each !== null).join(': '));
  throw refuse('PERMISSION_DENIED', `the authorization server did not agree: ${text}`);
}

function isEqual(given: string, expected: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}

function findRevocationEndpoint(metadata: AuthorizationServerMetadata | undefined): string | null {
  // The kinds of metadata share no type for this field.
  const { revocation_endpoint: endpoint } = Object(metadata) as Readonly<Record<string, unknown>>;
  return typeof endpoint === 'string' ? endpoint : null;
}

function refuse(
  code: 'INVALID_PARAM' | 'LIMIT_EXCEEDED' | 'PERMISSION_DENIED' | 'PROVIDER_ERROR',
  text: string,
): MusterError {
  return new MusterError(code, text);
}
