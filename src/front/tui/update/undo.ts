import type { Muster, RewindPlan, TaskEvent } from '../../../api/index.ts';
import { rewindLines } from '../../../api/report/rewind-lines.ts';
import { errorMessage } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import { liveEvents } from '../../../protocol/rewound.ts';
import type { Confirmation } from '../model/asked.ts';

type UndoMuster = Pick<Muster, 'cwd' | 'planRewind' | 'rewind' | 'store'>;

interface Parts {
  readonly muster: UndoMuster;
  /** The conversation; null: none was begun. `isAtWork`: it, or anything below it. */
  readonly conversation: () => { readonly id: string | null; readonly isAtWork: boolean };
  readonly ask: (question: Confirmation) => void;
  readonly hint: (text: string) => void;
  readonly note: (level: 'info' | 'warning', text: string) => void;
  /** It is done: the conversation is shown anew, and the words that were taken back are typed again. */
  readonly done: (words: string | null, isWhole: boolean) => void;
}

/** What a person said last, in a conversation as it stands. */
interface LastWords {
  readonly text: string;
  /** The number of the last event before it; null: the conversation begins with it. */
  readonly before: number | null;
}

/** Takes the last message back, with what came of it: the conversation, and the files that it changed. */
export class Undo {
  private readonly parts: Parts;
  private waiting: { readonly plan: RewindPlan; readonly words: LastWords | null } | null = null;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** The last message; once more: the one before it. */
  async undo(): Promise<void> {
    const id = this.free();
    if (id === null) return;
    const events: TaskEvent[] = [];
    this.parts.muster.store.scan(id, (event) => events.push(event));
    const words = lastWords(events);
    // Of the first message all is put back that came of it, and it is said anew.
    if (words !== null) await this.plan(id, { to: words.before ?? 0 }, words);
  }

  /** What the last undo took back. */
  async redo(): Promise<void> {
    const id = this.free();
    if (id !== null) await this.plan(id, 'undo', null);
  }

  async answered(isYes: boolean): Promise<void> {
    const { muster, hint, note, done } = this.parts;
    const { waiting } = this;
    this.waiting = null;
    if (waiting === null) return;
    if (!isYes) {
      hint('nothing was changed');
      return;
    }
    // It may have begun to work since it was shown.
    if (this.free() === null) return;
    try {
      const { plan, left } = await muster.rewind(waiting.plan);
      const files = plan.files.length - left.length;
      done(waiting.words?.text ?? null, waiting.words?.before === null);
      const again = waiting.words === null ? '' : '; /redo takes that back';
      note('info', `${plural(files, 'file')} put back${again}`);
      for (const { path, because } of left) note('warning', `not ${path}: ${because}`);
    } catch (thrown) {
      note('warning', errorMessage(thrown));
    }
  }

  /** The conversation, where it can be put back. */
  private free(): string | null {
    const { id, isAtWork } = this.parts.conversation();
    if (isAtWork) this.parts.hint('it is at work: stop it first');
    else if (id === null) this.parts.hint('nothing was said yet');
    return isAtWork ? null : id;
  }

  private async plan(id: string, wish: RewindPlan['wish'], words: LastWords | null): Promise<void> {
    const { muster, ask, hint, note } = this.parts;
    try {
      const plan = await muster.planRewind(id, wish);
      if (plan.isThere) hint('there is nothing to take back');
      else if (plan.refused.length > 0) note('warning', rewindLines(plan, muster.cwd).join('\n'));
      else {
        this.waiting = { plan, words };
        const title = words === null ? 'redo what was undone?' : 'undo the last message?';
        const said = words === null ? [] : [`> ${words.text.split('\n')[0] ?? ''}`];
        const lines = [...said, ...rewindLines(plan, muster.cwd)];
        ask({ kind: 'confirm', id: 'undo', task: '', title, lines });
      }
    } catch (thrown) {
      hint(errorMessage(thrown));
    }
  }
}

/** The last thing that a person said; null: nobody did. */
function lastWords(events: readonly TaskEvent[]): LastWords | null {
  const live = liveEvents(events);
  const at = live.findLastIndex(
    (event) =>
      event.type === 'input.queued' &&
      event.input.from === 'user' &&
      event.input.kind === 'message',
  );
  const said = live[at];
  if (said?.type === 'input.queued') {
    return { text: said.input.text, before: live[at - 1]?.seq ?? null };
  }
  const [first] = live;
  return first?.type === 'task.created' ? { text: first.spec.prompt, before: null } : null;
}
