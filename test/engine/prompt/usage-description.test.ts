import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { loadBuiltinAgents } from '../../../src/agents/builtin.ts';
import { shortenDescription, usageDescription } from '../../../src/engine/prompt/agent-types.ts';

const ORIGIN = { ...MAIN_AGENT.origin, scope: 'user' } as const;

function use(description: string): string {
  return usageDescription({ ...MAIN_AGENT, origin: ORIGIN, description });
}

test('the descriptions that ship with Muster are shown unchanged', async () => {
  const shown = (await loadBuiltinAgents()).map(usageDescription);
  const read = (await loadBuiltinAgents()).map(({ description }) => use(description));
  expect(shown).toEqual(read);
});

test.each([
  ['Finds things.', 'Finds things.'],
  ['Use this agent when you need to review code.', 'To review code.'],
  ['Use this agent when the user asks for a plan.', 'When the user asks for a plan.'],
  ['Use this agent proactively after a change.', 'After a change.'],
  ['Use this Rust performance agent for slow code.', 'For slow code.'],
  ['Invoke the db-tuner sub-agent if queries are slow.', 'If queries are slow.'],
  ['This agent should be used when tests fail.', 'When tests fail.'],
  ['Use this agent when you need help with CSS.', 'For CSS.'],
  ['Use this agent when you need a second opinion.', 'For a second opinion.'],
  ['Use when a task needs a security review.', 'For a security review.'],
  ['Use the agent of your choice.', 'Use the agent of your choice.'],
  ['Reviews code. Use this agent when done.', 'Reviews code. Use this agent when done.'],
  ['Reviews.\\nUse after changes.', 'Reviews. Use after changes.'],
  [
    'Reviews code. Examples:\n\n<example>\nuser: "go"\n<commentary>x</commentary>\n</example>\n\n<example>b</example>',
    'Reviews code.',
  ],
  ['Reviews <example>a</example> and mends.', 'Reviews and mends.'],
  ['Reviews code.\\n\\n<example>never closed', 'Reviews code.'],
  ['Reviews code.\n\n**Examples:**\n- user: "go"', 'Reviews code.'],
  ['Reviews code. Example usage: "look at it"', 'Reviews code.'],
  ['<example>only this</example>', '<example>only this</example>'],
  ['Shows examples of good code.', 'Shows examples of good code.'],
  ['  spaced\t\tout ', 'Spaced out'],
  ['', ''],
])('%j is shown as %j', (description, expected) => {
  expect(use(description)).toBe(expected);
});

test.each([
  ['short', 10, 'short'],
  ['One sentence. And another one.', 20, 'One sentence.'],
  ['Works on e.g. files and on others', 24, 'Works on e.g. files and…'],
  ['A. But this one is long without end', 20, 'A. But this one is…'],
  ['Unbrokenlongword', 8, 'Unbroke…'],
  ['检查代码。然后报告结果并给出建议', 8, '检查代码。'],
  ['🙂🙂🙂🙂', 3, '🙂🙂…'],
])('%j in %i is %j', (text, most, expected) => {
  expect(shortenDescription(text, most)).toBe(expected);
});

test('a description is never longer than the limit, and is the beginning of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 80 }), (text, most) => {
      const short = shortenDescription(text, most);
      expect([...short].length).toBeLessThanOrEqual(most);
      expect(text.startsWith(short.replace(/…$/, '').trimEnd())).toBe(true);
    }),
  );
});

test('hostile descriptions take little time', () => {
  for (const part of ['<example ', '<example>', 'Examples: ', 'use this agent ', '\\n', '. ']) {
    expect(use(part.repeat(200_000)).length).toBeLessThan(5_000);
  }
});
