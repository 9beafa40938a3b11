import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import { agentId, callableNames, findIdClashes } from '../../src/agents/agent-id.ts';
import { findAgent } from '../../src/agents/find-agent.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';

function agentOf(name: string, path = '/agents/some-file.agent.md'): AgentDefinition {
  return { ...MAIN_AGENT, name, origin: { scope: 'user', vendor: 'claude', path } };
}

test.each([
  ['code-reviewer', 'code-reviewer'],
  ['team:Review_2.0', 'team:Review_2.0'],
  ['Rust Expert Agent', 'rust-expert-agent'],
  ['.NET Self-Learning Architect', 'net-self-learning-architect'],
  ['C++ / Qt!', 'c-qt'],
  ['Überprüfer für Code', 'überprüfer-für-code'],
  ['代码 审查', '代码-审查'],
  ['🚀', 'some-file'],
])('the id of %s is %s', (name, id) => {
  expect(agentId(agentOf(name))).toBe(id);
});

test('an agent without any usable name has the id `agent`', () => {
  expect(agentId(agentOf('🚀', '/agents/🚀.md'))).toBe('agent');
});

test('the first of two agents with the same id keeps it, and the other is called by its full name', () => {
  const first = agentOf('Rust Expert', '/a.md');
  const second = agentOf('Rust  expert!', '/b.md');
  const agents = [first, second];
  expect([...callableNames(agents).values()]).toEqual(['rust-expert', 'Rust  expert!']);
  expect([...findIdClashes(agents)]).toEqual([
    [
      second,
      {
        code: 'id-clash',
        message:
          '`rust-expert` means `Rust Expert` (/a.md), so this agent must be called by its full name.',
        path: '/b.md',
      },
    ],
  ]);
});

test('every agent is found by its callable name, whatever its name is', () => {
  const name = fc.oneof(
    fc.string({ minLength: 1, unit: 'grapheme' }),
    fc.constantFrom('A b', 'a-b', 'a b', 'A-B!', 'agent', '!', '?'),
  );
  const names = fc.uniqueArray(
    name.filter((each) => each.trim() !== ''),
    { selector: (each) => each.trim().toLowerCase() },
  );
  fc.assert(
    fc.property(names, (all) => {
      const agents = all.map((each) => agentOf(each.trim()));
      for (const [agent, word] of callableNames(agents)) {
        expect(findAgent(word, agents)).toEqual({ ok: true, agent });
      }
    }),
  );
});

test('an id is a single word that can be typed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      expect(agentId(agentOf(name))).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u);
    }),
  );
});
