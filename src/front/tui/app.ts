import type { Muster, SandboxState, TaskEvent } from '../../api/index.ts';
import { errorMessage } from '../../base/errors.ts';
import { exactLine, terminalText } from '../../base/terminal-text.ts';
import { oneLine } from '../../base/text.ts';
import { foldEvents, type TaskState } from '../../protocol/state.ts';
import { Actions } from './actions.ts';
import { Answering } from './answering.ts';
import { COMMANDS, readInput, type CommandName } from './commands/command-table.ts';
import { pageOf, unknownPage, type Page } from './commands/pages.ts';
import { Conversation } from './conversation.ts';
import { DEFAULT_BINDINGS } from './keys/bindings.ts';
import { keyAction } from './keys/key-action.ts';
import { freshLook } from './look.ts';
import { completionsOf } from './pi/completions.ts';
import { Screen, type ScreenClient, type ScreenSize, type TerminalDevice } from './pi/screen.ts';
import { paneHeight, picture } from './render/frame.ts';
import { Redraw } from './redraw.ts';
import { LineCache } from './render/line-cache.ts';
import { Pen } from './render/pen.ts';
import type { Theme } from './render/theme.ts';
import { sceneOf, shownParts } from './scene.ts';
import { startFacts } from './start-facts.ts';
import { callsForAttention } from './view/attention.ts';
import { addBlock } from './view/transcript.ts';
import { currentRows, isAtWork, treeRows } from './view/tree-rows.ts';
import { applySignal, applyToUi, emptyUiState, forgetTree } from './view/ui-state.ts';

/** What the UI needs of the library. */
export type UiMuster = Pick<
  Muster,
  | 'agents'
  | 'answer'
  | 'background'
  | 'cwd'
  | 'mainModel'
  | 'mode'
  | 'models'
  | 'offlineByDefault'
  | 'resume'
  | 'rules'
  | 'sandboxState'
  | 'send'
  | 'setMode'
  | 'start'
  | 'stopTask'
  | 'store'
  | 'watchSignals'
>;

export interface AppOptions {
  readonly muster: UiMuster;
  readonly terminal: TerminalDevice;
  readonly theme: Theme;
  /** The definition that the conversation runs as; null: the main agent. */
  readonly agent: string | null;
  /** What the start had to say, a line each. */
  readonly notices: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The person wants to go. */
  readonly onLeave: () => void;
}

/** After the first picture, which does not wait for it. */
const SANDBOX_MS = 60;

/** The terminal UI: what comes from tasks goes into a fold, what comes from keys to the library. */
export class App implements ScreenClient {
  private readonly options: AppOptions;
  private readonly ui = emptyUiState();
  private readonly look = freshLook();
  private readonly tools: { readonly pen: Pen; readonly cache: LineCache };
  private readonly conversation: Conversation;
  private readonly screen: Screen;
  private readonly answering: Answering;
  private readonly actions: Actions;
  private readonly redraw: Redraw;
  private readonly forgetSignals: () => void;
  private sandbox: SandboxState | null = null;
  private size: ScreenSize = { width: 80, height: 24, editor: [] };
  private conversationHeight = 0;

  constructor(options: AppOptions) {
    const { muster, terminal, theme, agent, onLeave } = options;
    this.options = options;
    const { ui, look } = this;
    this.tools = { pen: new Pen(theme), cache: new LineCache() };
    this.conversation = new Conversation(muster, {
      agent,
      onEvent: (event, state) => this.onEvent(event, state),
      onNote: (level, text) => this.note(level, text),
      onIdle: () => {
        this.look.hint = null;
        this.changed();
      },
    });
    this.screen = new Screen(terminal, this, {
      pen: this.tools.pen,
      cleanPaste: (text) => terminalText(text, 'prose'),
      completions: completionsOf({ commands: commandWords, agents: () => agentNames(muster) }),
    });
    this.redraw = new Redraw({ draw: () => this.screen.draw(), isAtWork: () => isAtWork(ui) });
    const { editor } = this.screen;
    this.answering = new Answering({ muster, ui, look, editor });
    this.actions = new Actions({
      muster,
      ui,
      look,
      editor,
      answering: this.answering,
      shown: () => ({
        parts: shownParts(
          { ui, look, width: this.size.width, start: this.startFacts() },
          this.tools,
        ),
        height: this.conversationHeight,
      }),
      redraw: () => this.screen.redraw(),
      leave: onLeave,
    });
    this.forgetSignals = muster.watchSignals((signal) => {
      applySignal(ui, signal);
      this.changed();
    });
  }

