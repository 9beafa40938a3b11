import { describe, expect, test } from 'vitest';
import {
  type AssistantMessage,
  type Message,
  type ToolMessage,
  userMessage,
} from '../../../src/protocol/message.ts';
import { nextOfflineStep } from '../../../src/model/offline/plan.ts';
import { readSituation, type PlannedCall } from '../../../src/model/offline/situation.ts';
import { requestOf } from './harness.ts';
import { PLAIN_TOOLS, SEARCH_TOOLS, TASK_TOOL } from './search-tools.ts';

const QUESTION = 'Where is the alias table?';

function step(messages: readonly Message[], options: Parameters<typeof requestOf>[1] = {}) {
  return nextOfflineStep(readSituation(requestOf(messages, options)));
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

test('the first step searches for the question', () => {
  expect(step([userMessage('Where is src/a.ts tested?')])).toEqual({
    type: 'calls',
    calls: [{ name: 'FindPlaces', input: { question: 'Where is src/a.ts tested?', limit: 3 } }],
  });
});

test('the next step reads around the line of each location', () => {
  const search: PlannedCall = { name: 'FindPlaces', input: { question: QUESTION } };
  const text =
    '1. `a.ts:90`: defines `a`.\n   > const a = 1;\n2. `b c.ts:1`: holds “b”.\n\nA note.';
  expect(step([userMessage(QUESTION), ...round([[search, text]])])).toEqual({
    type: 'calls',
    calls: [
      { name: 'Read', input: { file_path: 'a.ts', offset: 70, limit: 80 } },
      { name: 'Read', input: { file_path: 'b c.ts', offset: 1, limit: 80 } },
    ],
  });
});

test('without that tool Grep finds the lines with the words', () => {
  const next = step([userMessage(QUESTION)], { tools: PLAIN_TOOLS });
  const input = {
    pattern: 'alias|tabl',
    output_mode: 'content',
    ignore_case: true,
    head_limit: 1000,
  };
  expect(next).toEqual({ type: 'calls', calls: [{ name: 'Grep', input }] });
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

test('a single question goes to one Explore in full, whose answer is the answer', () => {
  const tools = [...SEARCH_TOOLS, TASK_TOOL];
  const asked = step([userMessage(QUESTION)], { tools });
  expect(asked).toMatchObject({ type: 'calls', calls: [{ name: 'Task' }] });
  const call = { type: 'tool_call', id: 'c1', name: 'Task', input: {} } as const;
  const result = {
    type: 'tool_result',
    callId: 'c1',
    name: 'Task',
    text: 'FOUND\n\n[The task made no tool call]\n\n[task abcdefgh1234 · 2 turns · commands: "[ -f a ]" exit 0]',
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

describe('the plan calls nothing that is not offered', () => {
  test.each([
    [['Read', 'Glob'], 'answer'],
    [['Grep'], ['Grep']],
    [[], 'answer'],
    [['Read'], 'answer'],
  ])('%j', (offered, expected) => {
    const tools = SEARCH_TOOLS.filter((tool) => offered.includes(tool.name));
    expect(names([userMessage(QUESTION)], { tools })).toEqual(expected);
  });

  test('and uses no argument that a tool does not have', () => {
    const tools = [{ name: 'Grep', description: '', inputSchema: { properties: { pattern: {} } } }];
    const next = step([userMessage(QUESTION)], { tools });
    const keys = next.type === 'calls' ? next.calls.flatMap(({ input }) => Object.keys(input)) : [];
    expect(new Set(keys)).toEqual(new Set(['pattern']));
  });
});

describe('every conversation ends', () => {
  const glob: PlannedCall = { name: 'Glob', input: { pattern: '**/*' } };

  test('after at most six rounds', () => {
    const rounds = Array.from({ length: 6 }, (_, i) => round([[glob, 'a.ts']], `r${i}_`));
    expect(names([userMessage(QUESTION), ...rounds.flat()])).toBe('answer');
  });

  test('after at most 25 calls', () => {
    const many = Array.from({ length: 25 }, () => [glob, 'alias.ts'] as const);
    const tools = PLAIN_TOOLS;
    expect(names([userMessage(QUESTION), ...round(many)], { tools })).toBe('answer');
    expect(names([userMessage(QUESTION), ...round(many.slice(1))], { tools })).toEqual(['Grep']);
  });

  test('even if a result is missing, which counts as nothing found', () => {
    const [asked] = round([[{ name: 'Grep', input: {} }, '']]);
    const messages = [userMessage(QUESTION), ...(asked === undefined ? [] : [asked])];
    expect(names(messages, { tools: PLAIN_TOOLS })).toBe('answer');
  });
});

test('children that have answered are merged even if no more calls are allowed', () => {
  const task: PlannedCall = { name: 'Task', input: { prompt: 'x' } };
  const question = 'Where is the alias table? Where are ids made?';
  const messages = [
    userMessage(question),
    ...round([
      [task, 'Here.'],
      [task, 'There.'],
    ]),
  ];
  const next = nextOfflineStep(readSituation({ ...requestOf(messages, {}), toolChoice: 'none' }));
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

test('the name of a limit is not a question', () => {
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
  const next = nextOfflineStep(readSituation({ ...request, toolChoice: 'none' }));
  expect(next).toEqual({
    type: 'answer',
    text: 'Nothing fits well. The nearest:\n\n1. `alias.ts:1`: defines `alias`, with “alias”, “alias” in its path.\n   > const alias = 1\n\n“table” stands in no file.\n\nFindPlaces was not available: only the lines that Grep returned were ranked.',
  });
});
