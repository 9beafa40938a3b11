import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logIn, logOut, type LoginDialog } from '../../../src/api/mcp/login.ts';
import { listServers } from '../../../src/api/mcp/manage-servers.ts';
import { openLogins } from '../../../src/api/mcp/open-logins.ts';
import type { McpServerError } from '../../../src/mcp/server-error.ts';
import type { McpLogins } from '../../../src/mcp/server-login.ts';
import type { McpServerOrigin } from '../../../src/mcp/server-entry.ts';
import { Approvals } from '../../../src/trust/approvals.ts';
import type { StateOptions } from '../../../src/trust/state-directory.ts';
import {
  agreeInBrowser,
  startAuthorizationServer,
  startProtectedServer,
} from '../../mcp/servers/authorization.ts';
import { startStreamingServer } from '../../mcp/servers/http.ts';
import { createHost, firstText, FOREVER, readEntry, tempDirectory } from '../../mcp/support.ts';

interface User {
  readonly state: StateOptions;
  readonly credentials: string;
  /** Logs in with a browser whose user agrees. */
  readonly logIn: (name: string, dialog?: Partial<LoginDialog>) => ReturnType<typeof logIn>;
  readonly openLogins: (options?: Partial<McpLogins>) => McpLogins;
  readonly secrets: string[];
  readonly warnings: string[];
  readonly pages: string[];
}

/** Creates a user with servers in mcp.json. */
function createUser(servers: Readonly<Record<string, object>>): User {
  const home = tempDirectory();
  const [dataDir, cwd] = [join(home, 'data'), join(home, 'project')];
  const config = join(home, '.config/muster');
  for (const directory of [cwd, config]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(config, 'mcp.json'), JSON.stringify({ mcpServers: servers }));
  const state: StateOptions = { environment: {}, home, cwd, dataDir };
  const [secrets, warnings, pages]: [string[], string[], string[]] = [[], [], []];
  return {
    state,
    secrets,
    warnings,
    pages,
    credentials: join(dataDir, 'mcp-credentials.json'),
    logIn: (name, dialog = {}) =>
      logIn(name, state, {
        store: 'file',
        dialog: {
          showPage: ({ url }) => {
            pages.push(url);
            void agreeInBrowser(url);
          },
          askAddress: null,
          warn: (line) => void warnings.push(line),
          ...dialog,
        },
      }),
    openLogins: (options = {}) => {
      const logins = openLogins(state, {
        onSecret: (secret) => void secrets.push(secret),
        onNotice: (line) => void warnings.push(line),
        storesDemands: true,
      });
      if (logins === null) throw new Error(warnings.join());
      return { ...logins, ...options };
    },
  };
}

const echo = (text: string) => ['echo', { text }, { signal: FOREVER }] as const;

test('a login: discovery, registration, PKCE, tokens in a private file, and their use', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  const outcome = await user.logIn('issues');
  expect(outcome).toEqual({
    issuer: issuer.url,
    scope: 'read',
    isRenewable: true,
    place: `${user.credentials}, which only you can read`,
    keychainProblem: null,
    projectFile: null,
  });
  const redirect = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/) as string;
  expect(issuer.received).toMatchObject({
    register: [{ client_name: 'Muster', redirect_uris: [redirect], application_type: 'native' }],
    authorize: [
      {
        client_id: 'client-1',
        redirect_uri: redirect,
        code_challenge_method: 'S256',
        resource: server.mcp,
        scope: 'read',
      },
    ],
    token: [{ grant_type: 'authorization_code', resource: server.mcp, client_id: 'client-1' }],
  });
  expect(statSync(user.credentials).mode & 0o777).toBe(0o600);
  const host = createHost({ logins: user.openLogins() });
  const use = host.open(readEntry({ url: server.mcp }));
  expect(firstText(await use.callTool(...echo('hello')))).toBe('echo: hello');
  const [token = ''] = issuer.accessTokens.keys();
  expect(new Set(server.tokens)).toEqual(new Set([token]));
  // What hides secrets knows all tokens, and no list shows one.
  expect(user.secrets).toContain(token);
  const report = await listServers(user.state);
  expect(report.servers).toMatchObject([{ name: 'issues', login: 'stored' }]);
  expect(JSON.stringify(report)).not.toMatch(/access-|refresh-/);
});

