import type { Muster } from '../../api/index.ts';
import { errorMessage } from '../../base/errors.ts';
import { plural } from '../../base/text.ts';
import type { Answering, TypedText } from './answering.ts';
import type { Action } from './keys/bindings.ts';
import { interrupt, toBackground } from './keys/interrupt.ts';
import { nextMode } from './keys/next-mode.ts';
import type { Look } from './look.ts';
import { scrolled, type Parts } from './render/viewport.ts';
import { applyToTranscript } from './view/transcript.ts';
import { treeRows } from './view/tree-rows.ts';
import { openTranscript, type UiState } from './view/ui-state.ts';

interface ActionParts {
  readonly muster: Pick<Muster, 'background' | 'stopTask' | 'mode' | 'setMode' | 'store'>;
  readonly ui: UiState;
  readonly look: Look;
  readonly editor: TypedText;
  readonly answering: Answering;
  /** What is looked at, as it is drawn, and in how many lines. */
  readonly shown: () => { readonly parts: Parts; readonly height: number };
  readonly redraw: () => void;
  readonly leave: () => void;
}

/** What keys do. */
export class Actions {
  private readonly parts: ActionParts;

  constructor(parts: ActionParts) {
    this.parts = parts;
  }

  act(action: Action, armed: Look['armed']): void {
    const { look, answering, redraw } = this.parts;
    switch (action) {
      case 'interrupt':
        return this.interrupt({ isArmed: armed === 'stop-tree' });
      case 'leave':
      case 'leave-empty':
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
        return;
      case 'page-up':
        return this.scroll(1 - this.parts.shown().height);
      case 'page-down':
        return this.scroll(this.parts.shown().height - 1);
      case 'line-up':
        return this.scroll(-1);
      case 'line-down':
        return this.scroll(1);
      case 'to-end':
        look.anchor = null;
        return;
      case 'redraw':
        return redraw();
      case 'choose-up':
        return this.choose(-1);
      case 'choose-down':
        return this.choose(1);
      case 'open-task':
        return this.openChosen();
      case 'stop-task':
        return this.stop(look.chosenTask === null ? [] : [look.chosenTask]);
      case 'background-task':
        return this.background(look.chosenTask === null ? [] : [look.chosenTask]);
      default:
        return answering.act(action);
    }
  }

  scroll(by: number): void {
    const { look, shown } = this.parts;
    const { parts, height } = shown();
    look.anchor = scrolled(parts, look.anchor, { by, height });
  }

  /** Back to the conversation. */
  closeTask(): void {
    const { look, ui } = this.parts;
    look.openTask = null;
    look.anchor = null;
    ui.opened = null;
  }

  private interrupt({ isArmed }: { readonly isArmed: boolean }): void {
    const { ui, look } = this.parts;
    const { stop, arms, hint } = interrupt(ui, { openTask: look.openTask, isArmed });
    this.stop(stop);
    look.hint = hint;
    if (arms) look.armed = 'stop-tree';
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
    look.hint = 'press it again to leave; everything is stopped and can be resumed';
  }

  private cycleMode(): void {
    const { muster, look, ui } = this.parts;
    const begunIn = ui.root === null ? undefined : ui.rows.get(ui.root)?.mode;
    const { mode, isBounded } = nextMode(
      look.chosenMode ?? begunIn ?? muster.mode,
      begunIn ?? null,
    );
    muster.setMode(mode);
    look.chosenMode = mode;
    if (isBounded) {
      look.hint = `no wider mode than ${begunIn} for this one; /new begins another`;
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
    const { look, answering } = this.parts;
    if (look.writing.kind !== 'message' || look.focus === 'question') answering.leave();
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
