import type { TaskState } from '../../protocol/state/task-state.ts';
import type { ThemeChoice } from '../../protocol/terminal-settings.ts';
import { readEnvironment } from '../../sys/env.ts';
import { hasWork } from './model/task-tree.ts';
import { createAutocomplete } from './terminal/autocomplete.ts';
import { ExternalEditor } from './terminal/external-editor.ts';
import { attentionSequence } from './terminal/notification.ts';
import { createRedraw, type Redraw } from './terminal/redraw.ts';
import { pastedText, Screen, type ScreenSize, type TerminalDevice } from './terminal/screen.ts';
import { UiSession, type InterfaceOptions } from './terminal/session.ts';
import { keyAction, keyContext } from './update/key-action.ts';
import type { UiMessage } from './update/message.ts';
import { drawFrame } from './view/frame.ts';
import { lastAnswerLines } from './view/last-answer.ts';
import { windowTitle } from './view/window-title.ts';
import { WindowTitle } from './terminal/window-title.ts';
import { Highlighter } from './view/highlighter.ts';
import { Pen } from './view/pen.ts';
import { PLAIN, THEMES, type Theme } from './view/theme.ts';

/** The delay of the sandbox test after the start, so that the first frame need not wait for the test. */
const SANDBOX_CHECK_DELAY_MS = 60;

/** The messages that request no later frame, because keys are followed by a frame at once. */
const DRAWN_AT_ONCE: ReadonlySet<UiMessage['type']> = new Set(['frame', 'key-pressed', 'typed']);

/** The options of the terminal UI. */
export interface AppOptions extends InterfaceOptions {
  readonly terminal: TerminalDevice;
  readonly theme: Theme;
  /** Whether the terminal opens links. Default: false. */
  readonly hasHyperlinks?: boolean;
  /** Whether the terminal can show a title. Default: false. */
  readonly hasTitle?: boolean;
}

/**
 * The terminal UI. It wires the parts: the screen sends keys as messages, the session updates the state, and each
 * frame is drawn from the state alone.
 */
export class App {
  private readonly options: AppOptions;
  readonly session: UiSession;
  private readonly screen: Screen;
  private readonly stopped = new AbortController();
  private readonly redraw: Redraw;
  private readonly title: WindowTitle;
  private themeChoice: ThemeChoice;
  /** The theme for the background that the terminal has reported; null if it has not. */
  private reported: Theme | null = null;
  private readonly externalEditor: ExternalEditor;

  constructor(options: AppOptions) {
    const { library, terminal, theme, attention, now, onLeave } = options;
    this.options = options;
    this.themeChoice = library.terminal.theme;
    this.title = new WindowTitle((sequence) => terminal.write(sequence));
    const highlighter = new Highlighter({
      onLoaded: () => this.redraw.changed(),
      onFailed: (why) => this.session.note('warning', why),
    });
    const pen = new Pen(theme, highlighter, { hasHyperlinks: options.hasHyperlinks ?? false });
    this.externalEditor = new ExternalEditor(readEnvironment(), (use) => this.screen.lend(use));
    this.session = new UiSession(
      options,
      {
        setEditorText: (text) => this.screen.editor.setText(text),
        insertIntoEditor: (text) => this.screen.editor.insertTextAtCursor(text),
        addToHistory: (text) => this.screen.editor.addToHistory(text),
        pageCompletions: (by) => this.screen.pageCompletions(by),
        redraw: () => this.screen.redraw(),
        useTheme: (choice) => {
          if (theme === PLAIN) return;
          this.themeChoice = choice;
          pen.use(choice === 'auto' ? (this.reported ?? theme) : THEMES[choice]);
          if (choice === 'auto') this.screen.reports.askBackground();
          this.screen.redraw();
        },
        writeSequence: (sequence) => terminal.write(sequence),
        suspend: () => {
          this.title.restore();
          this.screen.suspend();
        },
        ...(options.onRestart === undefined ? {} : { restart: options.onRestart }),
        externalEditor: this.externalEditor,
        editorText: () => this.screen.editor.getExpandedText(),
        callAttention: (text) => {
          if (this.screen.reports.isFocused === true || this.screen.isLent) return;
          const { notify } = this.session.state.terminal;
          const sequence = attentionSequence(notify, attention, text);
          if (sequence !== '') terminal.write(sequence);
        },
        leave: onLeave,
        changed: ({ type }) => {
          if (!DRAWN_AT_ONCE.has(type)) this.redraw.changed();
        },
      },
      { pen, kind: 'screen' },
    );
    const { session } = this;
    const { signal } = this.stopped;
    this.screen = new Screen(terminal, {
      pen,
      bindings: session.context.bindings,
      completions: createAutocomplete(library, { state: () => session.state, now, signal }),
      draw: (size) => this.draw(size),
      isDialogOpen: () => session.state.dialog !== null,
      onDialogInput: (input) => session.dispatch({ type: 'dialog-typed', input }),
      onKey: (key) => this.pressKey(key),
      onWheel: (lines) => session.dispatch({ type: 'scroll', lines }),
      onTyped: (text) => session.dispatch({ type: 'typed', text }),
      onSubmit: (text) => session.dispatch({ type: 'submitted', text }),
      onPaste: (text) => session.images.takePaste(pastedText(text)),
      onBackground: (background) => {
        this.reported = THEMES[background];
        if (this.themeChoice !== 'auto') return;
        pen.use(this.reported);
        this.screen.redraw();
      },
    });
    const isAtWork = () => hasWork(session.state.tree);
    this.redraw = createRedraw(() => this.screen.draw(), isAtWork);
    for (const text of library.typed.entries()) this.screen.editor.addToHistory(text);
  }

