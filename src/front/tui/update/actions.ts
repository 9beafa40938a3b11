import type { Muster } from '../../../api/index.ts';
import { errorMessage, MusterError } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import type { Answering, TypedText } from './question-controller.ts';
import type { Browsing } from './scroll-and-search.ts';
import type { ConversationPort } from '../terminal/conversation.ts';
import type { Action } from '../model/key-bindings.ts';
import { interrupt, toBackground } from './interrupt.ts';
import { modesAfter } from './next-mode.ts';
import type { PastedImages } from '../terminal/pasted-images.ts';
import type { Look } from '../model/view-state.ts';
import { hasEnded } from '../model/task-row.ts';
import type { OwnCommands } from '../terminal/shell-commands.ts';
import { applyToTranscript } from '../model/transcript.ts';
import { treeRows } from '../model/tree-rows.ts';
import { openTranscript, type UiState } from '../model/task-tree.ts';

interface ActionParts {
  readonly muster: Pick<
    Muster,
    'background' | 'interrupt' | 'stopTask' | 'mode' | 'setMode' | 'store'
  >;
  readonly ui: UiState;
  readonly look: Look;
  readonly editor: TypedText;
  readonly conversation: Pick<ConversationPort, 'isWatched' | 'wake'>;
  readonly answering: Answering;
  readonly browsing: Browsing;
  /** Lines of the conversation in sight. */
  readonly height: () => number;
  readonly commands: Pick<OwnCommands, 'isRunning' | 'stop'>;
  readonly images: Pick<PastedImages, 'takeClipboard'>;
  readonly redraw: () => void;
  readonly suspend: () => void;
  readonly leave: () => void;
}

const SCROLLS: ReadonlySet<Action> = new Set(['page-up', 'page-down', 'to-end']);

/** What keys do. */
export class Actions {
  private readonly parts: ActionParts;

  constructor(parts: ActionParts) {
    this.parts = parts;
  }

  act(action: Action, armed: Look['armed']): void {
    const { look, answering, browsing, redraw, height } = this.parts;
    // Who reads a question scrolls in it.
    if (look.focus === 'question' && SCROLLS.has(action)) return answering.act(action);
    switch (action) {
      case 'paste-image':
        void this.parts.images.takeClipboard();
        return;
      case 'interrupt':
        if (this.stopCommand()) return;
        return this.interrupt({ isArmed: armed === 'stop-tree' });
      case 'leave':
      case 'leave-empty':
        if (this.parts.editor.getText() === '' && this.stopCommand()) return;
        return this.leave({ isArmed: armed === 'leave' });
      case 'background':
        return this.background(toBackground(this.parts.ui, look.openTask));
      case 'cycle-mode':
        return this.cycleMode();
      case 'focus-question':
        return answering.focus();
      case 'focus-tasks':
        return this.focusTasks();
      case 'back':
        return this.back();
      case 'expand':
        look.isExpanded = !look.isExpanded;
        look.toggled.clear();
        return;
      case 'focus-entries':
        return look.focus === 'entries' ? browsing.leaveEntries() : browsing.focusEntries();
      case 'entry-up':
        return browsing.chooseEntry(-1);
      case 'entry-down':
        return browsing.chooseEntry(1);
      case 'unfold-entry':
        return browsing.toggleEntry();
      case 'search':
      case 'search-here':
        return browsing.startSearch();
      case 'search-next':
        return browsing.step(1);
      case 'search-previous':
        return browsing.step(-1);
      case 'page-up':
        return browsing.scroll(1 - height());
      case 'page-down':
        return browsing.scroll(height() - 1);
      case 'line-up':
        return browsing.scroll(-1);
      case 'line-down':
        return browsing.scroll(1);
      case 'to-end':
        return browsing.toEnd();
      case 'redraw':
        return redraw();
      case 'suspend':
        return this.parts.suspend();
      case 'choose-up':
        return this.choose(-1);
      case 'choose-down':
        return this.choose(1);
      case 'open-task':
        return this.openChosen();
      case 'stop-task':
        return this.stopChosen();
      case 'resume-task':
        return this.resumeChosen();
      case 'background-task':
        return this.background(look.chosenTask === null ? [] : [look.chosenTask]);
      default:
        return answering.act(action);
    }
  }

  /** Back to the conversation. */
  closeTask(): void {
    const { look, ui, browsing } = this.parts;
    browsing.forget();
    look.openTask = null;
    ui.opened = null;
  }

  private stopChosen(): void {
    const { look, ui } = this.parts;
    const row = look.chosenTask === null ? undefined : ui.rows.get(look.chosenTask);
    if (row === undefined) return;
    if (hasEnded(row)) look.hint = 'it has ended already';
    else {
      look.hint = 'stopping it';
      this.stop([row.id]);
    }
  }

