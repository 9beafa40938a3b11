import type { Readable } from 'node:stream';
import type { LoopQueue } from '../../base/loop-queue.ts';
import type { ResponseBody, TrafficObserver } from './http-types.ts';

/**
 * The number of pieces of one body, and their bytes, that may wait for their turn before the body is paused.
 */
const MOST_WAITING = 16;
const MOST_WAITING_BYTES = 16_384;
/** The number of joined pieces that may wait for their reader before the body is paused. */
const MOST_UNREAD = 16;

/** Creates an error like the one that `fetch` rejects with. */
export function createFetchError(cause: unknown): Error {
  return new TypeError('fetch failed', { cause });
}

type End = { readonly failed: false } | { readonly failed: true; readonly error: Error };

/**
 * The body of an incoming message. Bodies take turns in the queue, so that no body holds up the others. Pieces
 * that arrive before the body's turn are joined into one, because each piece has a cost in every reader. Pieces
 * that arrived before an error are delivered before it. Node's web streams are not used: they take several
 * promises for each piece, and 30 ms to load.
 */
export class IncomingBody implements ResponseBody {
  private readonly message: Readable;
  private readonly queue: LoopQueue;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  private readonly unread: Uint8Array[] = [];
  private end: End | null = null;
  private reader: PromiseWithResolvers<Uint8Array | null> | null = null;

  constructor(message: Readable, queue: LoopQueue, observer: TrafficObserver | undefined) {
    this.message = message;
    this.queue = queue;
    message.on('data', (chunk: Buffer) => {
      observer?.bytes?.(chunk);
      this.waitingBytes += chunk.length;
      if (this.waiting.push(chunk) === 1) queue.add(() => this.give());
      if (this.isFull) message.pause();
    });
    const onClose = () => this.finish(() => this.fail(new Error('other side closed')));
    message.once('close', onClose);
    message.once('end', () => {
      // Every message is closed at some time, and creating an error for each would be slow.
      message.off('close', onClose);
      this.finish(() => this.settle({ failed: false }));
    });
    message.on('error', (cause) => this.finish(() => this.fail(cause)));
    message.pause();
  }

  read(): Promise<Uint8Array | null> {
    const piece = this.unread.shift();
    if (piece !== undefined) {
      this.flow();
      return Promise.resolve(piece);
    }
    if (this.end !== null) {
      return this.end.failed ? Promise.reject(this.end.error) : Promise.resolve(null);
    }
    this.reader ??= Promise.withResolvers();
    this.flow();
    return this.reader.promise;
  }

  async cancel(): Promise<void> {
    this.unread.length = 0;
    this.settle({ failed: false });
    this.message.destroy();
  }

  private get isFull(): boolean {
    return this.waiting.length >= MOST_WAITING || this.waitingBytes >= MOST_WAITING_BYTES;
  }

  private flow(): void {
    if (!this.isFull && this.unread.length < MOST_UNREAD) this.message.resume();
  }

  private give(): void {
    const pieces = this.waiting.splice(0);
    this.waitingBytes = 0;
    const [only] = pieces;
    if (this.end !== null || only === undefined) return;
    const piece = pieces.length === 1 ? only : Buffer.concat(pieces);
    const { reader } = this;
    this.reader = null;
    if (reader === null) this.unread.push(piece);
    else reader.resolve(piece);
    if (this.unread.length >= MOST_UNREAD) this.message.pause();
    else if (this.message.isPaused()) this.message.resume();
  }

  /** Ends the body in its turn, so that pieces that arrived earlier are delivered first. */
  private finish(settle: () => void): void {
    this.queue.add(settle);
  }

  private fail(cause: unknown): void {
    if (this.end === null) this.settle({ failed: true, error: createFetchError(cause) });
  }

  /** Only the first end counts. */
  private settle(end: End): void {
    if (this.end !== null) return;
    this.end = end;
    const { reader } = this;
    this.reader = null;
    if (end.failed) reader?.reject(end.error);
    else reader?.resolve(null);
  }
}