test('without a login, the server is named with the command, and mcp list shows it', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  const host = createHost({ logins: user.openLogins() });
  const use = host.open(readEntry({ url: server.mcp }));
  await expect(use.start(FOREVER)).rejects.toMatchObject({
    message: 'MCP server s: it requires a login: run "muster mcp login s"',
    kind: 'login',
  });
  expect(host.connections.status()).toMatchObject([{ state: 'stopped' }]);
  expect((await listServers(user.state)).servers).toMatchObject([{ login: 'needed' }]);
  // The connection needs no restart after the login.
  await user.logIn('issues');
  expect(firstText(await use.callTool(...echo('hello')))).toBe('echo: hello');
});

test('tokens are renewed before they expire, and once after they were refused', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  await user.logIn('issues');
  let now = Date.now();
  const logins = user.openLogins({ now: () => now });
  const use = createHost({ logins }).open(readEntry({ url: server.mcp }));
  await use.callTool(...echo('first'));
  expect(issuer.received.token).toHaveLength(1);
  now += 3_590_000;
  await use.callTool(...echo('second'));
  expect(issuer.received.token).toHaveLength(2);
  // The server no longer knows the token.
  issuer.accessTokens.clear();
  expect(firstText(await use.callTool(...echo('third')))).toBe('echo: third');
  expect(issuer.received.token).toMatchObject([
    { grant_type: 'authorization_code' },
    { grant_type: 'refresh_token', resource: server.mcp },
    { grant_type: 'refresh_token', resource: server.mcp },
  ]);
  // Requests at the same time share a renewal.
  issuer.accessTokens.clear();
  await Promise.all([1, 2, 3, 4].map((each) => use.callTool(...echo(String(each)))));
  expect(issuer.received.token).toHaveLength(4);
  // The renewed tokens are stored, so another process can use them.
  const [newest = ''] = [...issuer.accessTokens.keys()].slice(-1);
  expect(readFileSync(user.credentials, 'utf8')).toContain(newest);
  expect(user.secrets).toContain(newest);
});

test('two processes that renew at the same time send one request and keep the new refresh token', async () => {
  const issuer = await startAuthorizationServer({ renewalMs: 50 });
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  await user.logIn('issues');
  const uses = [1, 2, 3].map(() =>
    createHost({ logins: user.openLogins() }).open(readEntry({ url: server.mcp })),
  );
  await Promise.all(uses.map((use) => use.start(FOREVER)));
  for (const round of [1, 2]) {
    issuer.accessTokens.clear();
    // oxlint-disable-next-line no-await-in-loop -- the second round uses the tokens of the first one
    const results = await Promise.all(uses.map((use) => use.callTool(...echo('x'))));
    expect(results.map(firstText)).toEqual(['echo: x', 'echo: x', 'echo: x']);
    expect(issuer.received.token).toHaveLength(1 + round);
  }
});

test('a login that has ended is named in a running session, and other servers go on', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const open = await startStreamingServer();
  const user = createUser({ issues: { url: server.mcp } });
  await user.logIn('issues');
  const host = createHost({ logins: user.openLogins() });
  const [use, other] = [server.mcp, open.url].map((url) => host.open(readEntry({ url })));
  await use?.callTool(...echo('x'));
  issuer.accessTokens.clear();
  issuer.behaviour.tokenError = 'invalid_grant';
  const error = (await use?.callTool(...echo('x')).catch((thrown: unknown) => thrown)) as
    | McpServerError
    | undefined;
  expect([error?.kind, error?.message]).toEqual([
    'login',
    'MCP server s: its login has ended (the authorization server answered invalid_grant): run "muster mcp login s"',
  ]);
  expect(other && firstText(await other.callTool(...echo('y')))).toBe('echo: y');
  expect((await listServers(user.state)).servers).toMatchObject([{ login: 'needed' }]);
  issuer.behaviour.tokenError = null;
  await user.logIn('issues');
  expect(use && firstText(await use.callTool(...echo('z')))).toBe('echo: z');
});

test('a server that demands more rights names them, and the next login asks for all of them', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  server.behaviour.callScope = 'write';
  const user = createUser({ issues: { url: server.mcp } });
  await user.logIn('issues');
  const use = createHost({ logins: user.openLogins() }).open(readEntry({ url: server.mcp }));
  await expect(use.callTool(...echo('x'))).rejects.toThrow(
    'it demands a login with more rights (scopes: write): run "muster mcp login s"',
  );
  expect((await user.logIn('issues')).scope).toBe('read write');
  const again = createHost({ logins: user.openLogins() }).open(readEntry({ url: server.mcp }));
  expect(firstText(await again.callTool(...echo('x')))).toBe('echo: x');
});

