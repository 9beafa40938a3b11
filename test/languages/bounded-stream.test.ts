import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../src/base/async.ts';
import { BoundedStream } from '../../src/languages/bounded-stream.ts';

/** Sends a text in chunks. Returns what came through, and the error. */
async function send(text: string, chunkSizes: readonly number[]) {
  const stream = new BoundedStream();
  let received = '';
  let error: string | null = null;
  stream.on('data', (chunk: Buffer) => void (received += chunk.toString('latin1')));
  stream.on('error', ({ message }) => void (error = message));
  const closed = deferred<void>();
  stream.on('close', () => closed.resolve());
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = chunkSizes[index % chunkSizes.length] ?? 1;
    stream.write(bytes.subarray(at, at + size));
    at += size;
  }
  stream.end();
  await closed.promise;
  return { received, error };
}

function frame(body: string): string {
  return `Content-Length: ${body.length}\r\nContent-Type: x\r\n\r\n${body}`;
}

describe('the output of a language server', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  const bodies = fc.array(
    fc.constantFrom('{}', '', 'Content-Length: 9', '\r\n\r\n', 'x'.repeat(90)),
  );

  it('comes through without further headers, however it is split', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, sizes, async (each, chunkSizes) => {
        const text = each.map(frame).join('');
        const received = text.replaceAll('Content-Type: x\r\n', '');
        expect(await send(text, chunkSizes)).toEqual({ received, error: null });
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    'Content-Length: 2\r\nContent-Length: 999999999\r\n\r\n{}',
    'X: a\nContent-Length: 2\r\nContent-Length: 999999999\r\n\r\n{}',
  ])('comes through with one length (%#)', async (text) => {
    const received = 'Content-Length: 2\r\n\r\n{}';
    expect(await send(text, [7])).toEqual({ received, error: null });
  });

  it.each([
    ['Content-Length: 9999999\r\n\r\n', 'it sent a message of more than 8 MB'],
    ['Content-Type: x\r\n\r\n', 'it sent a message without a length'],
    [frame('{}').repeat(20_000), 'it sent more than 20000 messages within 10 s'],
    ['x'.repeat(5_000), 'it sent something that is no message'],
  ])('is refused beyond a limit (%#)', async (text, error) => {
    const { error: found } = await send(`${frame('{}')}${text}`, [7, 4_000]);
    expect(found).toContain(error);
  });
});
