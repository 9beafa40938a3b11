import { terminalText } from '../../../base/terminal-text.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { TaskEvent } from '../../../protocol/event.ts';
import { foldEvents, type TaskState } from '../../../protocol/state.ts';
import { Answering } from '../update/question-controller.ts';
import { Conversation } from '../terminal/conversation.ts';
import { interrupt } from '../update/interrupt.ts';
import { freshLook } from '../model/view-state.ts';
import { callText, type Caller } from '../terminal/notification.ts';
import { Redraw } from '../terminal/redraw.ts';
import { shortCost, shortCount } from '../view/numbers.ts';
import { Pen } from '../view/pen.ts';
import { startScreen, startFacts } from '../view/start-screen.ts';
import { PLAIN } from '../view/theme.ts';
import { ownBindings } from '../model/user-bindings.ts';
import { Saying } from '../terminal/message-sender.ts';
import { OwnCommands } from '../terminal/shell-commands.ts';
import { Undo } from '../update/undo.ts';
import { isOfTask } from '../model/asked.ts';
import {
  placeTask,
  callsForAttention,
  applySignal,
  applyToUi,
  emptyUiState,
  isCutOff,
} from '../model/task-tree.ts';
import { Submission } from '../update/submission.ts';
import type { UiMuster } from '../model/ui-library.ts';
import { addBlock } from '../model/transcript.ts';
import { treeUse } from '../model/tree-rows.ts';
import { LineTerminal, type LineClient, type LineStreams } from './line-terminal.ts';
import { readAnswer, questionText } from './plain-question.ts';
import { PlainConversation } from './plain-conversation.ts';
import { PlainTasks } from './plain-tasks.ts';

export interface PlainAppOptions {
  readonly muster: UiMuster;
  readonly streams: LineStreams;
  readonly caller: Caller;
  /** The definition that the conversation runs as; null: the main agent. */
  readonly agent: string | null;
  /** What the start had to say, a line each. */
  readonly notices: readonly string[];
  /** Milliseconds on the monotonic clock. */
  readonly now: () => number;
  /** The person wants to go. */
  readonly onLeave: () => void;
}

/** Nothing is cut to it: whoever reads lines aloud has no columns. */
const ANY_WIDTH = 10_000;
/** Lines of what a command of the person's own has printed. */
const MOST_SHOWN = 40;

/** The terminal UI for a screen reader: the same fold, told in lines that are only ever added. */
export class PlainApp implements LineClient {
  private readonly options: PlainAppOptions;
  private readonly ui = emptyUiState();
  private readonly look = freshLook();
  private readonly pen = new Pen(PLAIN);
  private readonly told = new PlainConversation(this.pen);
  private readonly tasks = new PlainTasks(this.pen);
  private readonly terminal: LineTerminal;
  private readonly conversation: Conversation;
  private readonly submission: Submission;
  private readonly commands: OwnCommands;
  private readonly undo: Undo;
  /** Whether the next line says whether something is done. */
  private isConfirming = false;
  private readonly news: Redraw;
  private readonly forgetSignals: () => void;
  /** The question that was told of last. */
  private asked: string | null = null;
  private isLeaving = false;

  constructor(options: PlainAppOptions) {
    const { muster, streams, agent, now, onLeave } = options;
    const { ui, look } = this;
    this.options = options;
    this.terminal = new LineTerminal(streams, this);
    this.news = new Redraw({ draw: () => this.tell(), isAtWork: () => false });
    this.conversation = new Conversation(muster, {
      agent,
      // No key chooses one: it is the one of the start, or that of an approved plan.
      chosenMode: () => null,
      onModeTaken: () => {},
      onEvent: (event, state) => this.onEvent(event, state),
      onNote: (level, text) => this.note(level, text),
      onIdle: () => this.onIdle(),
    });
    const editor = { addToHistory: () => {}, setText: () => {}, getText: () => '' };
    this.commands = new OwnCommands({
      cwd: muster.cwd,
      transcript: ui.main,
      changed: () => {},
      hint: (text) => this.note('info', text),
      onEnded: ({ outcome, text }) => {
        const shown = text.trimEnd().split('\n').slice(-MOST_SHOWN);
        this.terminal.write([...shown.map((line) => this.pen.exact('text', line)), outcome]);
      },
    });
    this.undo = new Undo({
      muster,
      conversation: () => this.conversation,
      ask: ({ title, lines }) => {
        this.isConfirming = true;
        const shown = [title, ...lines].map((line) => this.pen.exact('text', line));
        this.terminal.write([...shown, 'y does it; anything else leaves it']);
      },
      hint: (text) => this.note('info', text),
      note: (level, text) => this.note(level, text),
      done: (words, isWhole) => {
        if (isWhole) this.conversation.continue(null);
        if (words !== null) this.note('info', `taken back: ${words}`);
      },
    });
    const { commands } = this;
    const note = (level: 'warning', text: string) => this.note(level, text);
    const saying = new Saying({ muster, agent, commands, images: { in: () => [] }, note });
    this.submission = new Submission({
      muster,
      bindings: ownBindings(muster.keyBindings),
      saying,
      commands,
      undo: this.undo,
      showFrom: () => {},
      changed: () => this.news.changed(),
      ui,
      look,
      editor,
      conversation: this.conversation,
      open: (id) => this.continue(id),
      answering: new Answering({
        muster,
        ui,
        look,
        editor,
        onConfirmed: () => {},
        height: () => 0,
      }),
      actions: { closeTask: () => {} },
      note: (level, text) => this.note(level, text),
      now,
      leave: onLeave,
    });
    this.forgetSignals = muster.watchSignals((signal) => {
      applySignal(ui, signal);
      this.news.changed();
    });
  }

