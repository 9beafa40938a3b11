import { describe, expect, it } from 'vitest';
import { systemSources } from '../../../src/api/report/context-parts.ts';
import { requestContext } from '../../../src/api/report/context.ts';
import type { EventBody } from '../../../src/protocol/event.ts';
import type { AssistantMessage } from '../../../src/protocol/message.ts';
import type { RequestPrefix } from '../../../src/protocol/model.ts';
import { turnEnded } from '../../store/fixture-data.ts';
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

describe('requestContext', () => {
  it('tells the newest request by part, and that nobody has counted it', () => {
    const context = requestContext(LOG, { turn: null, prefix: PREFIX });
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

  it('puts what the cache served at the front, in the share that the provider counted', () => {
    const context = requestContext(LOG, { turn: 1, prefix: PREFIX });
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
  ])('says which turns there are: not %i', (turn, message) => {
    expect(() => requestContext(LOG, { turn, prefix: PREFIX })).toThrow(message);
  });

  it('says where no model was asked', () => {
    const log = logOf('b', [[0, STARTED]]);
    expect(() => requestContext(log, { turn: null, prefix: PREFIX })).toThrow(
      'task b has asked no model yet: there is no request',
    );
  });

  it('tells the newer of two turns that a rewind gave one number', () => {
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
    const { parts, counted } = requestContext(log, { turn: 1, prefix: PREFIX });
    expect(counted?.total).toBe(100);
    expect(parts.filter(({ group }) => group === 'messages').map(({ name }) => name)).toEqual([
      'prompt',
      'said to it',
    ]);
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
    expect(systemSources(prefix).map(({ name, bytes }) => [name, bytes])).toEqual([
      ['system prompt', 33],
      ['task line', 9],
    ]);
  });
});
