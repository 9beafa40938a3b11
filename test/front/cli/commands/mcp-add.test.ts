import { describe, expect, test } from 'vitest';
import { parse } from '../parse.ts';

const failure = (...argv: readonly string[]): Promise<unknown> =>
  parse(['mcp', ...argv]).then(
    () => 'accepted',
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : thrown),
  );

test.each([
  [
    ['add', 'x', 'notaurl'],
    '"notaurl" is neither a URL nor a command after --; write "muster mcp add x -- notaurl" for a program, or "muster mcp add x https://…" for an address',
  ],
  [
    ['add', 'my server', 'mcp.example.org/mcp'],
    `"mcp.example.org/mcp" is neither a URL nor a command after --; write "muster mcp add 'my server' -- mcp.example.org/mcp" for a program, or "muster mcp add 'my server' https://mcp.example.org/mcp" for an address`,
  ],
  [
    ['add', 'x', 'server.io/mcp', 'my server.js'],
    `"server.io/mcp" is neither a URL nor a command after --; write "muster mcp add x -- server.io/mcp 'my server.js'" for a program, or "muster mcp add x https://…" for an address`,
  ],
  [['add', 'x'], 'muster mcp add needs a URL, or a command after --: muster mcp add x -- COMMAND'],
  [
    ['add', '-t', 'http', 'x', 'node', 'server.js'],
    '--transport http needs a URL that begins with http:// or https://, not "node"',
  ],
  [
    ['add', '-t', 'stdio', 'x', 'https://a'],
    '--transport stdio is for a command, and "https://a" is a URL: leave out --transport, or write http or sse',
  ],
  [
    ['add', '-t', 'ws', 'x', 'https://a'],
    '--transport must be one of stdio, http, sse, streamable-http, not "ws"',
  ],
  [
    ['add', '-s', 'local', 'x', 'https://a'],
    '--scope local: Muster has no servers of yours for one project only; use user (your own file, for all projects) or project (.mcp.json of this project)',
  ],
  [['add', '-s', 'global', 'x', 'https://a'], '--scope must be one of user, project, not "global"'],
  [
    ['add', '-s', 'user', '--project', 'x', 'https://a'],
    '--project and --scope user contradict each other: remove one of them',
  ],
  [
    ['add', 'x', '-e', 'A=secret', 'B=secret', '--', 'node'],
    '"B" is neither a command nor a URL; repeat --env before each of its values',
  ],
  [
    ['add', 'x', '-H', 'A: secret', 'B: secret', 'https://a'],
    '"B" is neither a command nor a URL; repeat --header before each of its values',
  ],
  [['add', 'x', 'https://a', '-e', 'A=1'], '--env is for a command, not for a URL'],
  [['add', 'x', '-H', 'A: 1', '--', 'node'], '--header is for a URL, not for a command'],
  [['add', 'x', '--client-id', 'a', '--', 'node'], '--client-id is for a URL, not for a command'],
  [['add', 'x', '--url', 'https://a', 'node'], 'unknown argument after the URL: node'],
  [
    ['add', 'x', '--url', 'a.example/mcp'],
    expect.stringContaining('"a.example/mcp" is neither a URL'),
  ],
  [
    ['add', 'x', 'npx', '-y', 'server'],
    '--yes does not go with muster mcp add; a command that has flags goes after --: muster mcp add x -- npx …',
  ],
  [
    ['add', 'x', 'npx', 'server', '--listen=1'],
    'unknown flag --listen; a command that has flags goes after --: muster mcp add x -- npx …',
  ],
  [
    ['add', 'x', 'https://a', '--trust'],
    'unknown flag --trust; no server is trusted as a whole; allow its tools with a permission rule: mcp__NAME, or mcp__NAME__TOOL',
  ],
  [
    ['add', 'x', 'https://a', '--client-secret'],
    'unknown flag --client-secret; add the server with "muster mcp add-json" and oauth: { client_id, client_secret_env, issuer }, which names the variable with the secret',
  ],
  [
    ['add', 'x', 'https://a', '--heade', 'A: 1'],
    expect.stringContaining('unknown flag --heade; valid, nearest first: --header, '),
  ],
  [['add', 'x', 'https://a', '--callback-port', '70000'], '--callback-port must be at most 65535'],
  [
    ['add', 'x', 'https://a', '--timeout', '10'],
    '--timeout must be a whole number of at least 1000, not "10"',
  ],
  [
    ['add', 'x', 'ftp://a'],
    '"ftp://a" is no address of an MCP server: it must begin with http:// or https://',
  ],
  [
    ['add', 'x', '--', 'ws://a'],
    '"ws://a" is no address of an MCP server: it must begin with http:// or https://',
  ],
  [
    ['add', 'a\nb', '--', 'node'],
    String.raw`the name "a\nb" contains a line break or another control character`,
  ],
  [
    ['add-json', 'a\u001b', '{}'],
    String.raw`the name "a\u001b" contains a line break or another control character`,
  ],
  [
    ['add', 'x', '--env', 'A=b\nc', '--', 'node'],
    '--env NAME=VALUE: "A" or its value contains a line break or another control character',
  ],
  [
    ['add', 'x', '--header', 'A: b\r\nc', 'https://a'],
    '--header "Name: value": "A" or its value contains a line break or another control character',
  ],
  [
    ['add', 'x', '--env', 'A\n', '--', 'node'],
    String.raw`"A\n" is not of the form --env NAME=VALUE`,
  ],
])('muster mcp %j is an error that says what to write', async (argv, message) => {
  expect(await failure(...argv)).toEqual(message);
});

