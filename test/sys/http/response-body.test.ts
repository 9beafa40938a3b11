import { PassThrough } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LoopQueue } from '../../../src/base/loop-queue.ts';
import { IncomingBody } from '../../../src/sys/http/response-body.ts';
import type { ResponseBody } from '../../../src/sys/http/http-types.ts';

const MAX_WAITING = 16;

/** All that a body gives, its failure last. */
async function read(body: ResponseBody): Promise<readonly string[]> {
  const seen: string[] = [];
  try {
    for (let piece = await body.read(); piece !== null; piece = await body.read()) {
      seen.push(Buffer.from(piece).toString());
    }
  } catch (thrown) {
    const { message, cause } = thrown as Error;
    seen.push(`${message}: ${(cause as Error).message}`);
  }
  return seen;
}

const bodies = fc.array(
  fc.record({
    chunks: fc.array(fc.constantFrom('a', 'bc', 'def'), { maxLength: 40 }),
    end: fc.constantFrom('end', 'error', 'close'),
  }),
  { maxLength: 8 },
);
const ENDS = {
  end: [],
  error: ['fetch failed: reset'],
  close: ['fetch failed: other side closed'],
} as const;

it('gives each body completely, then its end', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, async (sent) => {
      const queue = new LoopQueue();
      const messages = sent.map(() => new PassThrough());
      const seen = messages.map((message) => read(new IncomingBody(message, queue, undefined)));
      const most = Math.max(0, ...sent.map(({ chunks }) => chunks.length));
      for (let at = 0; at < most; at += 1) {
        for (const [index, { chunks }] of sent.entries()) {
          const chunk = chunks[at];
          if (chunk !== undefined) messages[index]?.write(chunk);
        }
        if (at % 5 === 0) await nextRound();
      }
      // What a stream that breaks off had not given yet is gone with it.
      for (let round = 0; round < 200; round += 1) await nextRound();
      for (const [index, { end }] of sent.entries()) {
        if (end === 'end') messages[index]?.end();
        else messages[index]?.destroy(end === 'error' ? new Error('reset') : undefined);
      }
      const got = await Promise.all(seen);
      expect(got.map((parts) => parts.join(''))).toEqual(
        sent.map(({ chunks, end }) => [...chunks, ...ENDS[end]].join('')),
      );
    }),
    { numRuns: 40 },
  );
});

it('gives a body that ends its turn among all others', async () => {
  const queue = new LoopQueue();
  const order: string[] = [];
  const messages = ['a', 'b', 'c'].map((name) => {
    const message = new PassThrough();
    const follow = async () => {
      await read(new IncomingBody(message, queue, undefined));
      // What an engine does with an answer: its own next request first.
      await Promise.resolve();
      order.push(name);
    };
    return { name, message, followed: follow() };
  });
  for (const { message, name } of messages) message.end(name);
  await Promise.all(messages.map(({ followed }) => followed));
  expect(order).toEqual(['a', 'b', 'c']);
});

it.each([
  ['sixteen pieces', 1, MAX_WAITING],
  ['16 KB', 10_000, 20_000],
])('reads a body no further while %s of it wait for others', async (_, size, most) => {
  const queue = new LoopQueue();
  const busy = Promise.withResolvers<void>();
  let isBusy = true;
  const keepBusy = () => {
    if (isBusy) for (let piece = 0; piece < 4; piece += 1) queue.add(() => {});
  };
  for (let piece = 0; piece < 400; piece += 1) queue.add(keepBusy);
  void busy.promise.then(() => (isBusy = false));
  let bytes = 0;
  const message = new PassThrough({ highWaterMark: 1_000_000 });
  const seen = read(new IncomingBody(message, queue, { bytes: ({ length }) => (bytes += length) }));
  for (let chunk = 0; chunk < 100; chunk += 1) {
    message.write('x'.repeat(size));
    await nextRound();
  }
  expect(bytes).toBeLessThanOrEqual(most);
  busy.resolve();
  message.end();
  expect((await seen).join('')).toBe('x'.repeat(100 * size));
});

it('gives everything that has arrived until its turn as one piece', async () => {
  const queue = new LoopQueue();
  const message = new PassThrough();
  const seen = read(new IncomingBody(message, queue, undefined));
  // They flow from the next round on.
  for (const piece of ['a', 'bc', 'def']) message.write(piece);
  const others = Array.from({ length: 12 }, () => queue.waitForTurn());
  await Promise.all(others);
  for (const piece of ['g', 'hi']) message.write(piece);
  message.end();
  expect(await seen).toEqual(['abcdef', 'ghi']);
});

it('ends the message of a body that nobody needs any more', async () => {
  const message = new PassThrough();
  const body = new IncomingBody(message, new LoopQueue(), undefined);
  message.write('x');
  await body.cancel();
  expect(message.destroyed).toBe(true);
});
