import { describe, expect, it } from 'vitest';
import { muster } from '../../../src/agents/formats/vendors.ts';
import { writeAgent } from '../../../src/agents/write-agent.ts';
import { redactAgent } from '../../../src/engine/delegation/create-task.ts';
import { createToolView } from '../../../src/policy/tool-view.ts';
import { REDACTED } from '../../../src/protocol/redaction.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { agentEffects } from '../../../src/trust/definition-effects.ts';
import { rights } from '../../policy/support.ts';

async function readAgent(fields: string): Promise<AgentDefinition> {
  const text = `---\nname: other\ndescription: Works elsewhere.\n${fields}\n---\nBe brief.\n`;
  const { items } = await muster.agents.read({ path: '/a/other.md', text, scope: 'user' });
  const [agent] = items;
  if (agent === undefined) throw new Error('no agent');
  return agent;
}

const ACP = { protocol: 'acp', args: [], env: {} };

describe('the program or server of an agent', () => {
  it.each([
    ['acp: goose acp', { ...ACP, command: 'goose', args: ['acp'] }],
    ["acp: sh -c 'exec agent --acp'", { ...ACP, command: 'sh', args: ['-c', 'exec agent --acp'] }],
    [
      'acp:\n  command: npx\n  args: [agent]\n  env: {KEY: "${KEY}", N: 1}\n  state: [~/.agent]\n  mode: ask',
      {
        protocol: 'acp',
        command: 'npx',
        args: ['agent'],
        env: { KEY: '${KEY}', N: '1' },
        state: ['~/.agent'],
        mode: 'ask',
      },
    ],
    ['a2a: https://x.test/card.json', { protocol: 'a2a', card: 'https://x.test/card.json' }],
    [
      'a2a: {card: {name: x}, auth: {type: apiKey, key: $KEY}}',
      { protocol: 'a2a', card: { name: 'x' }, auth: { type: 'apiKey', key: '$KEY' } },
    ],
  ])('is read from %j, and written again', async (field, remote) => {
    const agent = await readAgent(field);
    expect(agent).toMatchObject({ remote, problems: [] });
    const { text } = await writeAgent(agent);
    const again = await muster.agents.read({ path: '/a/other.md', text, scope: 'user' });
    expect(again.items[0]?.remote).toEqual(remote);
  });

  it.each([
    'acp: 5',
    'acp: ""',
    'acp: {args: [x]}',
    'acp: {command: x, args: x}',
    'acp: {command: x, env: [a]}',
    'acp: {command: x, state: [.agent]}',
    'acp: {command: x, comand: y}',
    'a2a: [u]',
    'a2a: {card: u, token: x}',
    'a2a: {card: u, auth: x}',
    'acp: x\na2a: u',
  ])(
    'that cannot be read (%j) makes the agent unusable, so that no model works in its place',
    async (field) => {
      const { remote, unusable, problems } = await readAgent(field);
      expect([remote, problems.map(({ code }) => code)]).toEqual([undefined, ['invalid-remote']]);
      expect(unusable).toBeDefined();
    },
  );

  it.each(['model: fast', 'models: [fast, powerful]'])('makes %j have no effect', async (field) => {
    const { problems } = await readAgent(`acp: x\n${field}`);
    expect(problems.map(({ code }) => code)).toEqual(['remote-model']);
  });

  it('is shown before a project is trusted', async () => {
    const agent = await readAgent(
      'acp: {command: npx, args: [a b], env: {K: "${KEY}"}, state: [~/.a]}',
    );
    expect(await agentEffects(agent)).toEqual(
      expect.arrayContaining([
        'runs "npx" "a b" in the sandbox, with the network, to do its work',
        'sets K',
        'reads the variables KEY',
        '! state: ~/.a: a project gives its program no directory',
      ]),
    );
  });

  it('stands in logs without the values of its variables and its login', async () => {
    const program = await readAgent('acp: {command: x, env: {KEY: sk-1}}');
    expect(redactAgent(program).remote).toMatchObject({ command: 'x', env: { KEY: REDACTED } });
    const server = await readAgent(
      'a2a: {card: https://u.example, auth: {type: apiKey, key: sk-1}}',
    );
    expect(redactAgent(server).remote).toEqual({ protocol: 'a2a', card: 'https://u.example' });
  });
});

describe('the tools of a remote agent', () => {
  const available = [
    { name: 'Read', kind: 'read' },
    { name: 'Write', kind: 'edit' },
    { name: 'Bash', kind: 'execute' },
    { name: 'Task', kind: 'delegate' },
    { name: 'RemoteStep', kind: 'execute' },
    { name: 'RemoteChanges', kind: 'read' },
  ] as const;
  const toolsOf = async (fields: string, mode: 'default' | 'plan' = 'default') =>
    createToolView({
      definition: await readAgent(fields),
      rights: { ...rights(), mode, depth: 1 },
      available,
      nested: true,
      root: false,
      delegable: true,
    }).names;

  it.each([
    ['acp: x', ['Read', 'Write', 'Bash', 'RemoteStep', 'RemoteChanges']],
    ['acp: x\ntools: Read, Grep', ['Read', 'RemoteStep', 'RemoteChanges']],
    ['a2a: https://u.example', []],
    ['tools: Read, RemoteStep', ['Read', 'Task']],
  ])('with %j are %j', async (fields, expected) => {
    expect(await toolsOf(fields)).toEqual(expected);
  });

  it('change nothing in plan mode', async () => {
    expect(await toolsOf('acp: x', 'plan')).toEqual([
      'Read',
      'Bash',
      'RemoteStep',
      'RemoteChanges',
    ]);
  });
});
