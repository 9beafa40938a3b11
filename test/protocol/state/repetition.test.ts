import { describe, expect, test } from 'vitest';
import {
  applyToConversation,
  emptyConversation,
} from '../../../src/protocol/state/conversation.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import {
  applyToRepetition,
  initialRepetition,
  addOpenRound,
} from '../../../src/protocol/state/repetition.ts';
import { NO_USAGE } from '../../../src/protocol/model.ts';
import { countRepeatedCalls } from '../../../src/engine/loop/next-step.ts';

const STAMP = { v: 2, seq: 0, ts: 0, task: 'main', epoch: 1 };

/** An answer a word, a call a letter, whose result is itself; `|`: a message comes, `!`: a notice. */
function folded(words: readonly string[], result = (letter: string, _id: string) => letter) {
  const conversation = emptyConversation();
  const repetition = initialRepetition();
  const apply = (body: EventBody) => {
    applyToRepetition(repetition, { ...STAMP, ...body }, conversation);
    applyToConversation(conversation, { ...STAMP, ...body });
  };
  const inputs: string[] = [];
  for (const [round, word] of words.entries()) {
    const id = `i${round}`;
    if (word === '|' || word === '!') {
      const kind = word === '|' ? 'message' : 'notice';
      apply({ type: 'input.queued', input: { id, kind, from: 'user', text: 'by the way' } });
      inputs.push(id);
      continue;
    }
    apply(turnStarted(round, inputs.splice(0)));
    const calls = [...word].map((letter, at) => ({ id: `${round}.${at}`, letter }));
    apply(turnEnded(round, calls));
    for (const { id: callId, letter } of calls) {
      const text = result(letter, callId);
      apply({ type: 'call.ended', callId, tool: 'Bash', text, error: null, facts: {}, ms: 0 });
    }
  }
  return { repetition, conversation };
}

function turnStarted(turn: number, inputs: readonly string[]): EventBody {
  return { type: 'turn.started', turn, inputs, model: 'm', toolChoice: 'auto' };
}

function turnEnded(turn: number, calls: readonly { id: string; letter: string }[]): EventBody {
  const content = calls.map(
    ({ id, letter }) =>
      ({ type: 'tool_call', id, name: 'Bash', input: { command: letter } }) as const,
  );
  return {
    type: 'turn.ended',
    turn,
    message: { role: 'assistant', content },
    usage: NO_USAGE,
    costUsd: null,
    reason: 'tool_calls',
    model: 'm',
    ms: 0,
  };
}

describe('the same calls with the same results', () => {
  test.each([
    ['', 0],
    ['a', 0],
    ['a b', 0],
    ['a a', 2],
    ['x a a a', 3],
    ['a a a x', 0],
    ['a b a', 0],
    ['a b a b', 4],
    ['x y a b a b a b', 6],
    ['a b c a b c', 6],
    ['a b c d a b c d a b c d', 12],
    ['a b c d e a b c d e', 0],
    ['a a b a a b', 6],
    ['ab ab ab', 6],
    ['a a ! a', 3],
    ['a a | a', 0],
    ['a a a | a a', 2],
    ['a b '.repeat(40).trim(), 80],
  ])('%s: %i calls repeat', (words, calls) => {
    const { repetition, conversation } = folded(words.split(' ').filter((word) => word !== ''));
    expect(countRepeatedCalls(addOpenRound(repetition, conversation))).toBe(calls);
  });

  test('are counted up to a limit in a long conversation', () => {
    const { repetition } = folded(Array.from({ length: 3000 }, () => 'a'));
    expect(countRepeatedCalls(repetition.rounds)).toBe(256);
  });

  test('are not a repetition with other results', () => {
    const { repetition, conversation } = folded(['a', 'a', 'a'], (_, id) => id);
    expect(countRepeatedCalls(addOpenRound(repetition, conversation))).toBe(0);
  });

  test('are kept once, and are dropped when they cannot repeat any more', () => {
    const { rounds } = folded([...'uvwxyz', ...'abababab']).repetition;
    expect(new Set(rounds).size).toBeLessThanOrEqual(5);
    expect(folded([...'abcdefghijk']).repetition.rounds).toHaveLength(5);
  });
});

test.each([
  [['a'], [1]],
  [['aaa'], [1, 2, 3]],
  [['a', 'a', 'a'], [3]],
  [
    ['aa', 'aa'],
    [3, 4],
  ],
  [
    ['aa', 'ba'],
    [1, 1],
  ],
  [
    ['ab', 'ba'],
    [2, 1],
  ],
  [['a', 'b', 'a'], [1]],
  [['a', 'a', '|', 'a'], [1]],
  [['a', 'a', '!', 'a', '!', 'a'], [4]],
  [[], []],
])('%j: times in a row %j', (answers, times) => {
  const { repetition } = folded(answers, (_, id) => id);
  expect([...repetition.timesInARow.values()]).toEqual(times);
});
