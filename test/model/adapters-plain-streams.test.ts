/**
 * The adapters' own tests again, on the streams that the built program gives the provider packages
 * (docs/decisions/0005).
 */
import { afterAll, vi } from 'vitest';
import { PlainReadableStream } from '../../src/sys/plain-streams.ts';
import { PlainTextDecoderStream, PlainTransformStream } from '../../src/sys/plain-transforms.ts';

vi.stubGlobal('ReadableStream', PlainReadableStream);
vi.stubGlobal('TransformStream', PlainTransformStream);
vi.stubGlobal('TextDecoderStream', PlainTextDecoderStream);
// Not before: one package extends the global at its import.
await import('./adapters.test.ts');
afterAll(() => vi.unstubAllGlobals());