test.each([
  [['add', 'x', '--', 'notaurl'], { command: 'notaurl', args: [] }],
  [['add', 'x', '--', 'node', 'a b'], { command: 'node', args: ['a b'] }],
  [['add', 'x', 'https://a'], { type: 'http', url: 'https://a' }],
  [['add', 'x', '--env', 'A=1=2', '--', 'node'], { command: 'node', args: [], env: { A: '1=2' } }],
])('muster mcp %j adds a server', async (argv, entry) => {
  expect((await parse(['mcp', ...argv])).options).toMatchObject({ name: 'x', entry });
});

describe('the commands of other agents are understood:', () => {
  const http = (url: string, more: object = {}) => ({ type: 'http', url, ...more });
  const stdio = (command: string, args: readonly string[], more: object = {}) => ({
    command,
    args,
    ...more,
  });

  test.each([
    // Claude Code
    ['--transport http x https://a/mcp', http('https://a/mcp')],
    ['--transport streamable-http x https://a/mcp', http('https://a/mcp')],
    ['-t sse x https://a/sse', { type: 'sse', url: 'https://a/sse' }],
    ['-t http x ${SERVER_URL}', http('${SERVER_URL}')],
    [
      '--transport http x https://a -H K:1 --header L:2',
      http('https://a', { headers: { K: '1', L: '2' } }),
    ],
    [
      '-t stdio x -e A=1 --env B=2 -- npx -y server',
      stdio('npx', ['-y', 'server'], { env: { A: '1', B: '2' } }),
    ],
    ['x npx server@latest -s user', stdio('npx', ['server@latest'])],
    [
      '-t http --client-id me --callback-port 8080 x https://a',
      http('https://a', { oauth: { client_id: 'me', callback_port: 8080 } }),
    ],
    // Codex
    ['x --env A=1 -- npx -y server', stdio('npx', ['-y', 'server'], { env: { A: '1' } })],
    ['x --url https://a/mcp', http('https://a/mcp')],
    [
      'x --url https://a --bearer-token-env-var TOKEN',
      http('https://a', { headers: { Authorization: 'Bearer ${TOKEN}' } }),
    ],
    // Gemini CLI
    ['-t stdio x ./server', stdio('./server', [])],
    ['-e A=1 x python server.py', stdio('python', ['server.py'], { env: { A: '1' } })],
    [
      '--timeout 5000 --include-tools a,b --exclude-tools c x https://a',
      http('https://a', { timeout: 5000, tools: ['a', 'b'], disabled_tools: ['c'] }),
    ],
  ])('%s', async (line, entry) => {
    const { options } = await parse(['mcp', 'add', ...line.split(' ')]);
    expect(options).toEqual({ name: 'x', entry, scope: 'user', cwd: null });
  });

  test.each([
    ['add -s project x https://a', 'project'],
    ['add --project x https://a', 'project'],
    ['add x https://a', 'user'],
    ['add-json --scope project x {}', 'project'],
  ])('%s: the scope is %s', async (line, scope) => {
    expect((await parse(['mcp', ...line.split(' ')])).options).toMatchObject({ scope });
  });

  test.each([
    ['remove x', ['user', 'project']],
    ['remove -s user x', ['user']],
  ])('%s looks at the files of %j', async (line, scopes) => {
    expect((await parse(['mcp', ...line.split(' ')])).options).toEqual({
      name: 'x',
      scopes,
      cwd: null,
    });
  });
});
