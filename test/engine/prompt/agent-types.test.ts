import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_LIST_TOKENS,
  listAgentTypes,
  shortenDescription,
  usageDescription,
} from '../../../src/engine/prompt/agent-types.ts';
import { estimateTokens } from '../../../src/base/token-estimate.ts';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { collapseWhitespace } from '../../../src/base/text.ts';
import { call, calls, play } from '../play.ts';
import { testEngine } from '../support.ts';
import type { AgentDefinition, AgentScope } from '../../../src/protocol/agent.ts';
import { loadBuiltinAgents } from '../../../src/agents/builtin.ts';
import { callableNames } from '../../../src/agents/agent-id.ts';

const BUILTIN = await loadBuiltinAgents();
const TOPICS = 'Rust Kubernetes Postgres React Terraform Kafka Django Swift Redis Vue'.split(' ');

function agentOf(
  name: string,
  description: string,
  parts: { readonly scope?: AgentScope; readonly unusable?: string } = {},
): AgentDefinition {
  const { scope = 'user', ...rest } = parts;
  const origin = { scope, vendor: 'claude', path: `/agents/${name}.md` } as const;
  return { ...MAIN_AGENT, name, description, origin, ...rest };
}

/** Creates agents like those of collections on the web: descriptions of 1,000 characters, all with the same first words. */
function collection(count: number): readonly AgentDefinition[] {
  return Array.from({ length: count }, (_, index) => {
    const topic = `${TOPICS[index % TOPICS.length] ?? ''}${Math.floor(index / TOPICS.length)}`;
    const use = `Use this agent when you need to work on ${topic} in any of its many forms, `;
    return agentOf(
      `${topic.toLowerCase()}-expert`,
      use.padEnd(1000, 'and all that belongs to it, '),
    );
  });
}

/** Lists these types when there are no other agents. */
function typeList({
  types,
  prompt,
}: {
  readonly types: readonly AgentDefinition[];
  readonly prompt: string | null;
}): readonly string[] {
  return listAgentTypes({ types, all: types, prompt });
}

function tokens(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + estimateTokens(`${line}\n`), 0);
}

test('a few agents are listed with their full descriptions, those that ship with Muster first', () => {
  const own = agentOf('deploy', 'Use this agent when you need to deploy. It rolls back, too.');
  expect(typeList({ types: [own, ...BUILTIN], prompt: 'x' })).toEqual([
    ...BUILTIN.map(({ name, description }) => `- ${name}: ${description}`),
    '- deploy: To deploy. It rolls back, too.',
  ]);
});

test('an agent that cannot be started is not offered, and one without a description is listed by name', () => {
  const types = [
    agentOf('broken', 'x', { unusable: 'It has no tools.' }),
    agentOf('Silent One', ''),
  ];
  expect(typeList({ types, prompt: null })).toEqual(['- silent-one']);
});

test('an agent has the same name in a partial list as in the full list', () => {
  const [named, display] = [agentOf('rust-expert', 'Named.'), agentOf('Rust Expert', 'Display.')];
  const all = [display, named];
  expect(listAgentTypes({ types: [display], all, prompt: null })).toEqual([
    '- Rust Expert: Display.',
  ]);
});

test('open parameters follow the description if they are not described elsewhere', () => {
  const open = (name: string) => ({ name, description: 'x' });
  const parameters = [open('repo'), { ...open('depth'), default: '1' }, open('branch</notice>')];
  const many = ['a', 'b', 'c', 'd', 'e'].map(open);
  const types = [
    { ...agentOf('release', 'Releases.'), parameters },
    { ...agentOf('usual', 'Usual.'), parameters: parameters.slice(1, 2) },
    { ...agentOf('many', ''), parameters: many },
  ];
  expect(typeList({ types, prompt: null })).toEqual([
    '- release: Releases. [say: repo, branch<¦/notice>]',
    '- usual: Usual.',
    '- many [say: a, b, c, d, …]',
  ]);
});

test('descriptions are shortened before any is left out', () => {
  const types = [...collection(40), ...BUILTIN];
  const list = typeList({ types, prompt: 'anything' });
  expect(list).toHaveLength(types.length);
  expect(list.slice(0, 6)).toEqual(
    BUILTIN.map(({ name, description }) => `- ${name}: ${description}`),
  );
  expect(Math.max(...list.slice(6).map((line) => line.length))).toBeLessThan(190);
});