  start(): void {
    this.screen.start();
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
    const events: TaskEvent[] = [];
    this.options.muster.store.scan(id, (event) => events.push(event));
    const state = foldEvents(events);
    for (const event of events) applyToUi(this.ui, event, state);
    this.conversation.continue(id);
  }

  /** Gives the terminal back. */
  async stop(): Promise<void> {
    this.stopListening();
    await this.screen.stop();
  }

  /** The same, where the process is about to end. */
  stopNow(): void {
    this.stopListening();
    this.screen.stopNow();
  }

  /** What no event of a task tells. */
  note(level: 'info' | 'warning' | 'error', text: string): void {
    addBlock(this.ui.main, { kind: 'note', level, text });
    this.changed();
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
        focusKey: DEFAULT_BINDINGS['focus-question'].keys[0] ?? '',
        isBeginning: conversation.isAtWork && ui.root === null,
      },
      this.tools,
    );
    const { lines, layout } = picture(scene, this.tools);
    this.conversationHeight = layout.conversation;
    return lines;
  }

  onKey(key: string): boolean {
    const { look, ui } = this;
    const { editor } = this.screen;
    const shown = look.openTask ?? ui.root;
    const meaning = keyAction(
      key,
      {
        focus: look.focus,
        isEditorEmpty: editor.getText() === '',
        isCompleting: editor.isShowingAutocomplete(),
        isAnswering: look.writing.kind !== 'message',
        isTaskOpen: look.openTask !== null,
        isAtWork: shown !== null && ui.rows.get(shown)?.endedAt === null,
        hasQuestion: ui.questions.size > 0,
      },
      DEFAULT_BINDINGS,
    );
    const { armed } = look;
    look.hint = null;
    look.armed = null;
    if (meaning === 'editor') return false;
    if (meaning !== 'nothing') this.actions.act(meaning, armed);
    return true;
  }

  onWheel(lines: number): void {
    this.actions.scroll(lines);
  }

  onSubmit(text: string): void {
    const { look } = this;
    if (look.writing.kind !== 'message') {
      this.answering.submit(text);
      return;
    }
    if (text.trim() === '') return;
    this.screen.editor.addToHistory(text);
    look.anchor = null;
    const input = readInput(text);
    if (input.kind === 'command') this.command(input.name, input.rest);
    else if (input.kind === 'unknown') this.page(unknownPage(input.word));
    else this.say(text);
    this.changed();
  }

  private say(text: string): void {
    const { openTask } = this.look;
    if (openTask === null) {
      this.conversation.say(text);
      return;
    }
    try {
      this.options.muster.send(openTask, text);
    } catch (thrown) {
      this.look.hint = errorMessage(thrown);
      this.screen.editor.setText(text);
    }
  }

  private command(name: CommandName, rest: string): void {
    const { muster, now, onLeave } = this.options;
    switch (name) {
      case 'quit':
        onLeave();
        return;
      case 'compact':
        if (this.conversation.id === null || this.conversation.isAtWork) {
          this.look.hint = 'nothing was said yet, or it is at work: stop it first';
          return;
        }
        this.conversation.say(rest === '' ? '/compact' : `/compact ${rest}`);
        return;
      case 'new':
        this.beginAnew();
        return;
      default:
        this.page(
          pageOf(name, rest, { muster, ui: this.ui, bindings: DEFAULT_BINDINGS, now: now() }),
        );
    }
  }

  private beginAnew(): void {
    const { id, isAtWork } = this.conversation;
    if (isAtWork) {
      this.look.hint = 'it is at work: stop it first';
      return;
    }
    this.actions.closeTask();
    if (id !== null)
      this.note('info', `muster --resume ${id.slice(0, 8)} goes on with the one above`);
    this.conversation.continue(null);
    this.look.chosenTask = null;
    forgetTree(this.ui);
  }

  private page(page: Page): void {
    this.actions.closeTask();
    addBlock(this.ui.main, { kind: 'page', ...page });
  }

  private onEvent(event: TaskEvent, state: TaskState): void {
    applyToUi(this.ui, event, state);
    if (callsForAttention(this.ui, event)) this.screen.ring();
    this.changed();
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
    this.redraw.stop();
  }
}

function commandWords() {
  return Object.entries(COMMANDS).map(([name, { help }]) => ({ word: `/${name}`, help }));
}

function agentNames(muster: Pick<Muster, 'agents'>) {
  return muster.agents.agents.map(({ name, description }) => ({
    word: exactLine(`@${name}`),
    help: oneLine(terminalText(description, 'prose')),
  }));
}
