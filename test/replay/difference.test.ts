import { describe, expect, it } from 'vitest';
import { compareEvents } from '../../src/replay/difference.ts';
import type { EventBody, TaskEvent } from '../../src/protocol/events/event.ts';

const STAMP = { v: 4, seq: 3, ts: 1, task: 'a'.repeat(12), epoch: 1 };
const MADE = {
  type: 'turn.started',
  turn: 1,
  inputs: ['prompt'],
  model: 'a/b',
  toolChoice: 'auto',
} as const;

function logged(body: EventBody): TaskEvent {
  return { ...STAMP, ...body };
}

describe('differingFields', () => {
  it.each<[string, EventBody, readonly string[]]>([
    ['nothing', MADE, []],
    [
      'another event',
      { type: 'task.started' },
      ['the log has task.started, the rerun turn.started'],
    ],
    [
      'a field',
      { ...MADE, toolChoice: 'none' },
      ['toolChoice: the log has "none", the rerun "auto"'],
    ],
    [
      'an item',
      { ...MADE, inputs: ['prompt', 'x'] },
      ['inputs.1: the log has "x", the rerun nothing'],
    ],
    [
      'a text, beginning with the first difference',
      { ...MADE, model: 'a/b'.padEnd(40, '-') },
      ['model: the log has "a/b-------------------------------------", the rerun "a/b"'],
    ],
  ])('names %s', (_, body, lines) => {
    expect(compareEvents(MADE, logged(body))).toEqual(lines);
  });

  it('names a limited number of fields', () => {
    const body = { type: 'todos.set', items: Array.from({ length: 9 }, todo) } as const;
    const lines = compareEvents({ type: 'todos.set', items: [] }, logged(body));
    expect([lines.length, lines.at(-1)]).toEqual([6, 'and 4 more fields']);
  });
});

function todo() {
  return { content: 'x', status: 'pending' } as const;
}
