import { describe, expect, test } from 'vitest';
import {
  userMessage,
  type AssistantMessage,
  type Message,
  type ToolMessage,
} from '../../src/protocol/message.ts';
import { MAX_CALLS, nextStep } from '../../src/model/offline/plan.ts';
import type { PlannedCall } from '../../src/model/offline/plan-calls.ts';
import { readSituation } from '../../src/model/offline/situation.ts';
import { requestOf } from './harness.ts';
import { PLAIN_TOOLS, SEARCH_TOOLS, TASK_TOOL } from './search-tools.ts';

const QUESTION = 'Where is the alias table?';

function step(messages: readonly Message[], options: Parameters<typeof requestOf>[1] = {}) {
  return nextStep(readSituation(requestOf(messages, options)));
}

function names(messages: readonly Message[], options: Parameters<typeof requestOf>[1] = {}) {
  const next = step(messages, options);
  return next.type === 'calls' ? next.calls.map((call) => call.name) : next.type;
}

/** An answer with calls, and what came back. */
function round(calls: readonly (readonly [PlannedCall, string])[], id = 'c'): Message[] {
  const asked: AssistantMessage = {
    role: 'assistant',
    content: calls.map(([call], i) => ({ type: 'tool_call', id: `${id}${i}`, ...call })),
  };
  const came: ToolMessage = {
    role: 'tool',
    content: calls.map(([call, text], i) => ({
      type: 'tool_result',
      callId: `${id}${i}`,
      name: call.name,
      text,
      isError: false,
    })),
  };
  return [asked, came];
}

test('the first step finds places, with what the question asks for besides', () => {
  expect(step([userMessage('Where is src/a.ts tested?')])).toEqual({
    type: 'calls',
    calls: [
      {
        name: 'FindPlaces',
        input: { question: 'Where is src/a.ts tested?', kinds: ['test'], paths: ['src/a.ts'] },
      },
    ],
  });
});

test('the next reads what is worth a look, around the line', () => {
  const search: PlannedCall = { name: 'FindPlaces', input: { question: QUESTION } };
  const place = (path: string, line: number | null, coverage: number) =>
    JSON.stringify({ path, line, coverage, kind: 'source', name: null, matched: [], inPath: [] });
  const text = [
    '{"files":9,"absent":[]}',
    place('a.ts', 90, 0.9),
    'no JSON',
    place('b\u0000.ts', 1, 1),
    place('b.ts', null, 0.5),
    place('c.ts', 3, 0.1),
  ].join('\n');
  expect(step([userMessage(QUESTION), ...round([[search, text]])])).toEqual({
    type: 'calls',
    calls: [
      { name: 'Read', input: { file_path: 'a.ts', offset: 70, limit: 80 } },
      { name: 'Read', input: { file_path: 'b.ts', offset: 1, limit: 80 } },
    ],
  });
});

test('without that search it surveys: files, one count a term, lengths, symbols', () => {
  const next = step([userMessage(QUESTION)], { tools: PLAIN_TOOLS });
  expect(
    next.type === 'calls' && next.calls.map(({ name, input }) => [name, input['output_mode']]),
  ).toEqual([
    ['Glob', undefined],
    ['Glob', undefined],
    ['Grep', 'count'],
    ['Grep', 'count'],
    ['Grep', 'count'],
    ['Grep', 'count'],
    ['Grep', 'count'],
    ['Grep', 'content'],
  ]);
});

test('several topics go to Explore, in one message, each prompt complete in itself', () => {
  const next = step([userMessage('Where is the alias table? Where are ids made?')], {
    tools: [...SEARCH_TOOLS, TASK_TOOL],
  });
  const form =
    'Answer with the three best places as path:line, the line quoted, and one short reason each.';
  expect(next).toEqual({
    type: 'calls',
    calls: [
      {
        name: 'Task',
        input: {
          description: 'Where is the alias table',
          prompt: `Where is the alias table?\n\n${form}`,
          subagent_type: 'Explore',
        },
      },
      {
        name: 'Task',
        input: {
          description: 'Where are ids made',
          prompt: `Where are ids made?\n\n${form}`,
          subagent_type: 'Explore',
        },
      },
    ],
  });
});

