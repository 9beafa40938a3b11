import {
  checkResourceAllowed,
  computeScopeUnion,
  discoverOAuthServerInfo,
  resourceUrlFromServerUrl,
  type AuthorizationServerMetadata,
  type FetchLike,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import { MusterError } from '../base/errors.ts';
import type { LoginDemand } from '../protocol/mcp-login.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import { quoteOneLine } from './session-errors.ts';

const OFFLINE_ACCESS = 'offline_access';

/** A server whose authorization server is to be found. */
export interface IssuerRequest {
  readonly server: URL;
  readonly settings: Pick<OAuthSettings, 'issuer'> | null;
  /** The demand of the server; null if it has made none. */
  readonly demand: LoginDemand | null;
  /** Sends the requests, and rejects those to addresses that are not allowed. */
  readonly fetch: FetchLike;
}

/** The authorization server of an MCP server. */
export interface FoundIssuer {
  readonly authorizationServerUrl: string;
  /** The document of the authorization server. Undefined for one of an older revision without such a document. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly issuer: string;
  /** The resource for which tokens are requested, unless the server has no document about itself. */
  readonly resource: string | undefined;
  /** The scopes that the server names. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * Finds the authorization server of an MCP server. Rejects with MusterError if the server names none, or another one than
 * the entry, and with the errors of the SDK for a wrong answer.
 */
export async function discoverIssuer(request: IssuerRequest): Promise<FoundIssuer> {
  const { server, settings, demand, fetch } = request;
  const resourceMetadataUrl = URL.parse(demand?.resourceMetadataUrl ?? '') ?? undefined;
  const found = await discoverOAuthServerInfo(server, {
    fetchFn: fetch,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  if (demand === null && resourceMetadata === undefined) {
    const reason = 'the server does not ask for a login, and names no authorization server';
    throw new MusterError('INVALID_PARAM', reason);
  }
  const issuer = metadata?.issuer ?? authorizationServerUrl;
  const expected = settings?.issuer ?? null;
  if (expected !== null && withoutSlash(issuer) !== withoutSlash(expected)) {
    const reason = `the server names the authorization server ${quoteOneLine(issuer)} instead of ${expected}, the one of its entry, so it gets nothing`;
    throw new MusterError('PERMISSION_DENIED', reason);
  }
  const resource = findResource(server, resourceMetadata);
  const scopes = resourceMetadata?.scopes_supported;
  return { authorizationServerUrl, metadata, issuer, resource, scopes };
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/** Returns the resource for which tokens are requested. Throws if the server's document is about another resource. */
function findResource(
  server: URL,
  metadata: OAuthProtectedResourceMetadata | undefined,
): string | undefined {
  if (metadata === undefined) return undefined;
  const requestedResource = resourceUrlFromServerUrl(server);
  if (checkResourceAllowed({ requestedResource, configuredResource: metadata.resource })) {
    return metadata.resource;
  }
  throw new MusterError(
    'PERMISSION_DENIED',
    `its description is about another server (${quoteOneLine(metadata.resource)}), so no token is requested`,
  );
}

/** The scopes that are named in different places. */
export interface NamedScopes {
  readonly settings: Pick<OAuthSettings, 'scopes'> | null;
  readonly demanded: string | null;
  readonly earlier: string | null;
  readonly ofResource: readonly string[] | undefined;
  readonly ofIssuer: readonly string[] | undefined;
}

/**
 * Chooses the scopes of a login: those of the entry, or those that the server demands, or all that it names; together
 * with those of an earlier login. A right to renew the tokens is added if the authorization server has one.
 */
export function chooseScope(named: NamedScopes): string | undefined {
  const { demanded, earlier } = named;
  const own = named.settings?.scopes ?? null;
  if (own !== null) return computeScopeUnion(own.join(' '), earlier ?? '', demanded ?? '');
  const scope = computeScopeUnion(earlier ?? '', demanded ?? named.ofResource?.join(' ') ?? '');
  const isOffered = named.ofIssuer?.includes(OFFLINE_ACCESS) === true;
  return scope !== undefined && isOffered ? computeScopeUnion(scope, OFFLINE_ACCESS) : scope;
}
