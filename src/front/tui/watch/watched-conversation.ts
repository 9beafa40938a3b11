import { errorMessage } from '../../../base/errors.ts';
import type { ConversationPort } from '../terminal/conversation.ts';
import type { UiMuster } from '../model/ui-library.ts';
import type { Tell } from './watched-muster.ts';

/** The conversation of another process: what is said goes there. */
export class WatchedConversation implements ConversationPort {
  readonly id: string;
  readonly isAtWork = false;
  readonly isWatched = true;
  private readonly muster: Pick<UiMuster, 'resumeBelow' | 'send'>;
  private readonly tell: Tell;

  constructor(id: string, muster: Pick<UiMuster, 'resumeBelow' | 'send'>, tell: Tell) {
    this.id = id;
    this.muster = muster;
    this.tell = tell;
  }

  continue(): void {
    // It stays the one that is watched.
  }

  say(text: string): void {
    this.muster.send(this.id, text);
  }

  goOn(): void {
    // Whether it does is up to the process that it belongs to.
  }

  wake(task: string, text: string | null): void {
    const message = text === null ? {} : { prompt: text };
    this.muster.resumeBelow(task, message).catch((thrown: unknown) => {
      const what = text === null ? 'it does not go on' : `not sent: “${text}”`;
      this.tell(`${what}: ${errorMessage(thrown)}`);
    });
  }
}
