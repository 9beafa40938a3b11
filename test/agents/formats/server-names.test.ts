import { describe, expect, test } from 'vitest';
import { claude, copilot, factory, muster, qwen } from '../../../src/agents/formats/vendors.ts';
import { CORE_TOOLS } from '../../../src/protocol/tool-names.ts';
import { agentFile, readOne } from '../support.ts';

const HEAD = ['name: sweeper', 'description: Sweeps.'] as const;
const core = [...CORE_TOOLS];

const VENDORS = { claude, copilot, factory, muster, qwen };

describe.each(Object.entries(VENDORS))('the servers of an agent of %s', (_, { agents }) => {
  test.each([
    ['mcpServers: [a]', { mode: 'allow', names: [...core, 'mcp__a__*'] }, []],
    [
      'mcpServers: [a, "my wiki"]',
      { mode: 'allow', names: [...core, 'mcp__a__*', 'mcp__my_wiki__*'] },
      [],
    ],
    ['tools: [Read]\nmcp-servers: [a]', { mode: 'allow', names: ['Read', 'mcp__a__*'] }, []],
    ['mcpServers: []', { mode: 'all', names: [] }, ['mcp__*']],
    // A definition of a server is not taken.
    ['mcpServers: {a: {command: x}}', { mode: 'all', names: [] }, []],
    ['mcpServers: [a, {b: {command: x}}]', { mode: 'all', names: [] }, []],
  ])('%j', async (lines, tools, disallowedTools) => {
    const agent = await readOne(agents, agentFile(...HEAD, lines));
    expect([agent.tools, agent.disallowedTools]).toEqual([tools, disallowedTools]);
  });
});
