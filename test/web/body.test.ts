import { Readable } from 'node:stream';
import zlib from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ACCEPTED_ENCODINGS, readBody } from '../../src/web/body.ts';

const MAX = 1_000;
const TEXT = Buffer.from('a text of a page. '.repeat(20));

const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => zlib.gzipSync(bytes),
  'x-gzip': (bytes) => zlib.gzipSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
};

/** A stream of the bytes in pieces of one size, which counts what was read. */
function streamOf(bytes: Buffer, size = 100) {
  const state = { pieces: 0, isClosed: false };
  async function* pieces() {
    try {
      for (let at = 0; at < bytes.length; at += size) {
        state.pieces += 1;
        yield bytes.subarray(at, at + size);
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, stream: Readable.from(pieces(), { objectMode: false }) };
}

describe('readBody', () => {
  it.each(Object.keys(ENCODERS))('reads %s', async (encoding) => {
    const sent = ENCODERS[encoding]?.(TEXT) ?? TEXT;
    for (const name of [encoding, ` ${encoding.toUpperCase()} `]) {
      expect(await readBody(streamOf(sent, 7).stream, name, MAX)).toEqual({
        bytes: TEXT,
        isCut: false,
      });
    }
  });

  it('reads deflate without the header of zlib', async () => {
    const read = await readBody(streamOf(zlib.deflateRawSync(TEXT)).stream, 'deflate', MAX);
    expect(read).toEqual({ bytes: TEXT, isCut: false });
  });

  it.each(['gzip', 'br', 'zstd', 'deflate', null])(
    'reads an empty body with %s',
    async (encoding) => {
      const read = await readBody(streamOf(Buffer.alloc(0)).stream, encoding, MAX);
      expect(read).toEqual({ bytes: Buffer.alloc(0), isCut: false });
    },
  );

  it('asks for the encodings that it reads', () => {
    expect(ACCEPTED_ENCODINGS).toBe('gzip, br, zstd, deflate');
  });

  it.each(['gzip, gzip', 'br,gzip', 'identity, gzip', 'compress', 'toString', 'gzip;q=1'])(
    'refuses the encoding %s',
    async (encoding) => {
      await expect(readBody(streamOf(TEXT).stream, encoding, MAX)).rejects.toMatchObject({
        code: 'PROVIDER_ERROR',
        message: `the body has the encoding "${encoding.toLowerCase()}", which is not supported`,
      });
    },
  );

  it.each(['gzip', 'br', 'zstd', 'deflate'])('fails for %s that is damaged', async (encoding) => {
    const whole = ENCODERS[encoding]?.(TEXT) ?? TEXT;
    for (const damaged of [whole.subarray(0, -6), Buffer.from('<html>not compressed</html>')]) {
      await expect(readBody(streamOf(damaged).stream, encoding, MAX)).rejects.toThrow();
    }
  });

  test('a body is cut exactly at the limit, with every encoding and any size of pieces', async () => {
    const sizes = fc.integer({ min: 0, max: 2_000 });
    const pieces = fc.integer({ min: 1, max: 500 });
    const encodings = fc.constantFrom(...Object.keys(ENCODERS));
    await fc.assert(
      fc.asyncProperty(encodings, sizes, pieces, async (encoding, size, piece) => {
        const bytes = Buffer.alloc(size, 'abc');
        const sent = ENCODERS[encoding]?.(bytes) ?? bytes;
        const read = await readBody(streamOf(sent, piece).stream, encoding, MAX);
        expect(read).toEqual({ bytes: bytes.subarray(0, MAX), isCut: size > MAX });
      }),
      { numRuns: 60 },
    );
  });

  it.each(['gzip', 'br', 'zstd', 'deflate'])(
    'stops a bomb of %s after the limit, and closes its connection',
    async (encoding) => {
      const bomb = ENCODERS[encoding]?.(Buffer.alloc(50_000_000)) ?? TEXT;
      const { stream, state } = streamOf(bomb, 64);
      const { bytes, isCut } = await readBody(stream, encoding, 100_000);
      expect([bytes.length, isCut]).toEqual([100_000, true]);
      if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
      expect(state.isClosed).toBe(true);
    },
  );

  it('stops compressed data that never becomes text', async () => {
    const emptyMember = zlib.gzipSync('');
    const endless = Buffer.concat(Array.from({ length: 500 }, () => emptyMember));
    const read = await readBody(streamOf(endless).stream, 'gzip', MAX);
    expect(read).toEqual({ bytes: Buffer.alloc(0), isCut: true });
  });

  it('refuses zstd that needs a large window', async () => {
    const params = { [zlib.constants.ZSTD_c_windowLog]: 27 };
    const encoder = zlib.createZstdCompress({ params });
    // The size of the text is not known to the encoder, so that the header contains the window.
    const chunks: Buffer[] = [];
    encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
    encoder.write(TEXT);
    encoder.end();
    await new Promise((resolve) => encoder.once('end', resolve));
    const sent = Buffer.concat(chunks);
    await expect(readBody(streamOf(sent).stream, 'zstd', MAX)).rejects.toThrow(/memory|window/i);
  });

  it('passes on the failure of a connection', async () => {
    for (const encoding of [null, 'gzip']) {
      async function* broken() {
        yield zlib.gzipSync(TEXT).subarray(0, 20);
        throw new Error('connection lost');
      }
      const stream = Readable.from(broken(), { objectMode: false });
      await expect(readBody(stream, encoding, MAX)).rejects.toThrow('connection lost');
    }
  });
});