test('one question goes to one Explore whole, whose answer is the answer', () => {
  const tools = [...SEARCH_TOOLS, TASK_TOOL];
  const asked = step([userMessage(QUESTION)], { tools });
  expect(asked).toMatchObject({ type: 'calls', calls: [{ name: 'Task' }] });
  const call = { type: 'tool_call', id: 'c1', name: 'Task', input: {} } as const;
  const result = {
    type: 'tool_result',
    callId: 'c1',
    name: 'Task',
    text: 'FOUND\n\n[task abcdefgh1234 · 2 turns]',
    isError: false,
  } as const;
  const answered = step(
    [
      userMessage(QUESTION),
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result] },
    ],
    { tools },
  );
  expect(answered).toEqual({ type: 'answer', text: 'FOUND' });
});

test('without Task it searches for all topics together', () => {
  expect(names([userMessage('Where is the alias table? Where are ids made?')])).toEqual([
    'FindPlaces',
  ]);
});

describe('what is not offered is not called', () => {
  test.each([
    [
      ['Read', 'Glob'],
      ['Glob', 'Glob'],
    ],
    [['Grep'], ['Grep', 'Grep', 'Grep', 'Grep', 'Grep', 'Grep']],
    [[], 'answer'],
    [['Read'], 'answer'],
  ])('%j', (offered, expected) => {
    const tools = SEARCH_TOOLS.filter((tool) => offered.includes(tool.name));
    expect(names([userMessage(QUESTION)], { tools })).toEqual(expected);
  });

  test('nor an argument that a tool does not have', () => {
    const tools = [{ name: 'Grep', description: '', inputSchema: { properties: { pattern: {} } } }];
    const next = step([userMessage(QUESTION)], { tools });
    const keys = next.type === 'calls' ? next.calls.flatMap(({ input }) => Object.keys(input)) : [];
    expect(new Set(keys)).toEqual(new Set(['pattern']));
  });
});

describe('no conversation goes on for ever', () => {
  const grep: PlannedCall = { name: 'Grep', input: { pattern: 'x', output_mode: 'content' } };

  test('six rounds are the most', () => {
    const rounds = Array.from({ length: 6 }, (_, i) => round([[grep, 'a.ts:1:alias']], `r${i}_`));
    expect(names([userMessage(QUESTION), ...rounds.flat()])).toBe('answer');
  });

  test('so are 25 calls', () => {
    const many = Array.from({ length: MAX_CALLS }, () => [grep, 'alias.ts:1:alias'] as const);
    const tools = PLAIN_TOOLS;
    expect(names([userMessage(QUESTION), ...round(many)], { tools })).toBe('answer');
    expect(names([userMessage(QUESTION), ...round(many.slice(1))], { tools })).toEqual(['Grep']);
  });

  test('results that are missing are nothing found', () => {
    const [asked] = round([[grep, '']]);
    const messages = [userMessage(QUESTION), ...(asked === undefined ? [] : [asked])];
    expect(names(messages, { tools: PLAIN_TOOLS })).toBe('answer');
  });
});

test('children that have answered are merged even where no more calls are allowed', () => {
  const task: PlannedCall = { name: 'Task', input: { prompt: 'x' } };
  const question = 'Where is the alias table? Where are ids made?';
  const messages = [
    userMessage(question),
    ...round([
      [task, 'Here.'],
      [task, 'There.'],
    ]),
  ];
  const next = nextStep(readSituation({ ...requestOf(messages, {}), toolChoice: 'none' }));
  expect(next).toEqual({
    type: 'answer',
    text: '## Where is the alias table?\n\nHere.\n\n## Where are ids made?\n\nThere.',
  });
});

test.each([
  ['What does a.ts do?', ['Glob']],
  ['Explain how a.ts retries a request', ['FindPlaces']],
])('%s', (question, expected) => {
  expect(names([userMessage(question)])).toEqual(expected);
});

test('the word of a limit is no question', () => {
  const found = round([
    [
      { name: 'Grep', input: { pattern: 'x', output_mode: 'content' } },
      'alias.ts:1:const alias = 1',
    ],
  ]);
  const request = requestOf(
    [userMessage(QUESTION), ...found, userMessage('The limit max_turns = 1 is reached.')],
    {},
  );
  const next = nextStep(readSituation({ ...request, toolChoice: 'none' }));
  expect(next).toEqual({
    type: 'answer',
    text: '1. `alias.ts:1`: defines `alias`, with “alias”, “alias” in its path.\n   > const alias = 1',
  });
});
