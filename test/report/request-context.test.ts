import { describe, expect, it } from 'vitest';
import { measureSystemPrompt } from '../../src/report/request-texts.ts';
import { measureRequest } from '../../src/report/request-context.ts';
import type { EventBody } from '../../src/protocol/events/event.ts';
import { userMessage, type AssistantMessage } from '../../src/protocol/message.ts';
import type { RequestPrefix } from '../../src/protocol/model.ts';
import { turnEnded } from '../store/fixture-data.ts';
import { called, logOf, returned, STARTED } from './logs.ts';

const TOOL = { name: 'Read', description: 'Reads.', inputSchema: {} };
const PREFIX: RequestPrefix = {
  system: ['You are one.\n\n# Environment\nHere.', '# Task\nIt'],
  tools: [TOOL],
  parts: [
    { name: 'identity', length: 12 },
    { name: 'environment', length: 19 },
  ],
};

function calling(...names: readonly string[]): AssistantMessage {
  return {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Let me look.' },
      ...names.map((name, n) => ({ type: 'tool_call' as const, id: `c${n}`, name, input: {} })),
    ],
  };
}

function said(id: string, kind: 'notice' | 'result' | 'message', text: string): EventBody {
  return { type: 'input.queued', input: { id, kind, from: 'muster', text } };
}

function turnWith(turn: number, inputs: readonly string[]): EventBody {
  return { type: 'turn.started', turn, inputs, model: 'scripted/one', toolChoice: 'auto' };
}

const USAGE = { input: 10, output: 5, cacheRead: 30, cacheWrite: 0, reasoning: 0 };

const LOG = logOf(
  'a',
  [
    [0, STARTED],
    [1, turnWith(1, ['prompt'])],
    [2, turnEnded({ message: calling('Read', 'Task'), reason: 'tool_calls', usage: USAGE })],
    [3, called('c0', 'Read')],
    [3, returned('c0', 'Read', 'content')],
    [4, called('c1', 'Task')],
    [4, returned('c1', 'Task', 'found')],
    [5, said('n', 'notice', '<notice>half is used</notice>')],
    [5, said('m', 'message', 'go on')],
    [5, said('r', 'result', 'it ended')],
    [6, turnWith(2, ['n', 'm', 'r'])],
  ],
  { prompt: 'do it' },
);

describe('measureRequest', () => {
  it('gives the newest request by part, and says that nobody has counted it', () => {
    const context = measureRequest(LOG, { turn: null, prefix: PREFIX });
    const part = (group: string, name: string, count: number, bytes: number) => {
      return { group, name, count, bytes, tokens: expect.any(Number), cached: null };
    };
    expect(context).toEqual({
      task: 'a',
      turn: 2,
      turns: 2,
      model: 'scripted/one',
      parts: [
        part('tools', 'tool Read', 1, JSON.stringify(TOOL).length),
        part('system', 'identity', 1, 14),
        part('system', 'environment', 1, 19),
        part('system', 'task line', 1, 9),
        part('messages', 'prompt', 1, 5),
        part('messages', 'answers', 1, 12),
        part('messages', 'calls', 2, 12),
        part('messages', 'results of Read', 1, 7),
        part('messages', 'delegated results', 2, expect.any(Number)),
        part('messages', 'notices', 1, 29),
        part('messages', 'said to it', 1, 5),
      ],
      bytes: context.parts.reduce((sum, { bytes }) => sum + bytes, 0),
      tokens: context.parts.reduce((sum, { tokens }) => sum + tokens, 0),
      counted: null,
    });
  });

  it('attributes the cached tokens to the beginning, in the share that the provider counted', () => {
    const context = measureRequest(LOG, { turn: 1, prefix: PREFIX });
    expect(context.counted).toEqual({
      input: 10,
      cacheRead: 30,
      cacheWrite: 0,
      total: 40,
      cachedShare: 0.75,
    });
    const [tool] = context.parts;
    expect(tool?.cached).toBe(tool?.tokens);
    expect(context.parts.at(-1)).toMatchObject({ name: 'prompt', cached: 0 });
    const cached = context.parts.reduce((sum, each) => sum + (each.cached ?? 0), 0);
    expect(Math.abs(cached - context.tokens * 0.75)).toBeLessThanOrEqual(2);
  });

  it.each([
    [3, '--turn: task a has no turn 3, it has turns 1 to 2'],
    [0, '--turn: task a has no turn 0, it has turns 1 to 2'],
  ])('names the existing turns: not %i', (turn, message) => {
    expect(() => measureRequest(LOG, { turn, prefix: PREFIX })).toThrow(message);
  });

  it('says if no model was asked', () => {
    const log = logOf('b', [[0, STARTED]]);
    expect(() => measureRequest(log, { turn: null, prefix: PREFIX })).toThrow(
      'task b has asked no model yet: there is no request',
    );
  });

  it('gives the newer of two turns that have the same number after a rewind', () => {
    const rewound: EventBody = {
      type: 'task.rewound',
      to: 1,
      undoes: null,
      stint: 2,
      turns: 0,
      end: null,
      dropped: [],
      files: [],
    };
    const log = logOf(
      'a',
      [
        [0, STARTED],
        [1, turnWith(1, ['prompt'])],
        [2, turnEnded({ usage: USAGE })],
        [3, rewound],
        [4, said('m', 'message', 'another way')],
        [5, turnWith(1, ['prompt', 'm'])],
        [6, turnEnded({ usage: { ...USAGE, input: 70 } })],
      ],
      { prompt: 'do it' },
    );
    const { parts, counted } = measureRequest(log, { turn: 1, prefix: PREFIX });
    expect(counted?.total).toBe(100);
    expect(parts.filter(({ group }) => group === 'messages').map(({ name }) => name)).toEqual([
      'prompt',
      'said to it',
    ]);
  });
});

