import { MusterError } from '../../base/errors.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { Run } from './contract.ts';

/** The parts of a conversation whose messages arrive one after another. */
export interface ConversationParts<Message> {
  /** The run that works on the first message. */
  readonly first: Run;
  /** The further messages. */
  readonly messages: AsyncIterator<Message>;
  /** Sends a message to the task. Throws MusterError `NOT_FOUND` if the task has ended or is about to end. */
  send(message: Message): void;
  /** Continues the task, which has ended, with the next message. */
  resume(message: Message): Promise<Run>;
  /** Resolves when the conversation is stopped. No message is read any more then. */
  readonly stopped: Promise<void>;
}

/**
 * Passes on the messages until there are no more: to the run while it works, and to another run of the same task after it has
 * ended. Returns the last result. Rejects with the errors of the messages and of `resume`.
 */
export async function converse<Message>({
  first,
  messages,
  send,
  resume,
  stopped,
}: ConversationParts<Message>): Promise<ResultEnvelope> {
  let run = first;
  for (;;) {
    const message = await Promise.race([messages.next(), stopped]);
    if (message === undefined) {
      // An iterator that waits for its next message ends only after it, so nobody can wait for the end of the iterator.
      void Promise.resolve(messages.return?.()).catch(() => {});
      return run.result;
    }
    if (message.done === true) return run.result;
    if (isSent(() => send(message.value))) continue;
    await run.result;
    run = await resume(message.value);
  }
}

/** Sends a message. Returns false if the task has ended or is about to end. */
export function isSent(send: () => void): boolean {
  try {
    send();
    return true;
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return false;
    throw thrown;
  }
}