test('two servers of one issuer have logins of their own', async () => {
  const issuer = await startAuthorizationServer();
  const [one, two] = [await startProtectedServer(issuer), await startProtectedServer(issuer)];
  const user = createUser({ one: { url: one.mcp }, two: { url: two.mcp } });
  await user.logIn('one');
  const host = createHost({ logins: user.openLogins() });
  const [first, second] = [one, two].map(({ mcp }) => host.open(readEntry({ url: mcp })));
  await first?.start(FOREVER);
  await expect(second?.start(FOREVER)).rejects.toMatchObject({ kind: 'login' });
  // The token of the first server was not sent to the second one.
  expect(two.tokens).toEqual([]);
  await user.logIn('two');
  await second?.start(FOREVER);
  expect(two.tokens.filter((token) => one.tokens.includes(token))).toEqual([]);
  await logOut('one', user.state);
  expect((await listServers(user.state)).servers).toMatchObject([
    { name: 'one', login: null },
    { name: 'two', login: 'stored' },
  ]);
});

test.each<[string, Record<string, string | undefined>, string]>([
  [
    'of another issuer',
    { iss: 'https://evil.example' },
    'an answer names the issuer https://evil.example instead of http://127.0.0.1',
  ],
  ['without the issuer', { iss: undefined }, 'an answer names no issuer instead of http://127'],
  [
    'that refuses',
    { code: undefined, error: 'access_denied', error_description: 'no \u001b[31mway' },
    'the authorization server did not agree: access_denied: no ',
  ],
  [
    'without a code',
    { code: undefined },
    'the authorization server did not agree: the answer has no code',
  ],
])('an answer %s is not used', async (_, answer, message) => {
  const issuer = await startAuthorizationServer({ answer });
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  const error = (await user.logIn('issues').catch((thrown: unknown) => thrown)) as Error;
  expect(error.message).toContain(`no login to issues: ${message}`);
  expect(error.message).not.toContain('\u001b');
  expect(issuer.received.token).toEqual([]);
});

test('an answer with a wrong state is refused, and the login waits for its own one', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  const statuses: number[] = [];
  await user.logIn('issues', {
    showPage: ({ url }) => {
      const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'stolen');
      back.searchParams.set('state', 'wrong');
      void (async () => {
        statuses.push((await fetch(back)).status, (await fetch(new URL('/', back))).status);
        statuses.push((await agreeInBrowser(url)).status);
      })();
    },
  });
  expect(statuses.slice(0, 2)).toEqual([400, 404]);
  expect(user.warnings).toEqual([
    'A program sent an answer that does not belong to this login. It was not used.',
  ]);
  expect(issuer.received.token).toHaveLength(1);
});

test('an address that is pasted ends the login, and a wrong one is asked for again', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  const answers = ['', 'nonsense', 'http://127.0.0.1:1/callback?code=x&state=y'];
  let page = '';
  await user.logIn('issues', {
    showPage: ({ url }) => void (page = url),
    askAddress: async () => {
      const next = answers.shift();
      if (next !== undefined) return next;
      const { headers } = await fetch(page, { redirect: 'manual' });
      return headers.get('location');
    },
  });
  expect(user.warnings).toHaveLength(2);
  expect((await listServers(user.state)).servers).toMatchObject([{ login: 'stored' }]);
});

test('nobody agrees in time', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  const dialog = { showPage: () => {}, askAddress: null, warn: () => {} };
  await expect(
    logIn('issues', user.state, { dialog, store: 'file', answerMs: 5 }),
  ).rejects.toMatchObject({ code: 'TIMEOUT' });
});

test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
  ['another issuer', { issuer: 'https://evil.example' }, {}, 'an answer names the issuer'],
  ['no PKCE', { code_challenge_methods_supported: undefined }, {}, 'PKCE with S256'],
  [
    'a page that is no web page',
    { authorization_endpoint: 'file:///etc/passwd' },
    {},
    'must begin with https:// or http://',
  ],
  [
    'a page without https',
    { authorization_endpoint: 'http://auth.example/authorize' },
    {},
    'it must begin with https',
  ],
  [
    'an address without https for registration',
    { registration_endpoint: 'http://auth.example/register' },
    {},
    'http://auth.example/register: an address that the server named was not used: it must begin',
  ],
  [
    'no registration',
    { registration_endpoint: undefined },
    {},
    'registers no programs. Register Muster there by hand',
  ],
  ['another resource', {}, { resource: 'https://evil.example/mcp' }, 'about another server'],
  [
    'an address of a cloud',
    {},
    { authorization_servers: ['https://169.254.169.254'] },
    'no request was sent: 169.254.169.254 is an address of a cloud metadata service',
  ],
])('metadata with %s is refused', async (_, metadata, resource, message) => {
  const issuer = await startAuthorizationServer({ metadata });
  const server = await startProtectedServer(issuer);
  Object.assign(server.behaviour.metadata, resource);
  const user = createUser({ issues: { url: server.mcp } });
  await expect(user.logIn('issues')).rejects.toThrow(message);
  expect(issuer.received).toMatchObject({ authorize: [], token: [] });
});

