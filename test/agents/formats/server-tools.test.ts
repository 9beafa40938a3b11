import { expect, test } from 'vitest';
import { claude, muster } from '../../../src/agents/formats/vendors.ts';
import { agentFile, readOne } from '../support.ts';

const HEAD = ['name: sweeper', 'description: Sweeps.'] as const;

test.each([
  ['mcp__*__delete', ['mcp__*__delete'], []],
  ['mcp__a__get_*', ['mcp__a__get_*'], []],
  [
    'mcp__a__',
    ['mcp__a__*'],
    [
      'Unknown tool `mcp__a__`; `mcp__a__*` is denied instead: it names no tool; write mcp__a for all tools of the server.',
    ],
  ],
  [
    'mcp__a.b__c',
    ['mcp__a_b__*'],
    [
      'Unknown tool `mcp__a.b__c`; `mcp__a_b__*` is denied instead: names of tools have only letters, digits, _ and -; write mcp__a_b__c.',
    ],
  ],
  ['Nope', [], ['Unknown tool `Nope`; it denies nothing.']],
])('disallowedTools: %s', async (name, denied, problems) => {
  for (const { agents } of [muster, claude]) {
    const lines = [...HEAD, `disallowedTools: ${JSON.stringify(name)}`];
    // oxlint-disable-next-line no-await-in-loop -- there are two formats
    const agent = await readOne(agents, agentFile(...lines));
    expect([agent.disallowedTools, agent.problems.map(({ message }) => message)]).toEqual([
      denied,
      problems,
    ]);
  }
});

test('a wrong name among the tools grants nothing and says what to write', async () => {
  const agent = await readOne(
    muster.agents,
    agentFile(...HEAD, 'tools: [Read, mcp__a__, mcp__*__find]'),
  );
  expect([agent.tools.names, agent.problems.map(({ message }) => message)]).toEqual([
    ['Read', 'mcp__*__find'],
    [
      'Unknown tool `mcp__a__`; it is left out: it names no tool; write mcp__a for all tools of the server.',
    ],
  ]);
});

test('a pattern that is denied next to a wider one that is allowed becomes a deny rule', async () => {
  const agent = await readOne(
    muster.agents,
    agentFile(...HEAD, 'tools: {allow: [Read, mcp__a], deny: ["mcp__a__delete_*"]}'),
  );
  expect([agent.tools.names, agent.rules]).toEqual([
    ['Read', 'mcp__a'],
    { ask: [], deny: ['mcp__a__delete_*'] },
  ]);
});
