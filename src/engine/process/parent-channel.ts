import { readSync, writeSync } from 'node:fs';
import { deferred, type Deferred } from '../../base/async.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { CHANNEL_DESCRIPTOR } from '../../sys/processes/process-group.ts';
import { encodeFrame, FrameReader, NO_FRAME_LIMITS } from './frames.ts';
import type { AskPort, MessageFromProcess, QueryPort } from './messages.ts';

const READ_BYTES = 65_536;

/** The number of a call, a port, and its arguments. */
interface PortCall<Port> {
  readonly number: number;
  readonly port: Port;
  readonly args: readonly unknown[];
}

/** The connection of the process of a task to Muster. */
export class ParentChannel {
  private readonly replies = new FrameReader(NO_FRAME_LIMITS);
  private readonly open = new Map<number, Deferred<JsonValue>>();
  private asks = 0;

  /** Sends a message. Waits while the channel is full. */
  send(message: MessageFromProcess, body?: Buffer): void {
    const bytes = encodeFrame(message, body);
    for (let done = 0; done < bytes.length;) {
      done += writeSync(CHANNEL_DESCRIPTOR, bytes, done);
    }
  }

  /**
   * Calls a port and waits for its answer, without doing anything else meanwhile: tools expect the answers of these
   * ports at once. Throws the error of the port.
   */
  query({ number, port, args }: PortCall<QueryPort>): JsonValue {
    this.send({ type: 'query', number, port, args });
    for (;;) {
      const chunk = Buffer.alloc(READ_BYTES);
      const size = readSync(CHANNEL_DESCRIPTOR, chunk);
      if (size === 0) throw new Error('Muster has ended');
      const [reply] = this.replies.add(chunk.subarray(0, size));
      if (reply !== undefined) return readAnswer(reply.header);
    }
  }

  /** Calls a port. Resolves to its answer, or rejects with its error. */
  async ask({ number, port, args }: PortCall<AskPort>, body?: Buffer): Promise<JsonValue> {
    const ask = (this.asks += 1);
    const answer = deferred<JsonValue>();
    this.open.set(ask, answer);
    this.send({ type: 'ask', number, ask, port, args }, body);
    return await answer.promise;
  }

  /** Takes an answer that has arrived. */
  answer(message: JsonObject): void {
    const { ask } = message;
    const open = typeof ask === 'number' ? this.open.get(ask) : undefined;
    if (open === undefined || typeof ask !== 'number') return;
    this.open.delete(ask);
    try {
      open.resolve(readAnswer(message));
    } catch (thrown) {
      open.reject(thrown);
    }
  }
}

function readAnswer(message: JsonValue): JsonValue {
  const { value = null, error } = isJsonObject(message) ? message : {};
  if (typeof error === 'string') throw new Error(error);
  return value;
}