test('the client of the entry, or a document that describes Muster, needs no registration', async () => {
  const issuer = await startAuthorizationServer({
    metadata: { client_id_metadata_document_supported: true },
  });
  const server = await startProtectedServer(issuer);
  const document = 'https://muster.example/client.json';
  const user = createUser({
    known: { url: server.mcp, oauth: { client_id: 'me', scopes: ['read', 'extra'] } },
    described: { url: server.mcp, oauth: { client_metadata_url: document } },
  });
  await user.logIn('known');
  await user.logIn('described');
  expect(issuer.received.register).toEqual([]);
  expect(issuer.received.authorize).toMatchObject([
    { client_id: 'me', scope: 'read extra' },
    { client_id: document },
  ]);
});

test('a server of a project does not use the login to the same address of another entry', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  const file = join(user.state.cwd, '.mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { theirs: { url: server.mcp } } }));
  const approvals = new Approvals(user.state);
  approvals.approve(await approvals.propose([]));
  await user.logIn('issues');
  const host = createHost({ logins: user.openLogins() });
  const open = (origin?: McpServerOrigin) => host.open(readEntry({ url: server.mcp }, origin));
  const project = { scope: 'project', file } as const;
  const refusal = 'it requires a login';
  await expect(open(project).start(FOREVER)).rejects.toThrow(refusal);
  const logins = async () =>
    (await listServers(user.state)).servers.map(({ name, login }) => [name, login]);
  expect(await logins()).toEqual([
    ['issues', 'stored'],
    ['theirs', 'needed'],
  ]);
  expect(await user.logIn('theirs')).toMatchObject({ projectFile: file });
  expect(await logins()).toEqual([
    ['issues', 'stored'],
    ['theirs', 'stored'],
  ]);
  await open(project).start(FOREVER);
  const others = [
    { ...project, file: '/other/.mcp.json' },
    { scope: 'project', file: join(user.state.cwd, '.claude/agents/a.md'), definition: 'a' },
  ] as const;
  for (const origin of others) await expect(open(origin).start(FOREVER)).rejects.toThrow(refusal);
  // The servers of the user's own definitions are the user's.
  await open({ scope: 'user', file: '/agents/mine.md', definition: 'mine' }).start(FOREVER);
  expect(new Set(server.tokens).size).toBe(2);
  expect(await logOut('theirs', user.state)).toMatchObject({ kind: 'revoked' });
  expect(await logins()).toEqual([
    ['issues', 'stored'],
    ['theirs', null],
  ]);
  // The address stands for all logins to the server.
  await user.logIn('theirs');
  expect(await logOut(server.mcp, user.state)).toMatchObject({ kind: 'revoked' });
  expect(issuer.accessTokens.size).toBe(0);
  expect(await logOut(server.mcp, user.state)).toEqual({ kind: 'none', problem: null });
});

test('a client secret goes to no authorization server that only the MCP server names', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const oauth = { client_id: 'me', client_secret: 'hidden' };
  const user = createUser({
    open: { url: server.mcp, oauth },
    bound: { url: server.mcp, oauth: { ...oauth, issuer: issuer.url } },
    other: { url: server.mcp, oauth: { ...oauth, issuer: 'https://other.example' } },
  });
  await expect(user.logIn('open')).rejects.toThrow(
    `no login to open: its entry has a client_secret without an issuer, so the server would decide who gets the secret. It names ${issuer.url}: if that is right, write "issuer": "${issuer.url}" beside the client_secret`,
  );
  await expect(user.logIn('other')).rejects.toThrow('instead of https://other.example');
  expect([user.pages, issuer.received.token]).toEqual([[], []]);
  await user.logIn('bound');
  expect(issuer.received.token).toHaveLength(1);
});

