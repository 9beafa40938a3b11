import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DEFAULT_MCP_LIMITS,
  fingerprintServer,
  runsInSandbox,
  type McpServerOrigin,
} from '../../src/mcp/server-entry.ts';
import {
  describeMcpProblem,
  joinServerLists,
  readDefinitionServers,
  readMcpFile,
  readMcpServers,
} from '../../src/mcp/read-servers.ts';

const PROJECT: McpServerOrigin = { scope: 'project', file: '.mcp.json' };
const USER: McpServerOrigin = { scope: 'user', file: 'mcp.json' };

const ENTRY = {
  origin: PROJECT,
  limits: DEFAULT_MCP_LIMITS,
  isEnabled: true,
  sandbox: null,
  hasOwnConnection: false,
  tools: { only: null, except: [] },
};
const STDIO = { type: 'stdio', command: 'run', args: [], env: {}, cwd: null };
const HTTP = { type: 'http', url: 'https://x.dev/mcp', headers: {}, headersHelper: null };

function readOne(entry: unknown) {
  const { entries, problems } = readMcpServers({ s: entry }, PROJECT);
  return { entry: entries[0], problems: problems.map(describeMcpProblem) };
}

test.each<[string, unknown, object]>([
  ['a command', { command: 'run' }, STDIO],
  [
    'Claude Code',
    { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: '${A}', N: 1, B: true } },
    { ...STDIO, command: 'npx', args: ['-y', 'x'], env: { A: '${A}', N: '1', B: 'true' } },
  ],
  [
    'OpenCode, local',
    { type: 'local', command: ['npx', '-y', 'x'], environment: { T: '{env:TOKEN}' } },
    { ...STDIO, command: 'npx', args: ['-y', 'x'], env: { T: '${TOKEN}' } },
  ],
  [
    'OpenCode, remote',
    { type: 'remote', url: 'https://x.dev/mcp', headers: { Authorization: 'Bearer {env:T}' } },
    { ...HTTP, headers: { Authorization: 'Bearer ${T}' } },
  ],
  ['goose', { type: 'stdio', cmd: 'run', envs: { A: 'b' } }, { ...STDIO, env: { A: 'b' } }],
  ['a directory', { command: 'run', cwd: 'sub' }, { ...STDIO, cwd: 'sub' }],
  ['a url alone', { url: 'https://x.dev/mcp' }, HTTP],
  ['Gemini', { httpUrl: 'https://x.dev/mcp' }, HTTP],
  ['Windsurf', { serverUrl: 'https://x.dev/mcp' }, HTTP],
  ['http', { type: 'http', url: 'https://x.dev/mcp' }, HTTP],
  ['streamable-http', { type: 'streamable-http', url: 'https://x.dev/mcp' }, HTTP],
  ['streamableHttp', { type: 'streamableHttp', url: 'https://x.dev/mcp' }, HTTP],
  ['streamable_http', { transport: 'streamable_http', url: 'https://x.dev/mcp' }, HTTP],
  ['http-stream', { type: 'http-stream', url: 'https://x.dev/mcp' }, HTTP],
  [
    'sse',
    { type: 'SSE', url: 'https://x.dev/sse' },
    { ...HTTP, type: 'sse', url: 'https://x.dev/sse' },
  ],
  [
    'Codex',
    {
      url: 'https://x.dev/mcp',
      bearer_token_env_var: 'TOKEN',
      http_headers: { A: 'b' },
      env_http_headers: { C: 'D' },
    },
    { ...HTTP, headers: { A: 'b', C: '${D}', Authorization: 'Bearer ${TOKEN}' } },
  ],
  [
    'a helper for headers',
    { url: 'https://x.dev/mcp', headersHelper: 'print-headers' },
    { ...HTTP, headersHelper: 'print-headers' },
  ],
  ['a url of variables', { url: '${BASE}/mcp' }, { ...HTTP, url: '${BASE}/mcp' }],
  [
    'a url with a variable',
    { url: 'https://${HOST:-x.dev}:${PORT}/mcp' },
    { ...HTTP, url: 'https://${HOST:-x.dev}:${PORT}/mcp' },
  ],
])('the transport of %s is read', (_, entry, transport) => {
  expect(readOne(entry)).toEqual({ entry: { ...ENTRY, name: 's', transport }, problems: [] });
});

