import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { similarQuestions } from '../model/similar-questions.ts';
import type { PendingQuestion } from '../model/task-tree.ts';
import { totalUse } from '../model/total-use.ts';
import { ExternalEditor } from '../terminal/external-editor.ts';
import { attentionSequence } from '../terminal/notification.ts';
import { createRedraw, type Redraw } from '../terminal/redraw.ts';
import { UiSession, type InterfaceOptions } from '../terminal/session.ts';
import type { UiMessage } from '../update/message.ts';
import { Pen } from '../view/pen.ts';
import { shortTokens, totalCost } from '../view/numbers.ts';
import { startScreen } from '../view/start-screen.ts';
import { PLAIN } from '../view/theme.ts';
import { LineTerminal, type LineStreams } from './line-terminal.ts';
import { PlainConversation, createTaskLines } from './plain-conversation.ts';
import { parseTypedLine, questionText, similarText } from './plain-question.ts';

export interface PlainAppOptions extends InterfaceOptions {
  readonly streams: LineStreams;
}

/** A width at which no line is cut, because a screen reader has no columns. */
const ANY_WIDTH = 10_000;
/** The time for the second Ctrl+C. It is long, because the sentence that asks for it is read aloud. */
const LEAVE_MS = 10_000;
/** The maximum number of lines that are written from the output of a shell command. */
const MAX_SHELL_LINES = 40;

/** The terminal UI for a screen reader. It has the same state and updates as the screen, but only adds lines. */
export class PlainApp {
  private readonly options: PlainAppOptions;
  private readonly pen = new Pen(PLAIN);
  readonly session: UiSession;
  private readonly lines: PlainConversation;
  private readonly taskLines: ReturnType<typeof createTaskLines>;
  private readonly terminal: LineTerminal;
  private readonly redraw: Redraw;
  private readonly externalEditor: ExternalEditor;
  /** The question that was written last. The next typed line may answer it. */
  private asked: PendingQuestion | null = null;
  /** Whether the user has answered that question. It waits until the answer is recorded. */
  private isAnswered = false;
  /** The ids of the similar questions that were written with that question. */
  private shownSimilar: readonly string[] = [];
  /** The time of the last Ctrl+C that asked whether to leave; null if another line followed. */
  private leaveAskedAt: number | null = null;
  /** The hint that was written last. */
  private shownHint: string | null = null;

  constructor(options: PlainAppOptions) {
    const { streams, attention, onLeave } = options;
    const { pen } = this;
    this.options = options;
    this.lines = new PlainConversation(pen);
    this.taskLines = createTaskLines(pen);
    this.terminal = new LineTerminal(streams, {
      onLine: (line) => this.handleLine(line),
      onInterrupt: () => this.onInterrupt(),
      onFree: () => this.report(),
      onEnd: onLeave,
    });
    this.externalEditor = new ExternalEditor(readEnvironment(), (use) => this.terminal.lend(use));
    this.redraw = createRedraw(
      () => this.report(),
      () => false,
    );
    this.session = new UiSession(
      options,
      {
        externalEditor: this.externalEditor,
        // Plain lines do not know whether the user looks at the terminal, and call in any case.
        callAttention: (text) => {
          if (this.terminal.isLent) return;
          const { notify } = this.session.state.terminal;
          streams.output.write(attentionSequence(notify, attention, text));
        },
        leave: onLeave,
        ...(options.onRestart === undefined ? {} : { restart: options.onRestart }),
        changed: (message) => this.onChanged(message),
        shellEnded: ({ outcome, text }) => {
          const shown = text.trimEnd().split('\n').slice(-MAX_SHELL_LINES);
          this.terminal.write([...shown.map((line) => pen.exact('text', line)), outcome]);
        },
      },
      { pen, kind: 'lines' },
    );
  }

  start(): void {
    const { library, notices } = this.options;
    const info = { library, notices, sandbox: 'see muster doctor', earlier: null };
    const start = startScreen(info, ANY_WIDTH, this.pen);
    this.terminal.write(start.filter((line) => line !== ''));
    this.report();
    this.terminal.start();
  }

  /** Whether Ctrl+C is meant for another program that has the terminal. */
  get isTerminalLent(): boolean {
    return this.terminal.isLent;
  }

  async stop(): Promise<void> {
    this.externalEditor.kill();
    await this.session.stop();
    this.stopNow();
  }

  stopNow(): void {
    this.externalEditor.kill();
    this.session.stopNow();
    this.redraw.stop();
    this.terminal.stop();
  }

