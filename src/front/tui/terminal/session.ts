import type { NoticeLevel } from '../../../protocol/events/event.ts';
import { initialAppState, type AppState } from '../model/app-state.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { userBindings } from '../model/user-bindings.ts';
import type { Pen } from '../view/pen.ts';
import type { UpdateContext } from '../update/step.ts';
import type { UiMessage } from '../update/message.ts';
import { update } from '../update/update.ts';
import { ConversationRunner, type ConversationPort } from './conversation-runner.ts';
import { SetupDialogs, type UserSetup } from './setup-dialogs.ts';
import type { KeptUi } from '../model/kept-ui.ts';
import type { Surface } from './effect-options.ts';
import { EffectRunner } from './effect-runner.ts';
import { MessageSender } from './message-sender.ts';
import type { AttentionMethod } from './notification.ts';
import { PastedImages } from './pasted-images.ts';
import { ShellCommands } from './shell-commands.ts';
import type { CommandOutput } from '../../../api/index.ts';

export interface UiSessionOptions {
  readonly library: UiLibrary;
  /** The agent definition that the conversation runs as; null for the main agent. */
  readonly agent: string | null;
  /** The conversation of another process to watch; absent for one of this process. */
  readonly watched?: ConversationPort;
  /** Messages of the start, one line each. */
  readonly notices: readonly string[];
  /** The user's setup that dialogs change; absent if they cannot. */
  readonly setup?: UserSetup;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
}

/** The options of a session, and of the screen or the plain lines that show the session. */
export interface InterfaceOptions extends UiSessionOptions {
  /** The way in which a user who looks at another window is notified. */
  readonly attention: AttentionMethod;
  /** Called when Muster is to be opened again; absent if it cannot. */
  readonly onRestart?: (kept: KeptUi) => void;
  /** Called when the user wants to leave. */
  readonly onLeave: () => void;
}

/** The surface that shows a session, with the methods that only a session calls. */
interface SessionSurface extends Surface {
  insertIntoEditor?(text: string): void;
  /** Called after each message has been handled. */
  changed(message: UiMessage): void;
  /** Called with the full output of one of the user's shell commands. */
  shellEnded?(output: CommandOutput): void;
}

/**
 * The running UI. It keeps the state, updates the state with each message, and carries out the effects. Messages are
 * handled one after the other; the effects of a message are carried out before the next message is handled.
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
    { library, agent, watched, notices, setup, now }: UiSessionOptions,
    surface: SessionSurface,
    { pen, kind }: { readonly pen: Pen; readonly kind: AppState['surface'] },
  ) {
    this.surface = surface;
    this.context = { library, pen, now, bindings: userBindings(library.keyBindings) };
    const { dispatch } = this;
    this.conversation =
      watched ??
      new ConversationRunner(library, {
        agent,
        dispatch,
        chosenMode: () => this.state.chosenMode,
        newRules: () => this.state.newRules,
      });
    const { cwd } = library;
    this.images = new PastedImages({
      cwd,
      lookAtImage: (bytes) => library.lookAtImage(bytes, this.conversation.id),
      insert: (text) => surface.insertIntoEditor?.(text),
      dispatch,
    });
    this.shell = new ShellCommands({
      cwd,
      dispatch,
      onEnded: (output) => surface.shellEnded?.(output),
    });
    const { conversation, shell, images } = this;
    const state = () => this.state;
    const sender = new MessageSender({
      library,
      agent,
      shell,
      images,
      dispatch,
      terms: () => {
        const { chosenMode, newRules } = this.state;
        return { ...(chosenMode === null ? {} : { mode: chosenMode }), rules: newRules };
      },
    });
    const dialogs =
      setup === undefined
        ? null
        : new SetupDialogs({
            setup,
            cwd,
            show: (dialog) => dispatch({ type: 'dialog', dialog }),
            note: (level, text) => this.note(level, text),
            restart: (done) => dispatch({ type: 'restart-wanted', done }),
          });
    const settings = setup?.settings ?? null;
    const parts = { library, conversation, sender, shell, images, surface, dialogs, settings };
    this.effects = new EffectRunner({ ...parts, state, dispatch });
    const { id, isAtWork, isWatched } = conversation;
    const status = { id, isAtWork, isWatched, isSending: false };
    const hintUses = library.hintUses.counts();
    this.current = initialAppState({
      conversation: status,
      hintUses,
      notices,
      surface: kind,
      terminal: library.terminal,
    });
    const stopSignals = library.watchSignals((signal) => dispatch({ type: 'task-signal', signal }));
    const stopServers = library.servers.watch(() => {
      const kind = this.state.picker?.kind;
      if (kind === 'servers' || kind === 'server') dispatch({ type: 'servers-changed' });
    });
    this.stopSignals = () => {
      stopSignals();
      stopServers();
    };
  }

  get state(): AppState {
    return this.current;
  }

  /** Handles a message. If another message is being handled, the new message waits for it. */
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

  /** Adds a note that belongs to no event. */
  note(level: NoticeLevel, text: string): void {
    this.dispatch({ type: 'note', level, text });
  }

  /** Shows an earlier conversation, given by its full id. The next message continues it. Throws if the log can't be read. */
  open(id: string): void {
    this.effects.loadConversation(id);
  }

  /** Stops the shell command that the user started; it ends within 2 s. */
  async stop(): Promise<void> {
    this.stopSignals();
    await this.shell.stop();
  }

  /** Kills the shell command at once, because the process is about to end. */
  stopNow(): void {
    this.stopSignals();
    this.shell.kill();
  }
}
