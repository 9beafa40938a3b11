import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import type { ClientUpdate } from './call-updates.ts';

export interface UpdateSenderOptions {
  /** Sends an update. Resolves when the client can get the next one, also if it has gone. */
  readonly send: (update: ClientUpdate) => Promise<void>;
  /** Called once when too much waits for the client. The rest is dropped. */
  readonly onOverflow: () => void;
}

/** The maximum size of what may wait for a client that does not read, in MB. */
export const MAX_WAITING_MB = 64;
/** The maximum length of a text that is joined from pieces, in UTF-16 units. */
const MAX_JOINED = 64 * 1024;

/**
 * Sends updates to a client in their order, the next one when the one before is written. What waits meanwhile is joined: pieces of
 * one message become one piece, and newer progress of a call replaces older progress. So a client that reads slowly costs little
 * memory.
 */
export class UpdateSender {
  readonly #options: UpdateSenderOptions;
  #waiting: ClientUpdate[] = [];
  /** The approximate length of what waits, in UTF-16 units. */
  #size = 0;
  #sending: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: UpdateSenderOptions) {
    this.#options = options;
  }

  add(update: ClientUpdate): void {
    if (this.#isClosed) return;
    const last = this.#waiting.at(-1);
    const joined = last === undefined ? null : joinUpdates(last, update);
    if (last !== undefined && joined !== null) {
      this.#size += sizeOf(joined) - sizeOf(last);
      this.#waiting[this.#waiting.length - 1] = joined;
    } else {
      this.#size += sizeOf(update);
      this.#waiting.push(update);
    }
    if (this.#size > MAX_WAITING_MB * 1024 * 1024) {
      this.#isClosed = true;
      this.#waiting = [];
      this.#options.onOverflow();
      return;
    }
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when everything that was added is written. A request that refers to updates has to wait for this. */
  async drained(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#size -= sizeOf(next);
      await this.#options.send(next);
    }
    this.#sending = null;
  }
}

/** Joins an update with the one that follows it; null if both are needed. */
export function joinUpdates(first: ClientUpdate, second: ClientUpdate): ClientUpdate | null {
  if (first.sessionId !== second.sessionId) return null;
  const { sessionId } = first;
  const [one, two] = [first.update, second.update];
  if (isTextPiece(one) && isTextPiece(two)) {
    const isSame = one.sessionUpdate === two.sessionUpdate && one.messageId === two.messageId;
    const text = one.content.text + two.content.text;
    if (!isSame || text.length > MAX_JOINED) return null;
    return { sessionId, update: { ...one, content: { type: 'text', text } } };
  }
  return isProgress(one) && isProgress(two) && one.toolCallId === two.toolCallId ? second : null;
}

type TextPiece = Extract<
  SessionUpdate,
  { sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' }
> & {
  readonly content: { readonly type: 'text' };
};

function isTextPiece(update: SessionUpdate): update is TextPiece {
  return (
    (update.sessionUpdate === 'agent_message_chunk' ||
      update.sessionUpdate === 'agent_thought_chunk') &&
    update.content.type === 'text'
  );
}

/** Returns whether an update has only the present output of a call. */
function isProgress(
  update: SessionUpdate,
): update is Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }> {
  if (update.sessionUpdate !== 'tool_call_update') return false;
  const { sessionUpdate: _, toolCallId: _id, content, _meta, ...rest } = update;
  return content !== undefined && Object.keys(rest).length === 0;
}

/** Returns the approximate size of an update, in UTF-16 units. */
function sizeOf({ update }: ClientUpdate): number {
  return isTextPiece(update) ? update.content.text.length + 200 : JSON.stringify(update).length;
}
