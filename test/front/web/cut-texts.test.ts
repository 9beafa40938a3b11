import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutEvent, findText } from '../../../src/front/web/cut-texts.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';

const stamp = { v: 4, seq: 7, ts: 1, task: 'abcdefghijkl', epoch: 1 };

function endedCall(text: string, input: unknown = null): TaskEvent {
  return { ...stamp, type: 'call.started', callId: 'c', tool: text, input } as TaskEvent;
}

it('leaves short events as they are', () => {
  const event = endedCall('short');
  expect(cutEvent(event)).toEqual({ event });
});

it('cuts long texts at any depth, and finds each again by its pointer', () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(fc.string(), json, (text, input) => {
      const event = endedCall(text, input);
      const { event: short, cut = [] } = cutEvent(event, 3);
      let restored: unknown = short;
      for (const { pointer, length } of cut) {
        const full = findText(event, pointer);
        expect(full).toHaveLength(length);
        expect(findText(short, pointer)).toBe(full?.slice(0, 3));
        restored = put(restored, pointer, full ?? '');
      }
      expect(restored).toEqual(event);
    }),
  );
});

/** Returns a copy with another text at a pointer. */
function put(value: unknown, pointer: string, text: string): unknown {
  const copy = structuredClone(value) as Record<string, unknown>;
  const keys = pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop() ?? '';
  const parent = keys.reduce((at, key) => at[key] as Record<string, unknown>, copy);
  parent[last] = text;
  return copy;
}

it.each(['', 'text', '/', '/tool/0', '/input/length', '/__proto__/constructor', '/seq'])(
  'finds no text at %j',
  (pointer) => {
    expect(findText(endedCall('text', ['a']), pointer)).toBeNull();
  },
);
