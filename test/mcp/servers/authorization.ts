import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startHttpServer, startStreamingServer, type HttpServer } from './http.ts';

/** What an authorization server does, which tests may change at any time. */
export interface AuthorizationBehaviour {
  /** Fields that are added to its metadata, or that replace others. `undefined` removes a field. */
  metadata: Record<string, unknown>;
  /** The parameters of the answer to a browser that are added, or that replace others. `undefined` removes one. */
  answer: Record<string, string | undefined>;
  /** The lifetime of access tokens in seconds. */
  expiresIn: number;
  /** The error with which token requests are answered; null for none. */
  tokenError: string | null;
  /** The milliseconds that a renewal takes. */
  renewalMs: number;
}

export interface AuthorizationServer extends HttpServer {
  readonly behaviour: AuthorizationBehaviour;
  /** The valid access tokens with their resources. */
  readonly accessTokens: Map<string, { readonly resource: string | null; readonly scope: string }>;
  /** The parameters of the requests to each endpoint. */
  readonly received: Record<
    'register' | 'authorize' | 'token' | 'revoke',
    Record<string, unknown>[]
  >;
}

interface Code {
  readonly challenge: string;
  readonly resource: string | null;
  readonly scope: string;
  readonly redirectUrl: string;
}

/** Starts an authorization server that agrees to everything and whose refresh tokens can be used once. */
export async function startAuthorizationServer(
  change: Partial<AuthorizationBehaviour> = {},
): Promise<AuthorizationServer> {
  const behaviour: AuthorizationBehaviour = {
    metadata: {},
    answer: {},
    expiresIn: 3600,
    tokenError: null,
    renewalMs: 0,
    ...change,
  };
  const received: AuthorizationServer['received'] = {
    register: [],
    authorize: [],
    token: [],
    revoke: [],
  };
  const accessTokens: AuthorizationServer['accessTokens'] = new Map();
  const refreshTokens = new Map<string, Pick<Code, 'resource' | 'scope'>>();
  const codes = new Map<string, Code>();
  const issue = (grant: Pick<Code, 'resource' | 'scope'>) => {
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    accessTokens.set(access, grant);
    refreshTokens.set(refresh, grant);
    return {
      access_token: access,
      token_type: 'Bearer',
      expires_in: behaviour.expiresIn,
      refresh_token: refresh,
      scope: grant.scope,
    };
  };
  const server = await startHttpServer(async (request, response) => {
    const url = new URL(request.url ?? '', server.url);
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        sendJson(response, 200, {
          issuer: server.url,
          authorization_endpoint: `${server.url}/authorize`,
          token_endpoint: `${server.url}/token`,
          registration_endpoint: `${server.url}/register`,
          revocation_endpoint: `${server.url}/revoke`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
          ...behaviour.metadata,
        });
        return;
      case '/register': {
        const registered = JSON.parse(await readBody(request)) as Record<string, unknown>;
        received.register.push(registered);
        sendJson(response, 201, { ...registered, client_id: `client-${received.register.length}` });
        return;
      }
      case '/authorize': {
        const query = Object.fromEntries(url.searchParams);
        received.authorize.push(query);
        const code = randomUUID();
        codes.set(code, {
          challenge: query['code_challenge'] ?? '',
          resource: query['resource'] ?? null,
          scope: query['scope'] ?? '',
          redirectUrl: query['redirect_uri'] ?? '',
        });
        const back = new URL(query['redirect_uri'] ?? '');
        const answer = { code, state: query['state'], iss: server.url, ...behaviour.answer };
        for (const [name, value] of Object.entries(answer)) {
          if (value !== undefined) back.searchParams.set(name, value);
        }
        response.writeHead(302, { location: back.href }).end();
        return;
      }
      case '/token': {
        const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
        received.token.push(form);
        if (behaviour.tokenError !== null) {
          sendJson(response, 400, { error: behaviour.tokenError });
          return;
        }
        if (form['grant_type'] === 'client_credentials') {
          const grant = { resource: form['resource'] ?? null, scope: form['scope'] ?? '' };
          const { refresh_token: _, ...token } = issue(grant);
          sendJson(response, 200, token);
          return;
        }
        if (form['grant_type'] === 'refresh_token') {
          await new Promise((resolve) => setTimeout(resolve, behaviour.renewalMs));
          const token = form['refresh_token'] ?? '';
          const grant = refreshTokens.get(token);
          refreshTokens.delete(token);
          if (grant === undefined) sendJson(response, 400, { error: 'invalid_grant' });
          else sendJson(response, 200, issue(grant));
          return;
        }
        const code = codes.get(form['code'] ?? '');
        codes.delete(form['code'] ?? '');
        const hash = createHash('sha256').update(form['code_verifier'] ?? '');
        if (
          code === undefined ||
          hash.digest('base64url') !== code.challenge ||
          form['redirect_uri'] !== code.redirectUrl
        ) {
          sendJson(response, 400, { error: 'invalid_grant', error_description: 'wrong code' });
        } else {
          sendJson(response, 200, issue(code));
        }
        return;
      }
      case '/revoke': {
        const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
        received.revoke.push(form);
        accessTokens.delete(form['token'] ?? '');
        refreshTokens.delete(form['token'] ?? '');
        response.writeHead(200).end();
        return;
      }
      default:
        response.writeHead(404).end();
    }
  });
  return { ...server, behaviour, received, accessTokens };
}

