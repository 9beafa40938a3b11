import { gemini } from '../../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { agentFile, codes, plainAgent, read, readOne } from '../support.ts';

const PLAIN = plainAgent('gemini');
test('every field of a local agent', async () => {
  const file = agentFile(
    'kind: local',
    'name: tester',
    'description: Tests.',
    'display_name: The Tester',
    'tools: [read_file, grep_search, run_shell_command, mcp_git_log, mcp_hub_*]',
    'mcp_servers: {hub: {command: hub}}',
    'model: some-model',
    'temperature: 0.2',
    'max_turns: 15',
    'timeout_mins: 2.5',
  );
  expect(await readOne(gemini.agents, file)).toEqual({
    ...PLAIN,
    tools: { mode: 'allow', names: ['Read', 'Grep', 'Bash', 'mcp__git__log', 'mcp__hub__*'] },
    model: 'some-model',
    limits: { maxTurns: 15, wallSeconds: 150 },
    extra: {
      display_name: 'The Tester',
      mcp_servers: { hub: { command: 'hub' } },
      temperature: 0.2,
    },
    problems: [
      {
        code: 'inactive-field',
        message: 'These fields have no effect yet: display_name, mcp_servers, temperature.',
        path: '/agents/tester.md',
        line: 5,
      },
    ],
  });
});

test.each([
  ['tools: ["*"]', { mode: 'all', names: [] }, []],
  ['tools: [mcp_*]', { mode: 'allow', names: ['mcp__*'] }, []],
  ['tools: [read_file, tracker_create_task]', { mode: 'allow', names: ['Read'] }, ['unknown-tool']],
  ['tools: []', { mode: 'allow', names: [] }, ['no-tools']],
  ['flavour: sweet', { mode: 'all', names: [] }, ['unknown-field']],
])('%s', async (line, tools, told) => {
  const agent = await readOne(gemini.agents, agentFile('name: a', 'description: b', line));
  expect([agent.tools, codes(agent)]).toEqual([tools, told]);
});

const URL = 'https://agents.example/card';

test('a remote agent, whose body has no meaning', async () => {
  const file = agentFile(
    'kind: remote',
    'name: far',
    'description: Far.',
    'display_name: Far Away',
    `agent_card_url: ${URL}`,
    'auth: {type: http, scheme: Bearer, token: $TOKEN}',
  );
  expect(await readOne(gemini.agents, file)).toEqual({
    ...PLAIN,
    name: 'far',
    description: 'Far.',
    prompt: '',
    remote: {
      protocol: 'a2a',
      card: URL,
      auth: { type: 'http', scheme: 'Bearer', value: '$TOKEN' },
    },
    extra: { display_name: 'Far Away' },
    problems: [expect.objectContaining({ code: 'inactive-field' })],
  });
});

test('an agent with a field for remote agents is remote, and its card may be in the file', async () => {
  const file = ['---', 'name: far', 'agent_card_json: |', '  {"url": "https://x.example"}', '---'];
  const { remote } = await readOne(gemini.agents, `${file.join('\n')}\n`);
  expect(remote).toEqual({ protocol: 'a2a', card: { url: 'https://x.example' } });
});

test.each([
  [['kind: remote'], 'A remote agent needs either `agent_card_url` or `agent_card_json`.'],
  [
    [`agent_card_url: ${URL}`, "agent_card_json: '{}'"],
    'A remote agent needs either `agent_card_url` or `agent_card_json`.',
  ],
  [
    ["agent_card_json: '{broken'"],
    'The agent card must be a URL that begins with http:// or https:// and holds no password, or a JSON object.',
  ],
  [[`agent_card_url: ${URL}`, 'auth: {type: magic}'], '`auth.type` must be `apiKey` or `http`.'],
])('%j is reported, and the agent cannot be started', async (lines, message) => {
  const agent = await readOne(gemini.agents, agentFile('name: far', 'description: Far.', ...lines));
  expect([agent.remote, agent.unusable, agent.problems]).toEqual([
    undefined,
    message,
    [{ code: 'invalid-remote', message, path: '/agents/tester.md', line: 4 }],
  ]);
});

test('a list of remote agents in one file', async () => {
  const file = [
    '---',
    '- kind: remote',
    '  name: one',
    '  description: First.',
    '  agent_card_url: https://agents.example/1',
    '- name: two',
    '  agent_card_url: https://agents.example/2',
    '  auth: {type: apiKey, key: $KEY}',
    '- nothing',
    '---',
    '',
  ].join('\n');
  const { items, problems } = await read(gemini.agents, file);
  expect(items.map(({ name, remote, prompt }) => [name, remote, prompt])).toEqual([
    ['one', { protocol: 'a2a', card: 'https://agents.example/1' }, ''],
    [
      'two',
      {
        protocol: 'a2a',
        card: 'https://agents.example/2',
        auth: { type: 'apiKey', key: '$KEY' },
      },
      '',
    ],
  ]);
  expect(problems).toEqual([
    {
      code: 'invalid-agent',
      message: 'Item 3 of the front matter is not an agent: write `key: value` lines.',
      path: '/agents/tester.md',
      line: 2,
    },
  ]);
  const broken = await read(gemini.agents, '---\n- a: [\n---\n');
  expect([broken.items, broken.problems.map(({ code, line }) => [code, line])]).toEqual([
    [],
    [['invalid-yaml', expect.any(Number)]],
  ]);
});

test('a file whose name begins with _ is not an agent', async () => {
  const { items, problems } = await read(gemini.agents, agentFile('name: a'), '/agents/_a.md');
  expect([items, problems.map(({ code }) => code)]).toEqual([[], ['not-an-agent']]);
});