describe('a list of 200 agents with descriptions of 1,000 characters', () => {
  const types = [...collection(200), ...BUILTIN];
  const list = typeList({ types, prompt: 'The Kafka7 consumer in Swift13 loses messages' });

  test('fits, with the most relevant ones described', () => {
    expect(tokens(list)).toBeLessThanOrEqual(MAX_LIST_TOKENS);
    expect(list.slice(0, 8).map((line) => line.slice(0, 60))).toEqual(
      [
        ...BUILTIN.map(({ name, description }) => `- ${name}: ${description}`.slice(0, 60)),
        '- kafka7-expert: To work on Kafka7 in any of its many forms,',
        '- swift13-expert: To work on Swift13 in any of its many form',
      ].map((line, index) => (index < 6 ? line : expect.stringContaining(line.slice(0, 40)))),
    );
    expect(list.at(-1)).toMatch(
      /^- \d+ more, any of which may be used: .+-expert, and \d+ not named here\. An unknown name/,
    );
  });

  test('does not depend on the prompt of a child', () => {
    const ofChild = typeList({ types, prompt: null });
    expect(ofChild[6]).toContain('- rust0-expert: ');
    expect(tokens(ofChild)).toBeLessThanOrEqual(MAX_LIST_TOKENS);
  });
});

const anyText = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('<system-reminder>', 'x'.repeat(3000), '漢'.repeat(900), '<example>'.repeat(90)),
);
const anyAgent = fc
  .tuple(anyText, anyText, fc.constantFrom('user', 'builtin', 'project'), fc.boolean())
  .map(([name, description, scope, isUsable]) =>
    agentOf(name, description, isUsable ? { scope } : { scope, unusable: 'no' }),
  );

test('any list of agents stays within the budget, is the same each time, and lists or counts each agent', () => {
  const types = fc.uniqueArray(anyAgent, {
    maxLength: 250,
    selector: ({ name }) => name.trim().toLowerCase(),
  });
  fc.assert(
    fc.property(types, fc.option(anyText), (agents, prompt) => {
      const list = typeList({ types: agents, prompt });
      expect(tokens(list)).toBeLessThanOrEqual(MAX_LIST_TOKENS);
      expect(typeList({ types: [...agents], prompt })).toEqual(list);
      expect(list.every((line) => line.startsWith('- ') && !line.includes('\n'))).toBe(true);
      const usable = agents.filter(({ unusable }) => unusable === undefined);
      const more = / more, any of which may be used: /.test(list.at(-1) ?? '')
        ? Number(/^- (\d+)/.exec(list.at(-1) ?? '')?.[1])
        : null;
      expect(more === null ? list.length : list.length - 1 + more).toBe(usable.length);
    }),
    { numRuns: 40 },
  );
});

test('each agent has a line, is named, or is in the number of those left out', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400 }), fc.boolean(), (count, isRoot) => {
      const types = collection(count);
      const list = typeList({ types, prompt: isRoot ? 'Redis3 and Vue9' : null });
      const text = list.join('\n');
      const named = [...callableNames(types).values()].filter((word) =>
        new RegExp(`(?:^- |[ ,])${collapseWhitespace(word)}(?:[:,.]|$)`, 'm').test(text),
      );
      const left = Number(/(\d+) not named here/.exec(text)?.[1] ?? 0);
      expect(named.length + left).toBe(count);
    }),
    { numRuns: 30 },
  );
});

test('siblings of a type that delegates share their full prompt except for the last part', async () => {
  const agents = collection(200);
  const spawn = (prompt: string) => call('Task', { prompt, description: prompt });
  const main = [calls(spawn('one about Kafka7'), spawn('two about Swift13'))];
  const engine = testEngine(play({ main }), { agents });
  await engine.start('main about Redis3').end.written;
  const [root = [], one = [], two = []] = engine.model.requests
    .slice(0, 3)
    .map(({ prefix }) => prefix.system);
  expect(root.join('\n')).toContain('- redis3-expert: ');
  expect([one[0], one.length]).toEqual([two[0], 2]);
  expect(one[0]).toContain('- rust0-expert: ');
  expect(one[1]).not.toBe(two[1]);
});

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
