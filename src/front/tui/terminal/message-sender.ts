import type { MessageQuoteRequest, Session, QuotedItems } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import { readPromptCommand } from '../../../protocol/server-mentions.ts';
import { isOffered } from '../update/commands/offered-commands.ts';
import { readSlashText } from '../../../protocol/slash-text.ts';
import type { UiMessage } from '../update/message.ts';
import type { PastedImages } from './pasted-images.ts';
import type { ShellCommands } from './shell-commands.ts';

interface SenderOptions {
  readonly library: Pick<Session, 'enclose' | 'serverContent' | 'slashCommands'>;
  /** The agent definition that the conversation runs as; null for the main agent. */
  readonly agent: string | null;
  readonly shell: Pick<ShellCommands, 'takeOutputs'>;
  readonly images: Pick<PastedImages, 'findImages'>;
  readonly dispatch: (message: UiMessage) => void;
  /** Returns the mode and the rules that the user has chosen for the next message. */
  readonly terms: () => Pick<MessageQuoteRequest, 'mode' | 'rules'>;
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
    const isPrompt = this.runsCommand(text) || this.choosesPrompt(text);
    const isBare = outputs.length === 0 && images.length === 0 && !text.includes('@') && !isPrompt;
    const { latest } = this;
    if (isBare && latest === null) {
      recipient.deliver(text);
      return;
    }
    const sendLater = async (): Promise<void> => {
      await latest;
      const enclosed = await this.gather(
        { words: text, outputs, images, to: recipient.to() },
        { isPrompt },
      );
      if (this.latest === sending) this.setLatest(null);
      try {
        if (enclosed !== null) recipient.deliver(text, enclosed);
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

  /** Tells whether a message runs a slash command from a file or a skill. */
  private runsCommand(text: string): boolean {
    const typed = readSlashText(text);
    return typed !== null && isOffered(typed.name, this.options.library);
  }

  /** Tells whether a message chooses a prompt of an MCP server. */
  private choosesPrompt(text: string): boolean {
    const command = readPromptCommand(text);
    const { serverContent } = this.options.library;
    return (
      command !== null &&
      serverContent?.servers.some(({ name }) => name === command.server) === true
    );
  }

  /**
   * Gathers the attachments of a message. What can't be attached is reported as a warning, and the message is sent without
   * it. If it is a slash command or the prompt of a server, the message is given back to the user, and null is returned.
   */
  private async gather(
    request: Omit<Parameters<Session['enclose']>[0], 'agent'>,
    { isPrompt }: { readonly isPrompt: boolean },
  ): Promise<QuotedItems | undefined | null> {
    const { library, agent } = this.options;
    try {
      const enclosed = await library.enclose({
        ...request,
        ...(agent === null ? {} : { agent }),
        ...this.options.terms(),
        ...(this.runsCommand(request.words) ? { requiresKnownCommand: true } : {}),
      });
      for (const problem of enclosed.problems) this.warn(problem);
      return enclosed.enclosures.length === 0 ? undefined : enclosed;
    } catch (thrown) {
      if (isPrompt) {
        const reason = errorMessage(thrown);
        // The user goes on with the next argument.
        this.options.dispatch({ type: 'send-failed', text: `${request.words} `, reason });
        return null;
      }
      this.warn(`sent without attachments: ${errorMessage(thrown)}`);
      return undefined;
    }
  }
}