  /** Handles Ctrl+C: stops the turn, and leaves when the key is pressed again. */
  onInterrupt(): void {
    const { session } = this;
    const now = this.options.now();
    if (this.leaveAskedAt !== null && now - this.leaveAskedAt < LEAVE_MS) {
      this.options.onLeave();
      return;
    }
    const { isShellRunning } = session.state;
    this.leaveAskedAt = isShellRunning ? null : now;
    session.dispatch({ type: 'key-pressed', meaning: 'interrupt' });
    if (isShellRunning) return;
    this.shownHint = session.state.hint;
    const stopping = session.state.armed === 'stop-tree' ? 'Stopping the turn. ' : '';
    this.terminal.write([`${stopping}Press Ctrl+C again to leave; everything can be resumed.`]);
  }

  private handleLine(line: string): void {
    const { session } = this;
    this.leaveAskedAt = null;
    if (line.trim() === '') {
      session.dispatch({ type: 'submitted', text: '' });
      return;
    }
    session.dispatch({ type: 'key-pressed', meaning: 'nothing' });
    // The same hint is written again for another line.
    this.shownHint = null;
    if (!this.answer(line)) {
      const text = sanitizeForTerminal(line, 'prose');
      this.lines.noteTyped(text);
      session.dispatch({ type: 'submitted', text });
    }
    this.report();
  }

  /** Answers the question that was written last, if the line is an answer to it. */
  private answer(line: string): boolean {
    const { asked, session } = this;
    if (asked === null || !session.state.tree.questions.has(asked.id)) return false;
    if (asked.kind === 'confirm') {
      this.isAnswered = true;
      session.dispatch({ type: 'confirmed', isYes: line.trim().toLowerCase() === 'y' });
      return true;
    }
    const answer = parseTypedLine(asked, line);
    if (answer === null) return false;
    this.isAnswered = true;
    const similar = answer.isForSimilar ? { similar: this.shownSimilar } : {};
    const given = { question: asked.id, ...answer.answer };
    session.dispatch({ type: 'answer', answer: given, ...similar });
    return true;
  }

  private onChanged({ type }: UiMessage): void {
    // Events are reported at once, in their order. Streamed text is reported after a short delay.
    if (type === 'task-event') this.report();
    else if (type === 'conversation-idle') this.reportIdle();
    else this.redraw.changed();
  }

  private reportIdle(): void {
    this.report();
    const total = totalUse(this.session.state.tree.rows.values());
    const { turns, tokens } = total;
    const used = turns === 0 ? '' : ` ${shortTokens(tokens)} tokens, ${totalCost(total)}.`;
    this.terminal.write([`Ready.${used}`]);
  }

  private waitingWith(question: PendingQuestion): Parameters<typeof questionText>[1] {
    const { state } = this.session;
    const similar = similarQuestions(state, question).flatMap((each) =>
      each === question || each.kind === 'confirm' ? [] : [each],
    );
    return { waiting: state.tree.questions.size, similar, cwd: this.options.library.cwd };
  }

  /** Writes everything that is new. A question is written only while the user is not typing. */
  private report(): void {
    const { session, terminal, pen } = this;
    const { tree, hint } = session.state;
    const { thinking } = session.state.terminal;
    terminal.write(this.lines.newLines(tree.main, this.options.now(), thinking));
    terminal.write(this.taskLines(tree, this.options.now()));
    if (hint !== null && hint !== this.shownHint) terminal.write([pen.prose('text', hint)]);
    this.shownHint = hint;
    if (!terminal.isFree) return;
    if (this.asked !== null && !tree.questions.has(this.asked.id)) {
      if (!this.isAnswered) terminal.write(['This question is settled.']);
      this.asked = null;
    }
    const [first] = tree.questions.values();
    if (first === undefined) return;
    if (first.id === this.asked?.id) {
      if (!this.isAnswered) this.reportLaterSimilar(first);
      return;
    }
    this.asked = first;
    this.isAnswered = false;
    const waiting = this.waitingWith(first);
    this.shownSimilar = waiting.similar.map(({ id }) => id);
    terminal.write(
      first.kind === 'confirm'
        ? [
            ...[first.title, ...first.lines].map((line) => pen.exact('text', line)),
            'Type y to do it, or anything else to leave it.',
          ]
        : questionText(first, waiting, pen),
    );
  }

  /** Writes the similar questions that arrived after the question was written, so that `A` answers them as well. */
  private reportLaterSimilar(asked: PendingQuestion): void {
    const { similar, cwd } = this.waitingWith(asked);
    const later = similar.filter(({ id }) => !this.shownSimilar.includes(id));
    this.terminal.write(
      similarText(later, { isFirst: this.shownSimilar.length === 0, cwd }, this.pen),
    );
    this.shownSimilar = [...this.shownSimilar, ...later.map(({ id }) => id)];
  }
}
