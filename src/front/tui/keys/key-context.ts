import type { Look } from '../look.ts';
import type { UiState } from '../view/ui-state.ts';
import type { KeyContext } from './key-action.ts';

/** What of all that there is decides what a key does. */
export function keyContext(
  { ui, look }: { readonly ui: UiState; readonly look: Look },
  editor: { getText(): string; isShowingAutocomplete(): boolean },
): KeyContext {
  const shown = look.openTask ?? ui.root;
  return {
    focus: look.writing.kind === 'search' ? 'search' : look.focus,
    isEditorEmpty: editor.getText() === '',
    isCompleting: editor.isShowingAutocomplete(),
    isAnswering: look.writing.kind !== 'message',
    isTaskOpen: look.openTask !== null,
    isAtWork: shown !== null && ui.rows.get(shown)?.endedAt === null,
    hasQuestion: ui.questions.size > 0,
  };
}
