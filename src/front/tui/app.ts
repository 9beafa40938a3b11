import type { SandboxState, TaskEvent } from '../../api/index.ts';
import { errorMessage } from '../../base/errors.ts';
import type { TaskState } from '../../protocol/state.ts';
import { Actions } from './update/actions.ts';
import type { AppOptions } from './app-options.ts';
import { Answering } from './update/question-controller.ts';
import { Browsing } from './update/scroll-and-search.ts';
import { Conversation, type ConversationPort } from './terminal/conversation.ts';
import { ownBindings } from './model/user-bindings.ts';
import type { Bindings } from './model/key-bindings.ts';
import { keyAction, keyContext } from './update/key-action.ts';
import { Highlighter } from './view/highlighter.ts';
import { freshLook } from './model/view-state.ts';
import { callText } from './terminal/notification.ts';
import { pastedText, Screen, type ScreenClient, type ScreenSize } from './terminal/screen.ts';
import { paneHeight, picture } from './view/frame.ts';
import { Redraw } from './terminal/redraw.ts';
import { LineCache } from './view/line-cache.ts';
import { Pen } from './view/pen.ts';
import { PLAIN, THEMES } from './view/theme.ts';
import { sceneOf, shownParts } from './view/view-model.ts';
import { startFacts } from './view/start-screen.ts';
import { Editing } from './update/editing.ts';
import { WordSource } from './terminal/autocomplete-source.ts';
import { showLog } from './model/show-log.ts';
import { Submission } from './update/submission.ts';
import { suspend } from './terminal/suspend.ts';
import {
  callsForAttention,
  placeTask,
  applySignal,
  applyToUi,
  emptyUiState,
} from './model/task-tree.ts';
import { addBlock, leaveCalls } from './model/transcript.ts';
import { currentRows, isAtWork, treeRows } from './model/tree-rows.ts';

/** After the first picture, which does not wait for it. */
const SANDBOX_MS = 60;

/** The terminal UI: what comes from tasks goes into a fold, what comes from keys to the library. */
export class App implements ScreenClient {
  private readonly options: AppOptions;
  private readonly ui = emptyUiState();
  private readonly look = freshLook();
  private readonly bindings: Bindings;
  private readonly tools: { readonly pen: Pen; readonly cache: LineCache };
  private readonly conversation: ConversationPort;
  private readonly screen: Screen;
  private readonly answering: Answering;
  private readonly browsing: Browsing;
  private readonly actions: Actions;
  private readonly submission: Submission;
  private readonly editing: Editing;
  private readonly words: WordSource;
  private readonly redraw: Redraw;
  private readonly forgetSignals: () => void;
  private sandbox: SandboxState | null = null;
  private size: ScreenSize = { width: 80, height: 24, editor: [] };
  private conversationHeight = 0;
  /** Lines of the question in sight. */
  private askedHeight = 0;

  constructor(options: AppOptions) {
    const { muster, terminal, theme, agent, now, onLeave } = options;
    this.options = options;
    this.bindings = ownBindings(muster.keyBindings);
    const { ui, look } = this;
    const highlighter = new Highlighter({
      onLoaded: () => this.changed(),
      onFailed: (why) => this.note('warning', why),
    });
    this.tools = { pen: new Pen(theme, highlighter), cache: new LineCache() };
    this.conversation =
      options.watched ??
      new Conversation(muster, {
        agent,
        chosenMode: () => look.chosenMode,
        onModeTaken: (mode) => {
          // Another one may have been chosen meanwhile.
          if (look.chosenMode === mode) look.chosenMode = null;
        },
        onEvent: (event, state) => this.onEvent(event, state),
        onNote: (level, text) => this.note(level, text),
        onIdle: () => {
          this.look.hint = null;
          this.changed();
        },
      });
    this.words = new WordSource(muster, ui, now);
    this.screen = new Screen(terminal, this, {
      pen: this.tools.pen,
      bindings: this.bindings,
      cleanPaste: (text) => this.editing.images.takePaste(pastedText(text)),
      onBackground: (background) => this.paintOn(background),
      completions: this.words.completions,
    });
    this.redraw = new Redraw({ draw: () => this.screen.draw(), isAtWork: () => isAtWork(ui) });
    const { editor } = this.screen;
    for (const text of muster.typed.entries()) editor.addToHistory(text);
    this.editing = new Editing({
      muster,
      agent,
      ui,
      look,
      editor,
      conversation: this.conversation,
      ask: (question) => {
        this.answering.confirm(question);
        this.changed();
      },
      closeTask: () => this.actions.closeTask(),
      open: (id) => this.continue(id),
      note: (level, text) => this.note(level, text),
      changed: () => this.changed(),
    });
    const { saying, commands, images, undo } = this.editing;
    this.answering = new Answering({
      muster,
      ui,
      look,
      editor,
      onConfirmed: (isYes) => void undo.answered(isYes),
      height: () => this.askedHeight,
    });
    this.browsing = new Browsing({
      muster,
      ui,
      look,
      editor,
      answering: this.answering,
      shown: () => {
        const scene = { ui, look, width: this.size.width, start: this.startFacts() };
        return { parts: shownParts(scene, this.tools), height: this.conversationHeight };
      },
    });
    editor.onChange = (text) => this.browsing.lookFor(text);
    this.actions = new Actions({
      muster,
      ui,
      look,
      editor,
      answering: this.answering,
      commands,
      images,
      conversation: this.conversation,
      browsing: this.browsing,
      height: () => this.conversationHeight,
      redraw: () => this.screen.redraw(),
      suspend: () => suspend(this.screen),
      leave: onLeave,
    });
    this.submission = new Submission({
      muster,
      ui,
      look,
      editor,
      conversation: this.conversation,
      open: (id) => this.continue(id),
      answering: this.answering,
      actions: this.actions,
      bindings: this.bindings,
      saying,
      commands,
      undo,
      showFrom: (key) => this.browsing.showFrom(key),
      changed: () => this.changed(),
      note: (level, text) => this.note(level, text),
      now,
      leave: onLeave,
    });
    this.forgetSignals = muster.watchSignals((signal) => {
      applySignal(ui, signal);
      this.changed();
    });
  }

