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
    // A list that names tools of the server is not widened to all of its tools.
    ['tools: [mcp__a__x]\nmcp-servers: [a]', { mode: 'allow', names: ['mcp__a__x'] }, []],
    ['tools: mcp__a__get_*\nmcp-servers: a', { mode: 'allow', names: ['mcp__a__get_*'] }, []],
    [
      'tools: [mcp__a__x]\nmcp-servers: [a, b]',
      { mode: 'allow', names: ['mcp__a__x', 'mcp__b__*'] },
      [],
    ],
    ['mcpServers: []', { mode: 'all', names: [] }, ['mcp__*']],
    ['mcpServers: a', { mode: 'allow', names: [...core, 'mcp__a__*'] }, []],
    ['mcpServers: a, b', { mode: 'allow', names: [...core, 'mcp__a__*', 'mcp__b__*'] }, []],
    ['mcpServers: {a: {}, b: }', { mode: 'allow', names: [...core, 'mcp__a__*', 'mcp__b__*'] }, []],
    ['mcpServers: {}', { mode: 'all', names: [] }, ['mcp__*']],
  ])('%j', async (lines, tools, disallowedTools) => {
    const agent = await readOne(agents, agentFile(...HEAD, lines));
    expect([agent.tools, agent.disallowedTools, agent.problems]).toEqual([
      tools,
      disallowedTools,
      [],
    ]);
  });

  test.each([
    ['{a: {command: x}}', ['a'], { a: { command: 'x' } }],
    [
      '[a, {b: {command: x}, c: true}, {d: {url: 7}}]',
      ['a', 'b', 'c', 'd'],
      { b: { command: 'x' }, d: { url: 7 } },
    ],
    ['[a]', ['a'], undefined],
  ])('mcpServers: %s contains servers', async (value, names, servers) => {
    const agent = await readOne(agents, agentFile(...HEAD, `mcpServers: ${value}`));
    expect([agent.tools.names, agent.servers, agent.problems]).toEqual([
      [...core, ...names.map((name) => `mcp__${name}__*`)],
      servers,
      [],
    ]);
  });

  // An item of another shape gives no server.
  test.each([
    ['{a: {}, command: x}', ['a'], [['invalid-servers', 'mcp__*']]],
    ['[a, [b], true]', ['a'], [['invalid-servers', 'mcp__*']]],
    ['true', [], [['invalid-servers', 'mcp__*']]],
    ['7', [], [['invalid-servers', 'mcp__*']]],
    ['""', [], [['invalid-servers', 'mcp__*']]],
    ['', [], [['invalid-servers', 'mcp__*']]],
  ])('mcpServers: %s is reported', async (value, servers, problems) => {
    const agent = await readOne(agents, agentFile(...HEAD, `mcpServers: ${value}`));
    const granted = servers.map((name) => `mcp__${name}__*`);
    expect([agent.tools, agent.disallowedTools]).toEqual(
      servers.length > 0
        ? [{ mode: 'allow', names: [...core, ...granted] }, []]
        : [{ mode: 'all', names: [] }, ['mcp__*']],
    );
    expect(agent.problems.map(({ code, tool, line }) => [code, tool, line])).toEqual(
      problems.map((problem) => [...problem, 4]),
    );
  });
});
