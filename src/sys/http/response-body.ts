import type { Readable } from 'node:stream';
import type { LoopQueue } from '../../base/loop-queue.ts';
import type { ResponseBody, TrafficObserver } from './http-types.ts';

/**
 * The maximum number of pieces of one body, and of their bytes, that may wait in the queue. Beyond it the body is
 * paused.
 */
const MAX_WAITING = 16;
const MAX_WAITING_BYTES = 16_384;
/** The maximum number of joined pieces that the reader has not taken. Beyond it the body is paused. */
const MAX_UNREAD = 16;

/** Creates an error like the one that `fetch` rejects with. */
export function createFetchError(cause: unknown): Error {
  return new TypeError('fetch failed', { cause });
}

type End = { readonly failed: false } | { readonly failed: true; readonly error: Error };

/**
 * The body of an incoming message. Bodies take turns in the queue, so that no body delays the others. Pieces that
 * arrive before the body's turn are joined into one, because every reader does some work for each piece. Pieces that
 * arrived before an error are delivered before the error. Node's web streams are not used: they need several promises
 * for each piece, and take 30 ms to load.
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
      if (this.waiting.push(chunk) === 1) queue.add(() => this.deliver());
      if (this.isFull) message.pause();
    });
    const onClose = () => this.finish(() => this.fail(new Error('other side closed')));
    message.once('close', onClose);
    message.once('end', () => {
      // Every message is eventually closed, and creating an error for each of them would be slow.
      message.off('close', onClose);
      this.finish(() => this.settle({ failed: false }));
    });
    message.on('error', (cause) => this.finish(() => this.fail(cause)));
    message.pause();
  }

  read(): Promise<Uint8Array | null> {
    const piece = this.unread.shift();
    if (piece !== undefined) {
      this.resumeIfNotFull();
      return Promise.resolve(piece);
    }
    if (this.end !== null) {
      return this.end.failed ? Promise.reject(this.end.error) : Promise.resolve(null);
    }
    this.reader ??= Promise.withResolvers();
    this.resumeIfNotFull();
    return this.reader.promise;
  }

  async cancel(): Promise<void> {
    this.unread.length = 0;
    this.settle({ failed: false });
    this.message.destroy();
  }

  private get isFull(): boolean {
    return this.waiting.length >= MAX_WAITING || this.waitingBytes >= MAX_WAITING_BYTES;
  }

  private resumeIfNotFull(): void {
    if (!this.isFull && this.unread.length < MAX_UNREAD) this.message.resume();
  }

  private deliver(): void {
    const pieces = this.waiting.splice(0);
    this.waitingBytes = 0;
    const [only] = pieces;
    if (this.end !== null || only === undefined) return;
    const piece = pieces.length === 1 ? only : Buffer.concat(pieces);
    const { reader } = this;
    this.reader = null;
    if (reader === null) this.unread.push(piece);
    else reader.resolve(piece);
    if (this.unread.length >= MAX_UNREAD) this.message.pause();
    else if (this.message.isPaused()) this.message.resume();
  }

  /** Ends the body in its turn, so that pieces that arrived earlier are delivered first. */
  private finish(settle: () => void): void {
    this.queue.add(settle);
  }

  private fail(cause: unknown): void {
    if (this.end === null) this.settle({ failed: true, error: createFetchError(cause) });
  }

  /** Ends the body. Only the first call has an effect. */
  private settle(end: End): void {
    if (this.end !== null) return;
    this.end = end;
    const { reader } = this;
    this.reader = null;
    if (end.failed) reader?.reject(end.error);
    else reader?.resolve(null);
  }
}