  start(): void {
    this.screen.start();
    if (this.options.theme !== PLAIN) this.screen.reports.askBackground();
    setTimeout(() => {
      if (this.stopped.signal.aborted) return;
      this.session.dispatch({ type: 'read-status' });
      void this.checkSandbox();
    }, SANDBOX_CHECK_DELAY_MS);
  }

  private async checkSandbox(): Promise<void> {
    const sandbox = await this.options.library.sandboxState();
    this.session.dispatch({ type: 'sandbox-checked', sandbox });
  }

  /** Adds a task of a watched conversation that was read from its log, because no event reported it. */
  readonly placeTask = (task: TaskState): void => {
    const { session } = this;
    session.dispatch({ type: 'task-found', task, isAsking: task.end === null });
    // Events between the first frame and the first report are only in the log.
    const { main } = session.state.tree;
    const { id } = task.spec;
    if (main.task === id && main.lastSeq < task.lastSeq) session.open(id);
  };

  /** Whether Ctrl+C is meant for another program that has the terminal. */
  get isTerminalLent(): boolean {
    return this.screen.isLent;
  }

  /** Stops what the user started and gives the terminal back. */
  async stop(): Promise<void> {
    const stopped = this.session.stop();
    this.externalEditor.kill();
    this.stopDrawing();
    await this.screen.stop();
    this.title.restore();
    await stopped;
  }

  /** Gives the terminal back at once, because the process is about to end. */
  stopNow(): void {
    this.session.stopNow();
    this.externalEditor.kill();
    this.stopDrawing();
    this.screen.stopNow();
    this.title.restore();
  }

  /** Draws exactly as many lines as the terminal has. */
  draw({ width, height, editor }: ScreenSize): readonly string[] {
    const { session } = this;
    session.dispatch({ type: 'frame', size: { width, height, editorLines: editor.length } });
    this.showTitle();
    return drawFrame(session.state, editor, session.context);
  }

  private showTitle(): void {
    const { library, hasTitle = false } = this.options;
    const { title } = this.session.state.terminal;
    if (!hasTitle || !title || this.stopped.signal.aborted) return;
    this.title.show(windowTitle(this.session.state, library.cwd));
  }

  /** Draws the end of the last answer in at most `height` lines, for a terminal of this width. */
  lastAnswer({ width, height }: Pick<ScreenSize, 'width' | 'height'>): readonly string[] {
    const { state, context } = this.session;
    return lastAnswerLines(state.tree.main, { width, height }, context.pen);
  }

  /** Handles a key. Returns false if the editor has to handle it. */
  private pressKey(key: string): boolean {
    const { state, context, dispatch } = this.session;
    const at = context.now();
    const keys = keyContext(state, this.screen.editor.isShowingAutocomplete());
    const meaning = keyAction(key, keys, context.bindings);
    dispatch({ type: 'key-pressed', meaning, key, at });
    return meaning !== 'editor';
  }

  private stopDrawing(): void {
    this.stopped.abort();
    this.redraw.stop();
  }
}
