import { initialAppState, type AppState } from '../model/app-state.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { userBindings } from '../model/user-bindings.ts';
import type { DrawingTools } from '../view/line-cache.ts';
import type { UpdateContext } from '../update/action-handler.ts';
import type { UiMessage } from '../update/message.ts';
import { update } from '../update/update.ts';
import { ConversationRunner, type ConversationPort } from './conversation-runner.ts';
import { EffectRunner, type Surface } from './effect-runner.ts';
import { MessageSender } from './message-sender.ts';
import { PastedImages } from './pasted-images.ts';
import { ShellCommands } from './shell-commands.ts';
import type { CommandOutput } from '../../../api/index.ts';

export interface SessionOptions {
  readonly library: UiLibrary;
  /** The agent definition that the conversation runs as; null for the main agent. */
  readonly agent: string | null;
  /** The conversation of another process to watch; absent for one of this process. */
  readonly watched?: ConversationPort;
  /** Messages of the start, one line each. */
  readonly notices: readonly string[];
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
}

/** The surface that shows a session, with the calls that only a session makes. */
interface SessionSurface extends Surface {
  insertIntoEditor(text: string): void;
  /** Called after each message. */
  changed(message: UiMessage): void;
  /** Called with the full output of one of the user's shell commands. */
  shellEnded?(output: CommandOutput): void;
}

/**
 * The running UI: it holds the state, updates it with each message, and carries out the effects. Messages are
 * handled one after the other, and the effects of one before the next.
 */
export class UiSession {
  readonly context: UpdateContext;
  readonly conversation: ConversationPort;
  readonly images: PastedImages;
  readonly shell: ShellCommands;
  private readonly surface: SessionSurface;
  private readonly effects: EffectRunner;
  private readonly stopSignals: () => void;
  private readonly waiting: UiMessage[] = [];
  private isBusy = false;
  private current: AppState;

  constructor(
    { library, agent, watched, notices, now }: SessionOptions,
    surface: SessionSurface,
    { tools, kind }: { readonly tools: DrawingTools; readonly kind: AppState['surface'] },
  ) {
    this.surface = surface;
    this.context = { library, tools, now, bindings: userBindings(library.keyBindings) };
    const { dispatch } = this;
    const hint = (text: string) => dispatch({ type: 'hint', text });
    this.conversation =
      watched ??
      new ConversationRunner(library, {
        agent,
        chosenMode: () => this.state.chosenMode,
        onModeTaken: (mode) => dispatch({ type: 'mode-taken', mode }),
        onEvent: (event, task) => dispatch({ type: 'task-event', event, task }),
        onNote: (level, text) => dispatch({ type: 'note', level, text }),
        onChange: () => this.reportConversation(),
        onIdle: () => dispatch({ type: 'conversation-idle' }),
      });
    const { cwd } = library;
    this.images = new PastedImages({
      cwd,
      lookAtImage: (bytes) => library.lookAtImage(bytes, this.conversation.id),
      insert: (text) => surface.insertIntoEditor(text),
      hint,
    });
    this.shell = new ShellCommands({
      cwd,
      onOutput: (key, change) => dispatch({ type: 'shell-output', key, change }),
      onEnded: (output) => surface.shellEnded?.(output),
      onHint: hint,
    });
    const sender = new MessageSender({
      library,
      agent,
      shell: this.shell,
      images: this.images,
      onWarning: (text) => dispatch({ type: 'note', level: 'warning', text }),
      onChange: () =>
        dispatch({ type: 'conversation-changed', status: { isSending: sender.isSending } }),
    });
    const { conversation, shell, images } = this;
    this.effects = new EffectRunner({
      library,
      conversation,
      sender,
      shell,
      images,
      surface,
      state: () => this.state,
      dispatch,
    });
    const { id, isAtWork, isWatched } = conversation;
    const status = { id, isAtWork, isWatched, isSending: false };
    this.current = initialAppState({ conversation: status, notices, surface: kind });
    this.stopSignals = library.watchSignals((signal) => dispatch({ type: 'task-signal', signal }));
  }

  get state(): AppState {
    return this.current;
  }

  /** Handles a message, or puts it behind the one that is being handled. */
  readonly dispatch = (message: UiMessage): void => {
    this.waiting.push(message);
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      for (let each = this.waiting.shift(); each !== undefined; each = this.waiting.shift()) {
        const { state, effects } = update(this.current, each, this.context);
        this.current = state;
        for (const effect of effects) this.effects.run(effect);
        this.surface.changed(each);
      }
    } finally {
      this.isBusy = false;
    }
  };

  /** Shows an earlier conversation by its full id. The next message continues it. Throws if its log can't be read. */
  open(id: string): void {
    this.effects.loadConversation(id);
  }

  /** Stops what the user started, and ends it within 2 s. */
  async stop(): Promise<void> {
    this.stopSignals();
    await this.shell.stop();
  }

  /** Stops at once, because the process is about to end. */
  stopNow(): void {
    this.stopSignals();
    this.shell.kill();
  }

  private reportConversation(): void {
    const { id, isAtWork } = this.conversation;
    this.dispatch({ type: 'conversation-changed', status: { id, isAtWork } });
  }
}