describe('measureRequest of a compacted conversation', () => {
  const size = { before: 900, after: 100, waiting: 0, window: 1000 };
  const read = (turn: number, id: string): readonly EventBody[] => [
    turnWith(turn, turn === 1 ? ['prompt'] : []),
    turnEnded({
      turn,
      reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: [{ type: 'tool_call', id, name: 'Read', input: {} }],
      },
    }),
    called(id, 'Read'),
    returned(id, 'Read', 'content '.repeat(9)),
  ];
  const summaryOf = (head: readonly string[]): EventBody => ({
    type: 'summary.started',
    turn: 3,
    upTo: 3,
    head,
    ask: 'write now',
    model: 'scripted/one',
    toolChoice: 'auto',
    size,
  });
  const namesOf = (...events: readonly EventBody[]) => {
    const log = logOf(
      'a',
      [STARTED, ...events].map((body, at) => [at, body] as const),
      { prompt: 'do it' },
    );
    const { parts } = measureRequest(log, { turn: null, prefix: { system: [], tools: [] } });
    return parts.map(({ name, count }) => `${count} ${name}`);
  };

  it('distinguishes the line that replaces a result from a result', () => {
    const cleared = { callId: 'c1', text: '[Cleared.]' };
    expect(
      namesOf(
        ...read(1, 'c1'),
        ...read(2, 'c2'),
        { type: 'context.cleared', calls: [cleared], size },
        turnWith(3, []),
      ),
    ).toEqual(['1 prompt', '2 calls', '1 cleared results', '1 results of Read']);
  });

  it('distinguishes messages, the todo list and the summary', () => {
    const head = ['<notice>was summarised</notice>', 'do it', 'From a1: and this'];
    const whole = [
      ...head,
      '<notice>Your todo list:\n- [pending] x\n</notice>',
      '<notice>go on</notice>',
    ];
    const used = { usage: USAGE, costUsd: null, reason: 'stop', model: 'scripted/one' } as const;
    expect(
      namesOf(
        ...read(1, 'c1'),
        ...read(2, 'c2'),
        summaryOf(whole),
        { type: 'turn.accepted', turn: 3 },
        { type: 'context.summarised', turn: 3, summary: 'Goal: it.', ...used, ms: 1, size },
        turnWith(3, []),
      ),
    ).toEqual([
      '2 notices',
      '2 pinned words',
      '1 todo list',
      '1 summary',
      '1 calls',
      '1 results of Read',
    ]);
  });

  it('names the text that replaces dropped turns after a refused summary', () => {
    const head = ['<notice>was taken out</notice>', 'do it', '<notice>left out</notice>'];
    const failure = { kind: 'server', message: 'no', retryable: false } as const;
    expect(
      namesOf(
        ...read(1, 'c1'),
        ...read(2, 'c2'),
        summaryOf(['<notice>was summarised</notice>', 'do it', '<notice>go on</notice>']),
        { type: 'turn.failed', turn: 3, failure, usage: USAGE },
        { type: 'context.dropped', upTo: 3, head, because: 'no summary', size },
        turnWith(3, []),
      ),
    ).toEqual(['2 notices', '1 pinned words', '1 calls', '1 results of Read']);
  });

  it('distinguishes messages to a task from messages to the task that it continues', () => {
    const inherited = {
      task: 'b',
      seq: 3,
      agent: 'main',
      known: [],
      messages: [userMessage('find it'), { role: 'assistant', content: [] }],
    } as const;
    const log = logOf('a', [[0, turnWith(1, ['prompt'])]], { prompt: 'look', inherited });
    const { parts } = measureRequest(log, { turn: null, prefix: { system: [], tools: [] } });
    expect(parts.map(({ name }) => name)).toEqual(['said to its parent', 'prompt']);
  });
});

describe('systemSources', () => {
  it.each([
    ['nothing recorded', undefined],
    ['parts that are too long', [{ name: 'identity', length: 900 }]],
    ['parts that end elsewhere', [{ name: 'identity', length: 5 }]],
    ['none', []],
  ])('is one part with %s', (_, parts) => {
    const prefix = { system: PREFIX.system, ...(parts === undefined ? {} : { parts }) };
    expect(measureSystemPrompt(prefix).map(({ name, bytes }) => [name, bytes])).toEqual([
      ['system prompt', 33],
      ['task line', 9],
    ]);
  });
});
