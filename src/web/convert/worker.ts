import { parentPort } from 'node:worker_threads';
import { errorMessage } from '../../base/errors.ts';
import { convertBytes } from './convert-bytes.ts';
import type { ConversionReply, ConversionRequest } from './page.ts';

// Parsers write about what they do not know. It is dropped here, because a worker whose output is read by the process
// that started it keeps that process alive.
for (const stream of [process.stdout, process.stderr]) stream.write = () => true;

/** The program of the worker that converts pages: it answers each request with the page or with an error. */
parentPort?.on('message', ({ bytes, contentType, url }: ConversionRequest) => {
  void convertBytes({ bytes, contentType, url: new URL(url) })
    .then((page): ConversionReply => ({ page }))
    .catch((thrown: unknown): ConversionReply => ({ error: errorMessage(thrown) }))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    .then((reply) => parentPort?.postMessage(reply));
});
