import type { TaskState } from '../../protocol/state/task-state.ts';
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
  private readonly externalEditor: ExternalEditor;

  constructor(options: AppOptions) {
    const { library, terminal, theme, attention, now, onLeave } = options;
    this.options = options;
    const highlighter = new Highlighter({
      onLoaded: () => this.redraw.changed(),
      onFailed: (why) => this.session.note('warning', why),
    });
    const pen = new Pen(theme, highlighter);
    this.externalEditor = new ExternalEditor(readEnvironment(), (use) => this.screen.lend(use));
    this.session = new UiSession(
      options,
      {
        setEditorText: (text) => this.screen.editor.setText(text),
        insertIntoEditor: (text) => this.screen.editor.insertTextAtCursor(text),
        addToHistory: (text) => this.screen.editor.addToHistory(text),
        redraw: () => this.screen.redraw(),
        suspend: () => this.screen.suspend(),
        ...(options.onRestart === undefined ? {} : { restart: options.onRestart }),
        externalEditor: this.externalEditor,
        editorText: () => this.screen.editor.getExpandedText(),
        callAttention: (text) => {
          if (this.screen.reports.isFocused === true || this.screen.isLent) return;
          const sequence = attentionSequence(attention, text);
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
        pen.use(THEMES[background]);
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
    setTimeout(() => void this.checkSandbox(), SANDBOX_CHECK_DELAY_MS);
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
    await stopped;
  }

  /** Gives the terminal back at once, because the process is about to end. */
  stopNow(): void {
    this.session.stopNow();
    this.externalEditor.kill();
    this.stopDrawing();
    this.screen.stopNow();
  }

  /** Draws exactly as many lines as the terminal has. */
  draw({ width, height, editor }: ScreenSize): readonly string[] {
    const { session } = this;
    session.dispatch({ type: 'frame', size: { width, height, editorLines: editor.length } });
    return drawFrame(session.state, editor, session.context);
  }

  /** Handles a key. Returns false if the editor has to handle it. */
  private pressKey(key: string): boolean {
    const { state, context, dispatch } = this.session;
    const keys = keyContext(state, this.screen.editor.isShowingAutocomplete());
    const meaning = keyAction(key, keys, context.bindings);
    dispatch({ type: 'key-pressed', meaning });
    return meaning !== 'editor';
  }

  private stopDrawing(): void {
    this.stopped.abort();
    this.redraw.stop();
  }
}
