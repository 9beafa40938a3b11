import type { Muster, QuotedItems } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { UiMessage } from '../update/message.ts';
import type { PastedImages } from './pasted-images.ts';
import type { ShellCommands } from './shell-commands.ts';

interface SenderOptions {
  readonly library: Pick<Muster, 'enclose'>;
  /** The agent definition that the conversation runs as; null for the main agent. */
  readonly agent: string | null;
  readonly shell: Pick<ShellCommands, 'takeOutputs'>;
  readonly images: Pick<PastedImages, 'findImages'>;
  readonly dispatch: (message: UiMessage) => void;
}

/** The receiver of a message. */
export interface Recipient {
  /** Returns the id of the task; null for a conversation that has not started. It is called when the attachments are gathered. */
  readonly to: () => string | null;
  readonly deliver: (text: string, enclosed?: QuotedItems) => void;
}

/** Sends the user's messages with their attachments. A message waits for the earlier ones, so that the order is kept. */
export class MessageSender {
  private readonly options: SenderOptions;
  private latest: Promise<void> | null = null;

  constructor(options: SenderOptions) {
    this.options = options;
  }

  send(text: string, recipient: Recipient): void {
    const outputs = this.options.shell.takeOutputs();
    const images = this.options.images.findImages(text);
    const isBare = outputs.length === 0 && images.length === 0 && !text.includes('@');
    const { latest } = this;
    if (isBare && latest === null) {
      recipient.deliver(text);
      return;
    }
    const sendLater = async (): Promise<void> => {
      await latest;
      const enclosed = await this.gather({ words: text, outputs, images, to: recipient.to() });
      if (this.latest === sending) this.setLatest(null);
      try {
        recipient.deliver(text, enclosed);
      } catch (thrown) {
        this.warn(errorMessage(thrown));
      }
    };
    const sending = sendLater();
    this.setLatest(sending);
  }

  private setLatest(latest: Promise<void> | null): void {
    this.latest = latest;
    const status = { isSending: latest !== null };
    this.options.dispatch({ type: 'conversation-changed', status });
  }

  private warn(text: string): void {
    this.options.dispatch({ type: 'note', level: 'warning', text });
  }

  /** Gathers the attachments of a message. What can't be attached is reported as a warning, and the message is sent without it. */
  private async gather(
    request: Omit<Parameters<Muster['enclose']>[0], 'agent'>,
  ): Promise<QuotedItems | undefined> {
    const { library, agent } = this.options;
    try {
      const enclosed = await library.enclose({ ...request, ...(agent === null ? {} : { agent }) });
      for (const problem of enclosed.problems) this.warn(problem);
      return enclosed.enclosures.length === 0 ? undefined : enclosed;
    } catch (thrown) {
      this.warn(`sent without attachments: ${errorMessage(thrown)}`);
      return undefined;
    }
  }
}
