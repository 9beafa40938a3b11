import { expect, test } from 'vitest';
import { expandTransport, type VariableSource } from '../../src/mcp/expand-variables.ts';
import { readMcpServers } from '../../src/mcp/read-servers.ts';
import type { McpServerOrigin } from '../../src/mcp/server-entry.ts';

const SOURCE: VariableSource = {
  environment: { A: 'one', EMPTY: '', GITHUB_TOKEN: 'ghp', OPENAI_API_KEY: 'sk-1', MUSTER_X: 'm' },
  ownSecrets: new Set(['OPENAI_API_KEY']),
  project: '/work/app',
  home: '/home/u',
};

function expand(entry: object, scope: McpServerOrigin['scope'] = 'project') {
  const origin = { scope, file: `${scope}.json` };
  const [read] = readMcpServers({ s: entry }, origin).entries;
  return expandTransport(read!, SOURCE);
}

test('variables are replaced in every text of a process', () => {
  const { transport, used } = expand({
    command: '${A}/run',
    args: ['--x=${A}', '${B:-two}', '${EMPTY:-three}', '[${EMPTY}]', '${env:A}', '${C:-}', '$A'],
    env: { TOKEN: '${GITHUB_TOKEN}' },
    cwd: '${workspaceFolder}/sub',
  });
  expect(transport).toEqual({
    type: 'stdio',
    command: 'one/run',
    args: ['--x=one', 'two', 'three', '[]', 'one', '', '$A'],
    env: { TOKEN: 'ghp' },
    cwd: '/work/app/sub',
  });
  expect(Object.fromEntries(used)).toEqual({
    A: 'one',
    B: 'two',
    EMPTY: '',
    C: '',
    GITHUB_TOKEN: 'ghp',
    workspaceFolder: '/work/app',
  });
});

test('variables are replaced in a URL and in headers, and not in the helper, which is a command of a shell', () => {
  const { transport } = expand({
    url: 'https://${A}.dev/${userHome}',
    headers: { Authorization: 'Bearer ${GITHUB_TOKEN}', 'X-Dir': '${CLAUDE_PROJECT_DIR}' },
    headersHelper: 'echo ${A}',
  });
  expect(transport).toEqual({
    type: 'http',
    url: 'https://one.dev//home/u',
    headers: { Authorization: 'Bearer ghp', 'X-Dir': '/work/app' },
    headersHelper: 'echo ${A}',
  });
});

test('a value is not expanded again', () => {
  const source = { ...SOURCE, environment: { A: '${B}', B: 'secret' } };
  const [entry] = readMcpServers({ s: { command: '${A}' } }, { scope: 'user', file: 'f' }).entries;
  expect(expandTransport(entry!, source).transport).toMatchObject({ command: '${B}' });
});

test.each<[string, object, string]>([
  [
    'a missing variable',
    { command: 'run', args: ['a', '${MISSING}'] },
    'args[1]: the variable MISSING is not set; set it, or write a default: ${MISSING:-default}',
  ],
  [
    'a missing variable in a header',
    { url: 'https://x.dev', headers: { A: '${MISSING}' } },
    'headers.A: the variable MISSING is not set; set it, or write a default: ${MISSING:-default}',
  ],
  [
    'an input of VS Code',
    { command: 'run', env: { T: '${input:token}' } },
    'env.T: ${input:token} is not supported: write ${NAME} and set the variable NAME',
  ],
  ['a strange name', { command: '${a b}' }, 'command: ${a b} is not supported: write ${NAME}'],
  [
    'a key of Muster',
    { command: 'run', env: { K: '${OPENAI_API_KEY}' } },
    "env.K: a project's server cannot get OPENAI_API_KEY, which belongs to Muster; define the server in your own mcp.json if you want that",
  ],
  [
    'a key of Muster with a default',
    { command: 'run', env: { K: '${OPENAI_API_KEY:-x}' } },
    "env.K: a project's server cannot get OPENAI_API_KEY, which belongs to Muster; define the server in your own mcp.json if you want that",
  ],
  [
    'a variable of Muster',
    { url: 'https://x.dev/${env:MUSTER_X}' },
    "url: a project's server cannot get MUSTER_X, which belongs to Muster; define the server in your own mcp.json if you want that",
  ],
  [
    'a URL that is none after the replacement',
    { url: '${A}' },
    'url: it must be a URL that begins with http:// or https://',
  ],
])('%s is an error that names file, server and field', (_, entry, message) => {
  expect(() => expand(entry)).toThrow(`project.json: server s: ${message}`);
});

test("the user's own file may name a key of Muster", () => {
  const { transport } = expand({ command: 'run', env: { K: '${OPENAI_API_KEY}' } }, 'user');
  expect(transport).toMatchObject({ env: { K: 'sk-1' } });
});
