import type { Enclosed } from '../../api/session/contract.ts';
import { contextLines } from '../../api/tasks/context-lines.ts';
import { errorMessage, MusterError, UsageError } from '../../base/errors.ts';
import type { Actions } from './actions.ts';
import type { Answering } from './answering.ts';
import type { UiMuster } from './ui-muster.ts';
import { readInput, type CommandName } from './commands/command-table.ts';
import { pageOf, unknownPage, type Page } from './commands/pages.ts';
import type { Bindings } from './keys/bindings.ts';
import { conversationsPage } from './commands/conversations.ts';
import type { ConversationPort } from './conversation.ts';
import type { Look } from './look.ts';
import type { Saying } from './saying.ts';
import type { OwnCommands } from './shell/own-commands.ts';
import type { Undo } from './undo.ts';
import type { Screen } from './pi/screen.ts';
import { addBlock } from './view/transcript.ts';
import { hasEnded } from './view/task-row.ts';
import { emptyMain, forgetTree, isCutOff, type UiState } from './view/ui-state.ts';

interface SubmissionParts {
  readonly muster: UiMuster;
  readonly ui: UiState;
  readonly look: Look;
  readonly editor: Pick<Screen['editor'], 'addToHistory' | 'setText'>;
  readonly bindings: Bindings;
  readonly conversation: ConversationPort;
  /** Shows an earlier conversation, by its whole id. */
  readonly open: (id: string) => void;
  readonly answering: Answering;
  readonly actions: Pick<Actions, 'closeTask'>;
  readonly saying: Saying;
  readonly commands: Pick<OwnCommands, 'start'>;
  readonly undo: Undo;
  readonly note: (level: 'info' | 'warning' | 'error', text: string) => void;
  /** Has the entry of this key read from its beginning, where it is longer than what is in sight. */
  readonly showFrom: (key: number) => void;
  readonly changed: () => void;
  /** Milliseconds on the monotonic clock. */
  readonly now: () => number;
  readonly leave: () => void;
}

/** What becomes of a text that is sent: an answer, a command, or a message to whom is looked at. */
export class Submission {
  private readonly parts: SubmissionParts;

  constructor(parts: SubmissionParts) {
    this.parts = parts;
  }

  submit(text: string): void {
    const { look, answering, editor, muster } = this.parts;
    if (look.writing.kind !== 'message') {
      answering.submit(text);
      return;
    }
    if (text.trim() === '') {
      this.goOn();
      return;
    }
    editor.addToHistory(text);
    muster.typed.add(text);
    look.anchor = null;
    const input = readInput(text);
    if (input.kind === 'command') this.command(input.name, input.rest);
    else if (input.kind === 'unknown') this.page(unknownPage(input.word));
    else if (input.kind === 'shell') this.run(input);
    else this.say(text);
  }

  /** With nothing typed: what was cut off at work. */
  private goOn(): void {
    const { look, ui, conversation } = this.parts;
    if (look.openTask === null && isCutOff(ui)) conversation.goOn();
  }

  private say(text: string): void {
    const { look, ui, conversation, editor, saying } = this.parts;
    if (look.openTask === null) {
      const hear = (words: string, enclosed?: Enclosed) => conversation.say(words, enclosed);
      saying.say(text, { to: () => conversation.id, hear });
      return;
    }
    const { openTask } = look;
    const hear = (words: string, enclosed?: Enclosed) => {
      try {
        const row = ui.rows.get(openTask);
        if (row !== undefined && hasEnded(row)) conversation.wake(openTask, words);
        else this.tell(openTask, words, enclosed);
      } catch (thrown) {
        look.hint = errorMessage(thrown);
        editor.setText(words);
      }
    };
    saying.say(text, { to: () => openTask, hear });
  }

  private run({
    command,
    isShared,
  }: {
    readonly command: string;
    readonly isShared: boolean;
  }): void {
    const { look, actions, commands } = this.parts;
    if (command === '') {
      look.hint = 'a command goes behind the mark: !git status';
      return;
    }
    actions.closeTask();
    if (!commands.start(command, { isShared })) look.hint = 'one command at a time: stop the other';
  }

  /** One that is about to end would not read it: it goes on with it instead. */
  private tell(task: string, text: string, enclosed?: Enclosed): void {
    const { muster, conversation } = this.parts;
    try {
      muster.send(task, text, enclosed);
    } catch (thrown) {
      if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
      conversation.wake(task, text);
    }
  }

