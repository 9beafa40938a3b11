import { claude } from '../../src/agents/formats/vendors.ts';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { listAgents } from '../../src/agents/list-agents.ts';
import { agentFile, read, readOne } from './support.ts';

test('lists one record per agent, the shadowed ones last', async () => {
  const agent = await readOne(
    claude.agents,
    agentFile('name: a', 'description: D', 'tools: MultiEdit, Edit, AskUser', 'maxTurns: 4'),
  );
  const { items } = await read(claude.agents, agentFile('name: A', 'model: haiku'), '/other/a.md');
  const skipped = [{ path: '/x.md', code: 'binary', reason: 'A binary file.' }];
  const found = {
    items: [agent],
    shadowed: items.map((item) => ({ item, by: agent.origin.path })),
    skipped,
    problems: [],
  };
  const record = {
    aliases: [],
    disallowedTools: [],
    permissionMode: null,
    effectiveMode: 'plan',
    promptSha256: createHash('sha256').update('Test.').digest('hex'),
    scope: 'user',
    vendor: 'claude',
  };
  expect(listAgents(found, { effectiveMode: () => 'plan' })).toEqual({
    agents: [
      {
        ...record,
        path: '/agents/tester.md',
        name: 'a',
        id: 'a',
        description: 'D',
        tools: { mode: 'allow', names: ['Edit', 'AskUserQuestion'] },
        model: null,
        maxTurns: 4,
        warnings: [],
        shadows: ['/other/a.md'],
        shadowedBy: null,
      },
      {
        ...record,
        path: '/other/a.md',
        name: 'A',
        id: 'A',
        description: '',
        tools: { mode: 'all', names: [] },
        model: 'haiku',
        maxTurns: null,
        warnings: [expect.objectContaining({ code: 'missing-description' })],
        shadows: [],
        shadowedBy: '/agents/tester.md',
      },
    ],
    skipped,
    problems: [],
  });
});