  start(): void {
    this.screen.start();
    if (this.options.theme !== PLAIN) this.screen.askBackground();
    setTimeout(() => void this.lookAtSandbox(), SANDBOX_MS);
  }

  /** It may take a while, and nothing waits for it. */
  private async lookAtSandbox(): Promise<void> {
    this.sandbox = await this.options.muster.sandboxState();
    this.changed();
  }

  /** The id of the conversation; null: it was not begun. */
  get id(): string | null {
    return this.conversation.id;
  }

  /** Shows an earlier conversation, by its whole id: the next message goes on with it. */
  continue(id: string): void {
    const mode = showLog(this.ui, this.options.muster.store, id);
    leaveCalls(this.ui.main);
    this.changed();
    this.conversation.continue(id, mode);
    void this.placeEarlier(id);
  }

  /** Shows the conversation that is watched, as its log tells it by now. */
  watch(id: string): void {
    showLog(this.ui, this.options.muster.store, id);
    this.changed();
  }

  /** Loaded after the first picture. */
  private async placeEarlier(root: string): Promise<void> {
    const { muster } = this.options;
    try {
      const { placeEarlier } = await import('./terminal/earlier-tasks.ts');
      await placeEarlier(this.ui, muster.store, { root, changed: () => this.changed() });
    } catch (thrown) {
      this.note('error', `what was done before can't be read: ${errorMessage(thrown)}`);
    }
  }

  /** A task that is watched, as it stands: no event tells it. */
  readonly place = (state: TaskState): void => {
    const { ui } = this;
    placeTask(ui, state, { isAsking: state.end === null });
    // What came between the first picture and the following is told by no event.
    const { id } = state.spec;
    if (ui.main.task === id && ui.main.lastSeq < state.lastSeq) this.watch(id);
    this.changed();
  };

  /** Ended tasks that are only counted. */
  readonly passOver = (count: number): void => {
    this.ui.droppedRows += count;
  };

  /** Gives the terminal back. */
  async stop(): Promise<void> {
    this.stopListening();
    const ended = this.editing.commands.stop();
    await this.screen.stop();
    await ended;
  }

  /** The same, where the process is about to end. */
  stopNow(): void {
    this.stopListening();
    this.editing.commands.kill();
    this.screen.stopNow();
  }

  /** What no event of a task tells. */
  note(level: 'info' | 'warning' | 'error', text: string): void {
    addBlock(this.ui.main, { kind: 'note', level, text });
    this.changed();
  }

  /** What was not done that another process was asked for: in sight wherever the person looks. */
  tell(text: string): void {
    if (this.look.openTask !== null) this.look.hint = text;
    this.note('error', text);
  }

  draw(size: ScreenSize): readonly string[] {
    const { look, ui, conversation } = this;
    this.size = size;
    this.answering.forgetSettled();
    look.paneHeight = paneHeight(look.paneHeight, {
      tasks: (look.focus === 'tasks' ? treeRows(ui) : currentRows(ui)).length,
      height: size.height,
      isAtWork: isAtWork(ui) || look.focus === 'tasks',
    });
    const scene = sceneOf(
      {
        ...size,
        now: this.options.now(),
        ui,
        look,
        start: this.startFacts(),
        mode: this.options.muster.mode,
        bindings: this.bindings,
        isBeginning: conversation.isAtWork && ui.root === null,
        isWatched: conversation.isWatched,
      },
      this.tools,
    );
    const { lines, layout, asked } = picture(scene, this.tools);
    this.conversationHeight = layout.conversation;
    this.askedHeight = asked.shown;
    look.questionScroll = asked.scroll;
    return lines;
  }

  onKey(key: string): boolean {
    const { look, ui, screen, bindings } = this;
    const meaning = keyAction(key, keyContext({ ui, look }, screen.editor), bindings);
    const { armed } = look;
    look.hint = null;
    look.armed = null;
    if (meaning === 'editor') return false;
    if (meaning !== 'nothing') this.actions.act(meaning, armed);
    return true;
  }

  readonly onWheel = (lines: number): void => this.browsing.scroll(lines);

  onSubmit(text: string): void {
    this.submission.submit(text);
    this.changed();
  }

  readonly onEvent = (event: TaskEvent, state: TaskState): void => {
    applyToUi(this.ui, event, state);
    const call = callsForAttention(this.ui, event);
    // Whoever looks at it sees it.
    if (call !== null && this.screen.isFocused !== true) {
      this.screen.call(callText(this.options.caller, call));
    }
    this.changed();
  };

  private paintOn(background: keyof typeof THEMES): void {
    this.tools.pen.use(THEMES[background]);
    this.tools.cache.forget();
    this.screen.redraw();
  }

  private startFacts() {
    const { muster, notices } = this.options;
    return startFacts(muster, { sandbox: this.sandbox, notices });
  }

  private changed(): void {
    this.redraw.changed();
  }

  private stopListening(): void {
    this.forgetSignals();
    this.words.stop();
    this.redraw.stop();
  }
}
