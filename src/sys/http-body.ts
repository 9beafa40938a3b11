import type { Readable } from 'node:stream';
import type { LoopQueue } from '../base/loop-queue.ts';
import type { TrafficObserver } from './http-types.ts';

/** Pieces of one body that may wait for its turn, and their bytes, before it is read no further. */
const MOST_WAITING = 16;
const MOST_WAITING_BYTES = 16_384;

/** As `fetch` fails. */
export function fetchFailed(cause: unknown): Error {
  return new TypeError('fetch failed', { cause });
}

/**
 * A body as a web stream: read as fast as it is taken, given in its turn among all bodies of the queue, and
 * what came until then as one piece: each piece costs its way through all that reads it. An end before its
 * end is an error.
 */
export function bodyOf(
  message: Readable,
  queue: LoopQueue,
  observer: TrafficObserver | undefined,
): ReadableStream<Uint8Array> {
  let over = false;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const isFull = () => waiting.length >= MOST_WAITING || waitingBytes >= MOST_WAITING_BYTES;
  const source: FlowingSource = {
    start(controller) {
      const give = () => {
        const pieces = waiting;
        waiting = [];
        waitingBytes = 0;
        if (over) return;
        controller.enqueue(joined(pieces));
        if ((controller.desiredSize ?? 0) <= 0) message.pause();
        else if (message.isPaused()) message.resume();
      };
      const end = (finish: () => void) => {
        queue.add(() => {
          if (over) return;
          over = true;
          finish();
        });
      };
      const fail = (cause: unknown) => end(() => controller.error(fetchFailed(cause)));
      message.on('data', (chunk: Buffer) => {
        observer?.bytes?.(chunk);
        waitingBytes += chunk.length;
        if (waiting.push(chunk) === 1) queue.add(give);
        if (isFull()) message.pause();
      });
      const onClose = () => fail(new Error('other side closed'));
      message.once('close', onClose);
      message.once('end', () => {
        // Each is closed some time, and an error takes its time to make.
        message.off('close', onClose);
        end(() => controller.close());
      });
      message.on('error', fail);
    },
    pull: () => {
      if (!isFull()) message.resume();
    },
    flows: () => true,
    cancel: () => {
      over = true;
      message.destroy();
    },
  };
  return new ReadableStream(source);
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
}

/** Our own streams ask it no more than it needs (`sys/plain-streams.ts`). */
interface FlowingSource extends NonNullable<
  ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]
> {
  flows(): boolean;
}