test.each<[string, unknown, string]>([
  ['a text', 'npx x', 'the entry must be an object'],
  ['an empty entry', {}, 'it has neither a command nor a url'],
  [
    'ws',
    { type: 'ws', url: 'wss://x.dev' },
    'type: WebSocket is no transport of the protocol; use stdio, http or sse',
  ],
  [
    'an unknown type',
    { type: 'pigeon', url: 'https://x.dev' },
    'type: it must be stdio, http or sse',
  ],
  [
    'both',
    { command: 'run', url: 'https://x.dev' },
    'url: the entry has command as well: remove one of the two',
  ],
  ['no url', { type: 'http', command: 'run' }, 'url is missing'],
  [
    'no command',
    { type: 'stdio', url: 'https://x.dev' },
    'command must be a text or a list of texts',
  ],
  [
    'a command that is a number',
    { command: 7 },
    'command: command must be a text or a list of texts',
  ],
  ['an empty command', { command: ' ' }, 'command: command must be a text or a list of texts'],
  [
    'a file URL',
    { url: 'file:///etc/passwd' },
    'url: it must be a URL that begins with http:// or https://',
  ],
  [
    'a password in the URL',
    { url: 'https://a:b@x.dev' },
    'url: it must be a URL that begins with http:// or https://',
  ],
  [
    'arguments that are a text',
    { command: 'run', args: '-y' },
    'args: it must be a list of at most 500 texts',
  ],
  [
    'a zero byte',
    { command: 'run', args: ['a\0b'] },
    'args: it must be a list of at most 500 texts',
  ],
  ['an object as a variable', { command: 'run', env: { A: {} } }, 'env.A: it must be a text'],
  [
    'a variable of Muster',
    { command: 'run', env: { MUSTER_X: '1' } },
    'env.MUSTER_X: a server cannot get a variable of this name',
  ],
  [
    'a broken header',
    { url: 'https://x.dev', headers: { 'A b': 'c' } },
    'headers.A b: it is no valid HTTP header',
  ],
  [
    'a header of two lines',
    { url: 'https://x.dev', headers: { A: 'b\nC: d' } },
    'headers.A: it is no valid HTTP header',
  ],
  ['a negative limit', { command: 'run', timeout: -1 }, 'timeout: it must be a number above 0'],
  [
    'a flag that is a text',
    { command: 'run', disabled: 'yes' },
    'disabled: it must be true or false',
  ],
])('%s is an error that names file, server and field', (_, entry, message) => {
  expect(readOne(entry)).toEqual({
    entry: undefined,
    problems: [`.mcp.json: server s: ${message}`],
  });
});

test.each<[object, object]>([
  [{ timeout: 5000 }, { silenceMs: 5000 }],
  // Cline writes seconds.
  [{ timeout: 90 }, { silenceMs: 90_000 }],
  [{ timeout: 1_200_000 }, { silenceMs: 1_200_000, callMs: 1_200_000 }],
  [
    { startup_timeout_sec: 5, tool_timeout_sec: 7 },
    { startMs: 5000, silenceMs: 7000 },
  ],
  [{ startupTimeoutMs: 1500 }, { startMs: 1500 }],
  [
    { start_seconds: 1, call_seconds: 2, max_call_seconds: 3, idle_seconds: 4 },
    { startMs: 1000, silenceMs: 2000, callMs: 3000, idleMs: 4000 },
  ],
  [{ idle_seconds: 1e9 }, { idleMs: 86_400_000 }],
])('the limits %j are read in their units', (fields, limits) => {
  const { entry, problems } = readOne({ command: 'run', ...fields });
  expect(problems).toEqual([]);
  expect(entry?.limits).toEqual({ ...DEFAULT_MCP_LIMITS, ...limits });
});

test.each<[object, object]>([
  [{ disabled: true }, { isEnabled: false }],
  [{ enabled: false }, { isEnabled: false }],
  [{ enabled: true, disabled: false }, {}],
  [{ sandbox: true }, { sandbox: true }],
  [{ own_connection: true }, { hasOwnConnection: true }],
  [{ tools: ['*'] }, {}],
  [{ tools: [] }, { tools: { only: [], except: [] } }],
  [{ available_tools: [] }, {}],
  [{ available_tools: ['a'] }, { tools: { only: ['a'], except: [] } }],
  [{ tools: ['a', 'b'] }, { tools: { only: ['a', 'b'], except: [] } }],
  [{ includeTools: ['a'], excludeTools: ['b'] }, { tools: { only: ['a'], except: ['b'] } }],
  [{ enabled_tools: ['a'] }, { tools: { only: ['a'], except: [] } }],
  [{ description: 'd', name: 'n', icon: 'i' }, {}],
])('the fields %j are read', (fields, expected) => {
  expect(readOne({ command: 'run', ...fields })).toEqual({
    entry: { ...ENTRY, name: 's', transport: STDIO, ...expected },
    problems: [],
  });
});

test('a field without effect is a warning, and permissions of other products grant nothing', () => {
  const { entry, problems } = readOne({
    command: 'run',
    trust: true,
    autoApprove: ['x'],
    envFile: 'a',
  });
  expect(entry?.name).toBe('s');
  expect(problems).toEqual([
    '.mcp.json: server s: trust: it grants nothing in Muster: write a permission rule instead',
    '.mcp.json: server s: autoApprove: it grants nothing in Muster: write a permission rule instead',
    '.mcp.json: server s: envFile: this field has no effect in Muster',
  ]);
});

test.each<[string, string]>([
  ['Claude Code', '{"mcpServers": {"s": {"command": "run"}}}'],
  ['VS Code, with a comment', '{// mine\n"inputs": [], "servers": {"s": {"command": "run"},}}'],
  ['VS Code settings', '{"mcp": {"servers": {"s": {"command": "run"}}}}'],
  ['OpenCode', '{"mcp": {"s": {"type": "local", "command": ["run"]}}}'],
  ['the servers alone', '{"s": {"command": "run"}}'],
])('a file of %s is read', (_, text) => {
  const { entries, problems } = readMcpFile(text, PROJECT);
  expect({ names: entries.map(({ name, transport }) => [name, transport]), problems }).toEqual({
    names: [['s', STDIO]],
    problems: [],
  });
});

