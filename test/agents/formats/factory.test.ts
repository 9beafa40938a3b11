import { factory } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, test } from 'vitest';
import { agentFile, codes, plainAgent, readOne } from '../support.ts';

const HEAD = ['name: sweeper', 'description: Sweeps.'] as const;

test('a droid with every field', async () => {
  const file = agentFile(
    ...HEAD,
    'model: custom:some-model',
    'reasoningEffort: high',
    'tools: ["Read", "Execute", "FetchUrl", "ApplyPatch"]',
    'mcpServers: [linear, "my wiki"]',
    'color: blue',
    'location: project',
  );
  expect(await readOne(factory.agents, file)).toEqual({
    ...plainAgent('factory', { name: 'sweeper', description: 'Sweeps.' }),
    tools: {
      mode: 'allow',
      names: ['Read', 'Bash', 'WebFetch', 'Edit', 'Write', 'mcp__linear__*', 'mcp__my_wiki__*'],
    },
    model: 'custom:some-model',
    effort: 'high',
    color: 'blue',
    extra: { location: 'project' },
    problems: [
      {
        code: 'unknown-field',
        message: 'Unknown fields: location.',
        path: '/agents/tester.md',
        line: 9,
      },
    ],
  });
});

describe('categories', () => {
  test.each([
    ['read-only', ['Read', 'LS', 'Grep', 'Glob']],
    ['edit', ['Edit', 'MultiEdit', 'Write']],
    ['execute', ['Bash']],
    ['web', ['WebFetch', 'WebSearch']],
    ['mcp', ['mcp__*']],
    ['[read-only, execute]', ['Read', 'LS', 'Grep', 'Glob', 'Bash']],
  ])('%s', async (category, names) => {
    const agent = await readOne(factory.agents, agentFile(...HEAD, `tools: ${category}`));
    expect([agent.tools, codes(agent)]).toEqual([{ mode: 'allow', names }, []]);
  });
});