  private command(name: CommandName, rest: string): void {
    const { muster, ui, now, leave, conversation, look, bindings, undo } = this.parts;
    if (conversation.isWatched && NOT_WHILE_WATCHING.has(name)) {
      look.hint = `/${name} is not for what is watched: leave, and begin with muster`;
      return;
    }
    switch (name) {
      case 'quit':
        leave();
        return;
      case 'compact':
        this.compact(rest);
        return;
      case 'undo':
        void undo.undo();
        return;
      case 'redo':
        void undo.redo();
        return;
      case 'context':
        void this.context();
        return;
      case 'model':
        if (rest !== '') this.chooseModel(rest);
        this.page(pageOf(name, rest, { muster, ui, bindings, now: now() }));
        return;
      case 'new':
        this.beginAnew();
        return;
      case 'resume':
        this.resume(rest);
        return;
      default:
        this.page(pageOf(name, rest, { muster, ui, bindings, now: now() }));
    }
  }

  private chooseModel(name: string): void {
    const { muster, note, conversation } = this.parts;
    try {
      const { provider, id } = muster.setModel(name);
      const when = conversation.isAtWork
        ? 'once what it does now has ended'
        : 'from the next message on';
      note('info', `${provider}/${id} ${when}`);
    } catch (thrown) {
      note('warning', errorMessage(thrown));
    }
  }

  private async context(): Promise<void> {
    const { muster, conversation, look, note } = this.parts;
    const id = look.openTask ?? conversation.id;
    try {
      if (id === null) throw new UsageError('nothing was said yet');
      const lines = contextLines(await muster.contextOf(id));
      this.page({ title: 'Context', lines });
    } catch (thrown) {
      note('warning', errorMessage(thrown));
    }
  }

  private compact(keep: string): void {
    const { conversation, look } = this.parts;
    if (conversation.id === null || conversation.isAtWork) {
      look.hint = 'nothing was said yet, or it is at work: stop it first';
      return;
    }
    conversation.say(keep === '' ? '/compact' : `/compact ${keep}`);
  }

  private beginAnew(): void {
    const { conversation, actions, look, note, ui } = this.parts;
    const { id } = conversation;
    if (!this.mayLeave()) return;
    actions.closeTask();
    if (id !== null) note('info', `muster --resume ${id.slice(0, 8)} goes on with the one above`);
    conversation.continue(null);
    look.chosenTask = null;
    forgetTree(ui);
  }

  private resume(word: string): void {
    const { conversation, look, muster, ui } = this.parts;
    try {
      if (word === '') {
        const { cwd, store } = muster;
        const place = { cwd, current: conversation.id, now: ui.clock.now() };
        this.page(conversationsPage(store.list(), place));
      } else if (this.mayLeave()) this.goOnWith(muster.store.resolveId(word));
    } catch (thrown) {
      look.hint = errorMessage(thrown);
    }
  }

  private goOnWith(id: string): void {
    const { actions, conversation, look, muster, note, open, ui } = this.parts;
    const { id: before } = conversation;
    const task = muster.store.list().find((each) => each.id === id);
    const owner = muster.store.getOwner(id);
    if (id === before) look.hint = 'that is this one';
    else if (task !== undefined && task.parent !== null) {
      look.hint = `${word(id)} is a task of conversation ${word(task.root)}: /resume that`;
    } else if (owner !== null) {
      look.hint = `process ${owner.pid} works on it: muster tasks watch ${word(id)} shows it`;
    } else {
      actions.closeTask();
      look.chosenTask = null;
      forgetTree(ui);
      emptyMain(ui);
      open(id);
      if (before !== null) note('info', `/resume ${word(before)} goes back to the one before`);
    }
  }

  /** Whether another conversation can take the place of this one. */
  private mayLeave(): boolean {
    const { conversation, look } = this.parts;
    if (conversation.isAtWork) look.hint = 'it is at work: stop it first';
    return !conversation.isAtWork;
  }

  private page(page: Page): void {
    const { actions, ui, showFrom, changed } = this.parts;
    actions.closeTask();
    showFrom(addBlock(ui.main, { kind: 'page', ...page }));
    changed();
  }
}

const NOT_WHILE_WATCHING: ReadonlySet<CommandName> = new Set([
  'compact',
  'model',
  'new',
  'redo',
  'resume',
  'undo',
]);

/** An id as it is typed. */
function word(id: string): string {
  return id.slice(0, 8);
}