test.each<[string, string, object]>([
  ['a secret', 'client_secret_post', { client_secret: 'hidden' }],
  [
    'a key',
    'private_key_jwt',
    {
      private_key: generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
    },
  ],
])(
  'a program logs in by itself with %s, only at the issuer of its entry',
  async (_, method, key) => {
    const issuer = await startAuthorizationServer({
      expiresIn: 3600,
      metadata: { token_endpoint_auth_methods_supported: [method] },
    });
    const server = await startProtectedServer(issuer);
    let now = Date.now();
    const program = { grant_type: 'client_credentials', client_id: 'me', ...key };
    const entry = { url: server.mcp, oauth: { ...program, issuer: issuer.url } };
    const user = createUser({ s: entry });
    const use = createHost({ logins: user.openLogins({ now: () => now }) }).open(readEntry(entry));
    expect(firstText(await use.callTool(...echo('x')))).toBe('echo: x');
    expect(issuer.received.token).toMatchObject([
      {
        grant_type: 'client_credentials',
        scope: 'read',
        resource: server.mcp,
        ...(method === 'private_key_jwt'
          ? { client_assertion: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]{86}$/) as string }
          : { client_id: 'me', client_secret: 'hidden' }),
      },
    ]);
    now += 3_600_000;
    await use.callTool(...echo('y'));
    expect(issuer.received.token).toHaveLength(2);
    expect(user.secrets).toHaveLength(2);
    await expect(user.logIn('s')).rejects.toThrow('s logs in by itself');
    const other = { url: server.mcp, oauth: { ...program, issuer: 'https://other.example' } };
    const misled = createHost({ logins: user.openLogins() }).open(readEntry(other));
    await expect(misled.start(FOREVER)).rejects.toThrow(
      `it could not be logged in to: the server names the authorization server ${issuer.url} instead of https://other.example`,
    );
    expect(issuer.received.token).toHaveLength(2);
  },
);

test('a logout revokes the tokens and deletes them', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  const user = createUser({ issues: { url: server.mcp } });
  await user.logIn('issues');
  expect(await logOut('issues', user.state)).toEqual({ kind: 'revoked', problem: null });
  expect(issuer.received.revoke).toMatchObject([
    { token_type_hint: 'refresh_token', client_id: 'client-1' },
    { token_type_hint: 'access_token', client_id: 'client-1' },
  ]);
  expect(readFileSync(user.credentials, 'utf8')).not.toMatch(/access-|refresh-/);
  expect(await logOut(server.mcp, user.state)).toEqual({ kind: 'none', problem: null });
  issuer.behaviour.metadata = { revocation_endpoint: undefined };
  await user.logIn('issues');
  expect(await logOut(server.mcp, user.state)).toEqual({
    kind: 'removed',
    problem: `${issuer.url} offers no way to revoke tokens`,
  });
});

test.each<[object, string]>([
  [{ command: 'node' }, 'runs as a process'],
  [
    { url: 'http://127.0.0.1:9/', headers: { authorization: 'Bearer x' } },
    'has an Authorization header, which is sent instead of a login',
  ],
])('a server without a login: %j', async (entry, message) => {
  await expect(createUser({ s: entry }).logIn('s')).rejects.toThrow(message);
});

test('logins that a project has brought along, or that others can read, are not used', async () => {
  const user = createUser({});
  const { state, credentials } = user;
  const inProject = { ...state, dataDir: join(state.cwd, 'data') };
  const dialog = { showPage: () => {}, askAddress: null, warn: () => {} };
  const notices: string[] = [];
  const open = (options: StateOptions) =>
    openLogins(options, {
      onSecret: () => {},
      onNotice: (line) => void notices.push(line),
      storesDemands: true,
    });
  expect(open(inProject)).toBeNull();
  mkdirSync(state.dataDir ?? '', { mode: 0o700 });
  writeFileSync(credentials, '{"version": 1, "servers": []}', { mode: 0o644 });
  expect(open(state)).toBeNull();
  const unused = 'No stored login to an MCP server is used: ';
  expect(notices).toEqual([
    expect.stringMatching(`^${unused}the data directory .* is inside the project`),
    expect.stringMatching(`^${unused}.* others can use it`),
  ]);
  await expect(logIn('s', inProject, { dialog, store: 'file' })).rejects.toThrow();
});

test('a server that asks for no login is named as such', async () => {
  const { url } = await startStreamingServer();
  const user = createUser({ s: { url } });
  await expect(user.logIn('s')).rejects.toThrow('no login to s: the server does not ask');
});