test.each<[string, string, string]>([
  ['no JSON', '{"mcpServers": ', 'it is not valid JSON: '],
  ['a list', '[]', 'it must contain a JSON object'],
  ['another file', '{"name": "x"}', 'it has no mcpServers'],
  [
    'servers that are a list',
    '{"mcpServers": []}',
    'the servers must be an object with a name for each server',
  ],
])('a file with %s is an error', (_, text, message) => {
  const { entries, problems } = readMcpFile(text, PROJECT);
  expect(entries).toEqual([]);
  expect(problems.map(describeMcpProblem)).toEqual([
    expect.stringContaining(`.mcp.json: ${message}`),
  ]);
});

test('one wrong entry does not lose the others', () => {
  const { entries, problems } = readMcpServers(
    {
      good: { command: 'a' },
      bad: { command: 1 },
      'two\nlines': { command: 'b' },
      more: { url: 'http://x' },
    },
    PROJECT,
  );
  expect(entries.map(({ name }) => name)).toEqual(['good', 'more']);
  expect(problems.map(({ server, severity }) => [server, severity])).toEqual([
    ['bad', 'error'],
    ['two\nlines', 'error'],
  ]);
});

test('more than 200 servers are an error, and the first 200 are read', () => {
  const many = Array.from({ length: 203 }, (_, index) => [`s${index}`, { command: 'a' }]);
  const { entries, problems } = readMcpServers(Object.fromEntries(many), PROJECT);
  expect(entries.length).toBe(200);
  expect(problems.map(describeMcpProblem)).toEqual([
    '.mcp.json: it has more than 200 servers; 3 servers left out',
  ]);
});

test('the first of several servers with one name counts', () => {
  const first = readMcpServers({ s: { command: 'a' }, t: { command: 'b' } }, USER);
  const second = readMcpServers({ s: { command: 'c' } }, PROJECT);
  const { entries, problems } = joinServerLists([first, second]);
  expect(entries).toEqual(first.entries);
  expect(problems.map(describeMcpProblem)).toEqual([
    '.mcp.json: server s: the server of the same name in mcp.json is used instead',
  ]);
});

test.each<[string, unknown, readonly string[], readonly string[]]>([
  ['names', ['github', 'linear'], ['github', 'linear'], []],
  ['a text', 'github, linear', ['github', 'linear'], []],
  ['names and entries', ['github', { own: { command: 'run' } }], ['github'], ['own']],
  ['a map', { own: { command: 'run' }, github: true }, ['github'], ['own']],
  ['nothing', [], [], []],
])('the servers of a definition are read from %s', (_, value, names, own) => {
  const read = readDefinitionServers(value, { ...USER, definition: 'agent' });
  expect({ names: read.names, own: read.entries.map(({ name }) => name) }).toEqual({ names, own });
  expect(read.problems).toEqual([]);
});

test('only the servers of a project run in the sandbox by default, and their file cannot change it', () => {
  const sandboxOf = (origin: McpServerOrigin, fields: object) =>
    readMcpServers({ s: { command: 'a', ...fields } }, origin).entries.map(runsInSandbox);
  expect([
    sandboxOf(PROJECT, {}),
    sandboxOf(USER, {}),
    sandboxOf(PROJECT, { sandbox: false }),
    sandboxOf(USER, { sandbox: true }),
    sandboxOf(USER, { sandbox: false }),
  ]).toEqual([[true], [false], [true], [true], [false]]);
  const { problems } = readMcpServers({ s: { command: 'a', sandbox: false } }, PROJECT);
  expect(problems.map(describeMcpProblem)).toEqual([
    ".mcp.json: server s: sandbox: a project's server runs in the sandbox; only a file of yours can say false",
  ]);
});

test('the fingerprint changes with the content and not with the order of the keys', () => {
  const fingerprint = (entry: object) =>
    readMcpServers({ s: entry }, USER).entries.map(fingerprintServer)[0];
  const first = fingerprint({ command: 'a', env: { A: '1', B: '2' } });
  expect(fingerprint({ env: { B: '2', A: '1' }, command: 'a' })).toBe(first);
  const others = [
    { command: 'b', env: { A: '1', B: '2' } },
    { command: 'a', env: { A: '1', B: '3' } },
    { command: 'a', env: { A: '1', B: '2' }, sandbox: true },
    { command: 'a', env: { A: '1', B: '2' }, tools: ['x'] },
    { command: 'a', env: { A: '1', B: '2' }, args: ['x'] },
  ].map(fingerprint);
  expect(new Set([first, ...others]).size).toBe(6);
});

test('reading never throws, whatever the file contains', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      readMcpFile(JSON.stringify(value), PROJECT);
      readMcpFile(text, PROJECT);
      readMcpServers({ s: value }, PROJECT);
      readDefinitionServers(value, PROJECT);
    }),
  );
});
