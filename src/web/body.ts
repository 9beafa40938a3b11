import { pipeline, type Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { MusterError } from '../base/errors.ts';
import { cleanServerText } from './web-errors.ts';

/** A body, or its beginning. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** True if the body is larger than the limit. */
  readonly isCut: boolean;
}

/** Creates the decoder of an encoding. `first`: the first byte of the body. */
type CreateDecoder = (first: number) => Transform;

/** The largest window of zstd. Every decoder must support this size (RFC 8878), and no server may ask for more. */
const ZSTD_WINDOW_LOG = 23;
const ZLIB_METHOD_MASK = 0x0f;
const ZLIB_METHOD = 8;

/** The decoders by content encoding. Node has zstd since 22.15. */
const DECODERS: ReadonlyMap<string, CreateDecoder> = new Map<string, CreateDecoder>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['br', () => zlib.createBrotliDecompress()],
  [
    'zstd',
    () =>
      zlib.createZstdDecompress({
        params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
      }),
  ],
  [
    'deflate',
    // Some servers send the data without the header of zlib, which its first byte shows.
    (first) =>
      (first & ZLIB_METHOD_MASK) === ZLIB_METHOD ? zlib.createInflate() : zlib.createInflateRaw(),
  ],
]);

/** The value of Accept-Encoding. */
export const ACCEPTED_ENCODINGS = [...DECODERS.keys()]
  .filter((name) => name !== 'x-gzip')
  .join(', ');

/**
 * Reads a body and decompresses it. The bytes are counted while they are decompressed, so that a small body cannot fill
 * the memory. Throws PROVIDER_ERROR for an unknown encoding and for one that is applied twice.
 *
 * @param encoding the header Content-Encoding; null: there is none
 */
export async function readBody(
  source: Readable,
  encoding: string | null,
  maxBytes: number,
): Promise<ReadBody> {
  const createDecoder = findDecoder(encoding);
  const wire = new CountedSource(source, maxBytes);
  if (createDecoder === null) {
    const bytes = await collect(wire.read());
    return { bytes, isCut: wire.isCut };
  }
  const chunks = wire.read();
  const { value: first, done } = await chunks.next();
  // An answer without a body, such as that to HEAD, has the encoding that the body would have.
  if (done === true || first === undefined) return { bytes: Buffer.alloc(0), isCut: false };
  const decoder = createDecoder(first[0] ?? 0);
  pipeline(prepend(first, chunks), decoder, () => {});
  return await collectDecoded(decoder, wire, maxBytes);
}

function findDecoder(header: string | null): CreateDecoder | null {
  const encoding = header?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return null;
  const decoder = DECODERS.get(encoding);
  if (decoder !== undefined) return decoder;
  const text = `the body has the encoding "${cleanServerText(encoding)}", which is not supported`;
  throw new MusterError('PROVIDER_ERROR', text);
}

/** A stream that is read up to a limit. */
class CountedSource {
  /** True if the stream has more bytes than the limit. */
  isCut = false;
  readonly #source: Readable;
  #room: number;

  constructor(source: Readable, maxBytes: number) {
    this.#source = source;
    this.#room = maxBytes;
  }

  async *read(): AsyncGenerator<Buffer, undefined> {
    for await (const chunk of this.#source) {
      const bytes = chunk as Buffer;
      if (bytes.length === 0) continue;
      if (bytes.length <= this.#room) {
        this.#room -= bytes.length;
        yield bytes;
        continue;
      }
      this.isCut = true;
      if (this.#room > 0) yield bytes.subarray(0, this.#room);
      return;
    }
  }
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function collectDecoded(
  decoder: Transform,
  wire: CountedSource,
  maxBytes: number,
): Promise<ReadBody> {
  const decoded = new CountedSource(decoder, maxBytes);
  const all: Buffer[] = [];
  try {
    for await (const chunk of decoded.read()) all.push(chunk);
  } catch (thrown) {
    // The end of the compressed data is missing if it was cut.
    if (!wire.isCut) throw thrown;
  }
  return { bytes: Buffer.concat(all), isCut: wire.isCut || decoded.isCut };
}
