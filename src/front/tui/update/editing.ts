import type { Confirmation } from '../model/asked.ts';
import type { ConversationPort } from '../terminal/conversation.ts';
import { PastedImages } from '../terminal/pasted-images.ts';
import type { Look } from '../model/view-state.ts';
import type { Screen } from '../terminal/screen.ts';
import { Saying } from '../terminal/message-sender.ts';
import { OwnCommands } from '../terminal/shell-commands.ts';
import type { UiMuster } from '../model/ui-library.ts';
import { Undo } from './undo.ts';
import { isAtWork } from '../model/tree-rows.ts';
import { emptyMain, forgetTree, type UiState } from '../model/task-tree.ts';

interface EditingParts {
  readonly muster: UiMuster;
  readonly agent: string | null;
  readonly ui: UiState;
  readonly look: Look;
  readonly editor: Pick<Screen['editor'], 'getText' | 'insertTextAtCursor' | 'setText'>;
  readonly conversation: ConversationPort;
  readonly ask: (question: Confirmation) => void;
  readonly closeTask: () => void;
  /** Shows a conversation anew. */
  readonly open: (id: string) => void;
  readonly note: (level: 'info' | 'warning', text: string) => void;
  readonly changed: () => void;
}

/** What a person does beside typing: commands of their own, images, what goes along, and taking it back. */
export class Editing {
  readonly commands: OwnCommands;
  readonly images: PastedImages;
  readonly saying: Saying;
  readonly undo: Undo;
  private readonly parts: EditingParts;

  constructor(parts: EditingParts) {
    const { muster, agent, ui, look, editor, conversation, ask, note, changed } = parts;
    const { cwd } = muster;
    this.parts = parts;
    const hint = (text: string) => {
      look.hint = text;
      changed();
    };
    this.images = new PastedImages({
      cwd,
      lookAtImage: (bytes) => muster.lookAtImage(bytes, conversation.id),
      insert: (text) => editor.insertTextAtCursor(text),
      hint,
    });
    this.commands = new OwnCommands({ cwd, transcript: ui.main, changed, hint });
    const { commands, images } = this;
    this.saying = new Saying({ muster, agent, commands, images, note });
    this.undo = new Undo({
      muster,
      conversation: () => ({
        id: conversation.id,
        isAtWork: conversation.isAtWork || this.saying.isGathering || isAtWork(ui),
      }),
      ask,
      hint,
      note,
      done: (words, isWhole) => this.showPutBack(words, isWhole),
    });
  }

  /** Nothing of what was taken back is in sight. */
  private showPutBack(words: string | null, isWhole: boolean): void {
    const { ui, editor, conversation, closeTask, open, changed } = this.parts;
    const { id } = conversation;
    closeTask();
    forgetTree(ui);
    emptyMain(ui);
    if (isWhole) conversation.continue(null);
    else if (id !== null) open(id);
    if (words !== null && editor.getText() === '') editor.setText(words);
    changed();
  }
}
