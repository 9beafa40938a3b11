import { expect, test } from 'vitest';
import { loadBuiltinAgents } from '../../src/agents/discover.ts';
import { findAgent } from '../../src/agents/find.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';

async function agents(): Promise<readonly AgentDefinition[]> {
  const builtin = await loadBuiltinAgents();
  const [first] = builtin;
  if (first === undefined) throw new Error('no built-in agents');
  return [...builtin, { ...first, name: 'summarize', aliases: ['x'] }];
}

test.each([
  ['Explore', 'Explore'],
  ['EXPLORE', 'Explore'],
  [' general ', 'general-purpose'],
  ['Code-Reviewer', 'Review'],
  // A definition's own name goes before another's alias.
  ['summarize', 'summarize'],
  ['summary', 'Summary'],
])('%s is %s', async (name, expected) => {
  const found = findAgent(name, await agents());
  expect(found.ok && found.agent.name).toBe(expected);
});

test('an unknown name is an error with the valid ones and the nearest', async () => {
  expect(findAgent('Explor', await agents())).toEqual({
    ok: false,
    error: {
      code: 'INVALID_PARAM',
      message:
        'There is no agent `Explor`. Did you mean `Explore`? Valid: Explore, Plan, Bash, Review, Summary, general-purpose, summarize.',
      retryable: false,
    },
  });
});

test('a long name and many agents do not make a long message', async () => {
  const [first] = await agents();
  const many = Array.from({ length: 500 }, (_, index) => ({ ...first!, name: `agent-${index}` }));
  const found = findAgent('q'.repeat(1_000_000), many);
  const message = found.ok ? '' : found.error.message;
  expect(message).toContain('agent-39, and 460 more.');
  expect(message.length).toBeLessThan(1000);
});
