import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChangeRing } from '../../../src/front/web/change-ring.ts';

/** Reads the messages of a ring until it has none any more. */
async function read(ring: ChangeRing, cursor: string) {
  const ending = new AbortController();
  const read: unknown[] = [];
  let at = cursor;
  for await (const message of ring.follow(cursor, ending.signal)) {
    if (message === null) continue;
    read.push(message.event === 'reset' ? 'reset' : JSON.parse(message.data));
    at = message.id ?? at;
    if (at === ring.cursor) break;
  }
  return { read, at };
}

describe('a ring of changes', () => {
  it('gives each client each change once, wherever its connections break', async () => {
    const steps = fc.array(fc.constantFrom('add', 'read', 'break'), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (order) => {
        const ring = new ChangeRing();
        const added: string[][] = [];
        const got: unknown[] = [];
        let cursor = ring.cursor;
        for (const [index, step] of order.entries()) {
          if (step === 'add') {
            added.push([`task ${index}`]);
            ring.add('gone', [`task ${index}`]);
          } else if (cursor !== ring.cursor) {
            const ending = new AbortController();
            for await (const message of ring.follow(cursor, ending.signal)) {
              got.push(JSON.parse(message?.data ?? ''));
              cursor = message?.id ?? '';
              if (step === 'break' || cursor === ring.cursor) break;
            }
          }
        }
        if (cursor !== ring.cursor) got.push(...(await read(ring, cursor)).read);
        expect(got).toEqual(added);
      }),
    );
  });

  it('says that a client is too far behind when the changes are not kept any more', async () => {
    const ring = new ChangeRing(100);
    const start = ring.cursor;
    ring.add('gone', ['a'.repeat(60)]);
    const middle = ring.cursor;
    ring.add('gone', ['b'.repeat(60)]);
    expect((await read(ring, start)).read).toEqual(['reset']);
    expect((await read(ring, middle)).read).toEqual([['b'.repeat(60)]]);
  });

  it.each([
    ['of another server', 'abcdefghijkl:0'],
    ['that is empty', ''],
    ['without a number', 'RUN'],
    ['beyond the newest change', 'RUN:2'],
    ['with a negative number', 'RUN:-1'],
  ])('resets a client with a cursor %s', async (_name, cursor) => {
    const ring = new ChangeRing();
    ring.add('gone', ['x']);
    const [run = ''] = ring.cursor.split(':');
    expect((await read(ring, cursor.replace('RUN', run))).read).toEqual(['reset']);
  });

  it('ends a waiting client when its connection ends', async () => {
    const ring = new ChangeRing();
    const ending = new AbortController();
    const waiting = ring.follow(ring.cursor, ending.signal).next();
    ending.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });
});
