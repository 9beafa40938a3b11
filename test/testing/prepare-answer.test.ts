import { assert, integer, property, string } from 'fast-check';
import { expect, it } from 'vitest';
import { prepareAnswer, splitPieces } from '../../src/testing/prepare-answer.ts';

const CONTEXT = {
  id: 'x',
  createdAt: 1,
  callIdPrefix: 'call_',
  prompt: { input: 7, cacheRead: 5, cacheWrite: 3 },
};

it('pieces make up the text, none is empty, and there are at most as many as requested', () => {
  assert(
    property(string({ unit: 'binary' }), integer({ min: 0, max: 9 }), (text, count) => {
      const pieces = splitPieces(text, count);
      expect(pieces.join('')).toBe(text);
      expect(pieces.every((piece) => piece !== '')).toBe(true);
      expect(pieces.length).toBeLessThanOrEqual(Math.max(count, 1));
      expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    }),
  );
});

it('fills in ids, usage and the reason to stop', () => {
  const answer = {
    thinking: 'x'.repeat(40),
    text: 'x'.repeat(8),
    toolCalls: [
      { name: 'Read', input: { a: 1 } },
      { name: 'Read', input: {}, id: 'own' },
    ],
    usage: { input: 70 },
  };
  expect(prepareAnswer(answer, CONTEXT)).toEqual({
    id: 'x',
    createdAt: 1,
    thinking: ['x'.repeat(40)],
    text: ['x'.repeat(8)],
    search: null,
    calls: [
      { id: 'call_0', name: 'Read', args: '{"a":1}', pieces: ['{"a":1}'], state: 'complete' },
      { id: 'own', name: 'Read', args: '{}', pieces: ['{}'], state: 'complete' },
    ],
    usage: { input: 70, cacheRead: 5, cacheWrite: 3, output: 17, reasoning: 10 },
    stop: 'tool_calls',
  });
});

it('cuts the last call for length, breaks all for bad JSON', () => {
  const toolCalls = [
    { name: 'A', input: { a: 1 } },
    { name: 'B', input: { b: 2 } },
  ];
  const states = (kind: 'length_stop' | 'broken_tool_json') =>
    prepareAnswer({ toolCalls, fault: { kind } }, CONTEXT).calls.map((call) => [
      call.args,
      call.state,
    ]);
  expect(states('length_stop')).toEqual([
    ['{"a":1}', 'complete'],
    ['{"b"', 'cut'],
  ]);
  expect(states('broken_tool_json')).toEqual([
    ['{"a":1', 'broken'],
    ['{"b":2', 'broken'],
  ]);
});
