import { pi } from '../../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { agentFile, codes, plainAgent, readOne } from '../support.ts';

const HEAD = ['name: tester', 'description: Tests.'] as const;
const PLAIN = plainAgent('pi');

test('every field with an effect', async () => {
  const file = agentFile(
    ...HEAD,
    'package: quality',
    'aliases: prover, checker',
    'tools: read, grep, find, ls, mcp:hub, mcp:git/log',
    'model: some-model',
    'thinking: high',
    'skills: safe-bash, review',
    'async: true',
    'timeoutMs: 90000',
    'turnBudget: {"maxTurns":20,"graceTurns":2}',
    'permission: {write: deny, edit: ask}',
    'maxSubagentDepth: 0',
    'inheritProjectContext: false',
  );
  expect(await readOne(pi.agents, file)).toEqual({
    ...PLAIN,
    name: 'quality.tester',
    aliases: ['prover', 'checker'],
    tools: { mode: 'allow', names: ['Read', 'Grep', 'Glob', 'LS', 'mcp__hub__*', 'mcp__git__log'] },
    disallowedTools: ['Edit', 'Write', 'Task'],
    rules: { ask: ['Edit'], deny: [] },
    model: 'some-model',
    effort: 'high',
    skills: ['safe-bash', 'review'],
    background: true,
    contextFiles: false,
    limits: { maxTurns: 20, wallSeconds: 90 },
  });
});

test('fields without effect are kept and reported', async () => {
  const extra = {
    systemPromptMode: 'replace',
    inheritProjectContext: true,
    inheritSkills: false,
    output: 'context.md',
    defaultReads: 'a.md',
    toolTimeoutMs: 1000,
    memory: { scope: 'project', path: 'x' },
  };
  const lines = Object.entries(extra).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  expect(await readOne(pi.agents, agentFile(...HEAD, ...lines))).toEqual({
    ...PLAIN,
    extra,
    problems: [
      {
        code: 'inactive-field',
        message: `These fields have no effect yet: ${Object.keys(extra).join(', ')}.`,
        path: '/agents/tester.md',
        line: 4,
      },
    ],
  });
});

test.each<[string, string[], object]>([
  [
    'a thinking level after the model',
    ['model: some/model:low'],
    { model: 'some/model', effort: 'low' },
  ],
  [
    'a colon that does not begin a thinking level',
    ['model: some-model:free'],
    { model: 'some-model:free' },
  ],
  ['no thinking', ['thinking: false'], { effort: 'none' }],
  ['older words', ['alias: old', 'skill: one'], { aliases: ['old'], skills: ['one'] }],
  ['no delegation', ['maxSubagentDepth: 0'], { disallowedTools: ['Task'] }],
  ['a runner of its own', ['runner: {type: pi}'], { extra: { runner: { type: 'pi' } } }],
  ['an object as a budget of turns', ['turnBudget:', '  maxTurns: 3'], { limits: { maxTurns: 3 } }],
  [
    'another program',
    ['runner: {type: external-cli, command: x}'],
    { unusable: 'It runs in another program (`runner`), which Muster cannot do yet.' },
  ],
])('%s', async (_, lines, expected) => {
  const agent = await readOne(pi.agents, agentFile(...HEAD, ...lines));
  expect(agent).toEqual({ ...PLAIN, extra: agent.extra, problems: agent.problems, ...expected });
});

test('fallback models follow the model', async () => {
  const file = agentFile(...HEAD, 'model: first', 'fallbackModels: second, third');
  const agent = await readOne(pi.agents, file);
  expect([agent.model, codes(agent)]).toEqual(['first', []]);
});

test.each([
  ['agent.md', true],
  ['release.chain.md', false],
  ['agent.json', false],
])('%s: %s', (name, accepted) => {
  expect(pi.agents.accepts(name)).toBe(accepted);
});
