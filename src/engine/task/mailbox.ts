import { deferred, onAbort } from '../../base/async.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskInput } from '../../protocol/input.ts';

interface MailboxParts {
  readonly record: (event: EventBody) => void;
  /** Aborts when the task is stopped. */
  readonly signal: AbortSignal;
}

/** Brings messages to a task, and wakes the task when it waits for something. */
export class Mailbox {
  private readonly parts: MailboxParts;
  private waiting = deferred<void>();

  constructor(parts: MailboxParts) {
    this.parts = parts;
  }

  /** Queues an input for the task's next request and wakes the task. */
  send(input: TaskInput): void {
    this.parts.record({ type: 'input.queued', input });
    this.wake();
  }

  /** Lets the task look again whether what it waits for has come. */
  wake(): void {
    this.waiting.resolve();
  }

  /** Resolves at the next `wake`; rejects with the signal's reason when the task is stopped. */
  async nextMessage(): Promise<void> {
    const { signal } = this.parts;
    const waiting = deferred<void>();
    this.waiting = waiting;
    const forget = onAbort(signal, () => waiting.reject(signal.reason));
    await waiting.promise.finally(forget);
  }
}