  private resumeChosen(): void {
    const { conversation, look, ui } = this.parts;
    const row = look.chosenTask === null ? undefined : ui.rows.get(look.chosenTask);
    if (row === undefined) return;
    if (!hasEnded(row)) look.hint = 'it has not ended: enter opens it, and what you type is for it';
    else if (row.id === ui.root) look.hint = 'type a message: the conversation goes on with it';
    else {
      look.hint = `${row.agent} ${row.id.slice(0, 6)} goes on in the background`;
      conversation.wake(row.id, null);
    }
  }

  private interrupt({ isArmed }: { readonly isArmed: boolean }): void {
    const { ui, look, muster, conversation } = this.parts;
    const root = ui.root === null ? undefined : ui.rows.get(ui.root);
    const isAtWork = root !== undefined && !hasEnded(root);
    if (conversation.isWatched && isAtWork && look.openTask === null && !isArmed) {
      // Who only looks must not stop another process's work with one key.
      look.hint = 'esc again stops it with all below it, in the process that runs it';
      look.armed = 'stop-tree';
      return;
    }
    const { interrupts, stops, arms, hint } = interrupt(ui, { openTask: look.openTask, isArmed });
    this.stop(stops === null ? [] : [stops]);
    look.hint = hint;
    if (arms) look.armed = 'stop-tree';
    if (interrupts === null) return;
    try {
      muster.interrupt(interrupts);
    } catch (thrown) {
      look.hint = errorMessage(thrown);
    }
  }

  /** A command of the person's own comes first. */
  private stopCommand(): boolean {
    const { commands, look } = this.parts;
    if (!commands.isRunning) return false;
    look.hint = 'stopping the command';
    void commands.stop();
    return true;
  }

  private stop(tasks: readonly string[]): void {
    for (const task of tasks) void this.parts.muster.stopTask(task, 'the user stopped it');
  }

  private background(tasks: readonly string[]): void {
    const { muster, look } = this.parts;
    try {
      for (const task of tasks) muster.background(task);
      look.hint =
        tasks.length === 0
          ? 'no task is waited for'
          : `${plural(tasks.length, 'task')} sent to the background`;
    } catch (thrown) {
      look.hint = errorMessage(thrown);
    }
  }

  /** What is typed goes first; then it takes the key twice. */
  private leave({ isArmed }: { readonly isArmed: boolean }): void {
    const { look, editor, leave } = this.parts;
    if (isArmed) {
      leave();
      return;
    }
    editor.setText('');
    look.armed = 'leave';
    look.hint = this.parts.conversation.isWatched
      ? 'press it again to leave; what is watched goes on'
      : 'press it again to leave; everything is stopped and can be resumed';
  }

  /** At once where the conversation is at work; otherwise for its next message. */
  private cycleMode(): void {
    const { muster, look, ui, conversation } = this.parts;
    if (conversation.isWatched) {
      look.hint = 'its mode is set where it runs';
      return;
    }
    const row = ui.root === null ? undefined : ui.rows.get(ui.root);
    if (row === undefined || hasEnded(row)) {
      const [next] = modesAfter(look.chosenMode ?? row?.mode ?? muster.mode);
      look.chosenMode = next ?? null;
      return;
    }
    for (const mode of modesAfter(row.mode)) {
      try {
        muster.setMode(row.id, mode);
        return;
      } catch (thrown) {
        look.hint = errorMessage(thrown);
        // Its definition may want a narrower one: the next is tried.
        if (!(thrown instanceof MusterError) || thrown.code !== 'INVALID_PARAM') return;
      }
    }
  }

  private focusTasks(): void {
    const { look, ui } = this.parts;
    if (look.focus === 'tasks') {
      look.focus = 'editor';
      return;
    }
    if (ui.root === null) {
      look.hint = 'there are no tasks yet';
      return;
    }
    this.parts.answering.leave();
    look.focus = 'tasks';
    look.chosenTask = look.openTask ?? look.chosenTask ?? ui.root;
  }

  private back(): void {
    const { look, answering, browsing } = this.parts;
    if (look.writing.kind === 'search') browsing.endSearch();
    else if (look.focus === 'entries') browsing.leaveEntries();
    else if (look.writing.kind !== 'message' || look.focus === 'question') answering.leave();
    else if (look.focus === 'tasks') look.focus = 'editor';
    else this.closeTask();
  }

  private choose(by: number): void {
    const { look, ui } = this.parts;
    const ids = treeRows(ui).map(({ row }) => row.id);
    const at = ids.indexOf(look.chosenTask ?? '') + by;
    look.chosenTask = ids[Math.min(Math.max(at, 0), ids.length - 1)] ?? null;
  }

  /** Its conversation is read from its log, and goes on with what comes. */
  private openChosen(): void {
    const { look, ui, muster } = this.parts;
    const { chosenTask } = look;
    look.focus = 'editor';
    this.closeTask();
    if (chosenTask === null || chosenTask === ui.root) return;
    const transcript = openTranscript(ui, chosenTask);
    try {
      muster.store.scan(chosenTask, (event) => applyToTranscript(transcript, event));
      look.openTask = chosenTask;
    } catch (thrown) {
      ui.opened = null;
      look.hint = errorMessage(thrown);
    }
  }
}
