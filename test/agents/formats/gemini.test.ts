import { gemini } from '../../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { agentFile, codes, plainAgent, read, readOne } from '../support.ts';

const PLAIN = plainAgent('gemini');
const REMOTE = 'Remote agents cannot be run yet.';

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

test('a remote agent is kept and cannot be started, even if it does not say that it is remote', async () => {
  const url = 'https://agents.example/card';
  const said = await readOne(
    gemini.agents,
    agentFile(
      'kind: remote',
      'name: far',
      'description: Far.',
      `agent_card_url: ${url}`,
      'auth: {type: http, scheme: Bearer, token: $TOKEN}',
    ),
  );
  expect(said).toEqual({
    ...PLAIN,
    name: 'far',
    description: 'Far.',
    unusable: REMOTE,
    extra: {
      kind: 'remote',
      agent_card_url: url,
      auth: { type: 'http', scheme: 'Bearer', token: '$TOKEN' },
    },
    problems: [expect.objectContaining({ code: 'inactive-field' })],
  });
  const card = agentFile('name: far', "agent_card_json: '{}'");
  expect((await readOne(gemini.agents, card)).unusable).toBe(REMOTE);
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
    '- nothing',
    '---',
    '',
  ].join('\n');
  const { items, problems } = await read(gemini.agents, file);
  expect(items.map(({ name, unusable, prompt }) => [name, unusable, prompt])).toEqual([
    ['one', REMOTE, ''],
    ['two', REMOTE, ''],
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
