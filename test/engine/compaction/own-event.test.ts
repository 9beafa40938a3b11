import { expect, test } from 'vitest';
import { ownEventNamed, readOwnResult } from '../../../src/engine/compaction/own-event.ts';
import type { TaskEvent } from '../../../src/protocol/event.ts';

const TASK = 'abcd1234efgh';

test.each([
  [`${TASK}#41`, 41],
  ['abcd#7', 7],
  ['#7', 7],
  ['other#7', null],
  [TASK, null],
  [`${TASK}#x`, null],
  [`${TASK}#9999999999999`, null],
])('%s names event %s', (word, seq) => {
  expect(ownEventNamed(word, TASK)).toBe(seq);
});

function read(text: string, offset: number, most: number) {
  const stamp = { v: 4, seq: 3, ts: 0, task: TASK, epoch: 1 };
  const outcome = { callId: 'c', tool: 'Read', text, error: null, facts: {}, ms: 1 } as const;
  const event: TaskEvent = { ...stamp, type: 'call.ended', ...outcome };
  const store = {
    scan: (_: string, visit: (event: TaskEvent) => void) => {
      visit(event);
      return undefined as never;
    },
  };
  return readOwnResult(store, TASK, { seq: 3, offset, most });
}

test('a result is read page by page, and nothing of it is lost or cut in two', () => {
  const whole = `${'a line\n'.repeat(50)}${'漢字😀'.repeat(60)}`;
  let text = '';
  for (let offset = 0; offset < whole.length;) {
    const page = read(whole, offset, 100).text;
    const body = page.replace(/^Result of Read, as it was then:\n/, '');
    const cut = /\n\[Cut at (\d+) of \d+ characters\. The rest: TaskOutput\(.*\)\]$/.exec(body);
    const shown = cut === null ? body : body.slice(0, cut.index);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(100);
    expect(shown.isWellFormed()).toBe(true);
    text += shown;
    offset = cut === null ? whole.length : Number(cut[1]);
  }
  expect(text).toBe(whole);
  expect(read('short', 99, 100)).toMatchObject({ error: 'INVALID_PARAM' });
});