/** What a server that demands a login does, which tests may change at any time. */
export interface ProtectedBehaviour {
  /** The scope without which calls of tools are refused. */
  callScope: string | null;
  /** Fields that are added to the document about the server, or that replace others. */
  metadata: Record<string, unknown>;
}

export interface ProtectedServer extends HttpServer {
  /** The address of the MCP server. */
  readonly mcp: string;
  readonly behaviour: ProtectedBehaviour;
  /** The tokens that it has received. */
  readonly tokens: readonly string[];
}

/** Starts the MCP server of `everything.mjs`, which accepts only tokens that were issued for it. */
export async function startProtectedServer(
  issuer: Pick<AuthorizationServer, 'url' | 'accessTokens'>,
): Promise<ProtectedServer> {
  const behaviour: ProtectedBehaviour = { callScope: null, metadata: {} };
  const tokens: string[] = [];
  const server = await startStreamingServer({
    before: (request, response) => {
      const resource = `${server.url}/mcp`;
      const metadataUrl = `${server.url}/.well-known/oauth-protected-resource/mcp`;
      if (request.url === '/.well-known/oauth-protected-resource/mcp') {
        const document = { resource, authorization_servers: [issuer.url], ...behaviour.metadata };
        sendJson(response, 200, document);
        return;
      }
      const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      if (token !== '') tokens.push(token);
      const grant = issuer.accessTokens.get(token);
      const challenge = `Bearer resource_metadata="${metadataUrl}"`;
      if (grant?.resource !== resource) {
        const header = { 'www-authenticate': `${challenge}, scope="read"` };
        response.writeHead(401, header).end();
        return;
      }
      const isCall = request.headers['mcp-method'] === 'tools/call';
      const { callScope } = behaviour;
      if (isCall && callScope !== null && !grant.scope.split(' ').includes(callScope)) {
        const header = {
          'www-authenticate': `${challenge}, error="insufficient_scope", scope="${callScope}"`,
        };
        response.writeHead(403, header).end();
      }
    },
  });
  return { ...server, mcp: `${server.url}/mcp`, behaviour, tokens };
}

/** Does what a browser does whose user agrees: opens the page, and follows its redirect. Returns the last page. */
export async function agreeInBrowser(page: string): Promise<Response> {
  const { headers } = await fetch(page, { redirect: 'manual' });
  return await fetch(headers.get('location') ?? '');
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await request.toArray()).toString('utf8');
}