  start(): void {
    const { muster, notices } = this.options;
    const facts = startFacts(muster, { sandbox: null, notices });
    const known = { ...facts, sandbox: 'see muster doctor' };
    this.terminal.write(startScreen(known, ANY_WIDTH, this.pen).filter((line) => line !== ''));
    this.tell();
    this.terminal.start();
  }

  get id(): string | null {
    return this.conversation.id;
  }

  /** Goes on with an earlier conversation, by its whole id. */
  continue(id: string): void {
    const events: TaskEvent[] = [];
    this.options.muster.store.scan(id, (event) => events.push(event));
    const state = foldEvents(events);
    for (const event of events) applyToUi(this.ui, event, state);
    if (state.end === null && state.status !== 'parked') state.status = 'interrupted';
    placeTask(this.ui, state, { isAsking: false });
    this.conversation.continue(id);
    if (isCutOff(this.ui)) this.note('info', 'It was cut off at work: an empty line goes on.');
  }

  async stop(): Promise<void> {
    await this.commands.stop();
    this.stopNow();
  }

  stopNow(): void {
    this.commands.kill();
    this.forgetSignals();
    this.news.stop();
    this.terminal.stop();
  }

  note(level: 'info' | 'warning' | 'error', text: string): void {
    addBlock(this.ui.main, { kind: 'note', level, text });
    this.news.changed();
  }

  onLine(line: string): void {
    this.isLeaving = false;
    if (line.trim() === '') {
      this.submission.submit('');
      return;
    }
    if (this.isConfirming) {
      this.isConfirming = false;
      void this.undo.answered(line.trim().toLowerCase() === 'y');
    } else if (!this.answer(line)) {
      const text = terminalText(line, 'prose');
      this.told.heard(text);
      this.submission.submit(text);
    }
    this.tellHint();
    this.tell();
  }

  /** Once stops the turn, twice leaves. */
  onInterrupt(): void {
    const { muster, onLeave } = this.options;
    if (this.isLeaving) {
      onLeave();
      return;
    }
    if (this.commands.isRunning) {
      void this.commands.stop();
      return;
    }
    this.isLeaving = true;
    const { interrupts } = interrupt(this.ui, { openTask: null, isArmed: false });
    try {
      if (interrupts !== null) muster.interrupt(interrupts);
    } catch (thrown) {
      this.note('error', errorMessage(thrown));
    }
    const stopping = interrupts === null ? '' : 'Stopping the turn. ';
    this.terminal.write([`${stopping}Press Ctrl+C again to leave; everything can be resumed.`]);
  }

  onFree(): void {
    this.tell();
  }

  onEnd(): void {
    this.options.onLeave();
  }

  private onEvent(event: TaskEvent, state: TaskState): void {
    applyToUi(this.ui, event, state);
    const call = callsForAttention(this.ui, event);
    if (call !== null) this.options.streams.output.write(callText(this.options.caller, call));
    // In the order in which it happened; what streams in between comes some at a time.
    this.tell();
  }

  private onIdle(): void {
    this.tell();
    const { turns, tokens, costUsd } = treeUse(this.ui);
    const used = turns === 0 ? '' : ` ${shortCount(tokens)} tokens, ${shortCost(costUsd)}.`;
    this.terminal.write([`Ready.${used}`]);
  }

  /** Only to a question that was told of: who has begun to type before it did not mean it. */
  private answer(line: string): boolean {
    const question = this.asked === null ? undefined : this.ui.questions.get(this.asked);
    const answer = isOfTask(question) ? readAnswer(question, line) : null;
    if (question === undefined || answer === null) return false;
    this.asked = null;
    try {
      this.options.muster.answer({ question: question.id, ...answer });
    } catch (thrown) {
      this.look.hint = errorMessage(thrown);
    }
    return true;
  }

  private tellHint(): void {
    const { hint } = this.look;
    this.look.hint = null;
    if (hint !== null) this.terminal.write([this.pen.prose('text', hint)]);
  }

  /** All that is new; a question when it will be seen. */
  private tell(): void {
    const { ui, terminal, pen } = this;
    terminal.write(this.told.news(ui.main));
    terminal.write(this.tasks.news(ui, this.options.now()));
    if (!terminal.isFree) return;
    if (this.asked !== null && !ui.questions.has(this.asked)) {
      terminal.write(['That question is settled.']);
      this.asked = null;
    }
    const [first] = ui.questions.values();
    if (!isOfTask(first) || first.id === this.asked) return;
    this.asked = first.id;
    terminal.write(questionText(first, { waiting: ui.questions.size, pen }));
  }
}
