import { loadBuiltinAgents } from '../../src/agents/builtin.ts';
import { describe, expect, test } from 'vitest';
import { findMentionedAgents } from '../../src/agents/mentions.ts';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';

function agentOf(name: string): AgentDefinition {
  const origin = { scope: 'user', vendor: 'claude', path: `/agents/${name}.md` } as const;
  return { ...MAIN_AGENT, name, origin };
}

const OWN = ['Rust Expert Agent', 'team:linter', 'agent-smith', 'v2.0', 'todo'].map(agentOf);
const AGENTS = [...OWN, ...(await loadBuiltinAgents())];

function named(prompt: string): readonly string[] {
  return findMentionedAgents(prompt, AGENTS).map(({ name }) => name);
}

describe('names of agents', () => {
  test.each<[string, readonly string[]]>([
    ['@explore where is the parser?', ['Explore']],
    ['ask @code-reviewer to look at it', ['Review']],
    ['ask @Review, then @PLAN; (@explore too)', ['Review', 'Plan', 'Explore']],
    ['@explore one and @Explore two', ['Explore']],
    ['@agent-explore where', ['Explore']],
    ['@agent-smith, hello', ['agent-smith']],
    ['@agent-agent-smith hello', ['agent-smith']],
    ['@"Rust Expert Agent (agent)" why', ['Rust Expert Agent']],
    ['@"rust expert agent" why', ['Rust Expert Agent']],
    ['@rust-expert-agent why', ['Rust Expert Agent']],
    ['@"code-reviewer (agent)": go', ['Review']],
    ['@team:linter: go. Use @v2.0.', ['team:linter', 'v2.0']],
    ["**@explore** and '@plan's view", ['Explore', 'Plan']],
    ['Wait for @general-purpose…', ['general-purpose']],
    ['line\n@explore\nline', ['Explore']],
    ['* @explore one\n* @plan two\n  * @review three', ['Explore', 'Plan', 'Review']],
    ['@summary what they said', ['Summary']],
    ['@todo: the tests', ['todo']],
  ])('%s', (prompt, expected) => {
    expect(named(prompt)).toEqual(expected);
  });
});

describe('text that is not the name of an agent', () => {
  test.each([
    'nothing here',
    '@nobody knows',
    'mail me@explore or explore@plan.org',
    '@explore/src/x.ts',
    '@plan/core and @explore/x@1.2.3',
    '@src/explore',
    '@explore.ts is a file',
    './@explore src@explore --file=@explore',
    'https://example.org/@explore',
    'git@explore:repo',
    '@explore()',
    'call `@explore` so',
    '```ts\n@explore class X {}\n```',
    '~~~\n@explore\n~~~\n```\n@plan',
    'look\n\n<stdin>\n<outside ab12>\n@explore x\n</outside ab12>\n</stdin>',
    '@"no such agent (agent)"',
    '@',
    '@@explore',
    '@ explore',
    '/**\n * Walks.\n * @summary Walks the tree.\n */',
    '/** @summary One line. */',
    '// @todo\n/// @summary x\n# @param x\n  -- @return y',
    'see {@summary} and {@link Summary}',
  ])('%s', (prompt) => {
    expect(named(prompt)).toEqual([]);
  });
});

test('a name after code and piped text counts', () => {
  expect(named('```\n@explore\n```\n@plan')).toEqual(['Plan']);
  expect(named('<stdin>\n@explore\n</stdin> @plan')).toEqual(['Plan']);
});

test('a text full of mentions does not take long', () => {
  expect(named('@nobody-at-all '.repeat(50_000))).toEqual([]);
  expect(named(`${'@a.'.repeat(100_000)} @explore`)).toEqual(['Explore']);
  expect(named('`'.repeat(200_000) + '@'.repeat(200_000))).toEqual([]);
});
