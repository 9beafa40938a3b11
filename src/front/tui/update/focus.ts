import type { AppState } from '../model/app-state.ts';
import type { Confirmation, PendingQuestion } from '../model/pending-question.ts';
import { editTree } from './edit-tree.ts';
import { andThen, hint, next, setEditorText, type Update } from './effect.ts';

/** The question that has the focus or is being answered; undefined if it was settled elsewhere. */
export function focusedQuestion({ tree, question }: AppState): PendingQuestion | undefined {
  return question === null ? undefined : tree.questions.get(question);
}

/** Asks before the UI does something. The question gets the focus, unless the user is typing something else. */
export function askConfirmation(state: AppState, question: Confirmation): AppState {
  const asked = editTree(state, ({ questions }) => {
    questions.delete(question.id);
    questions.set(question.id, question);
  });
  const isFree = state.typed === '' && state.focus === 'editor' && state.writing.kind === 'message';
  if (!isFree) return asked;
  return { ...asked, focus: 'question', question: question.id, questionScroll: 0 };
}

/** Leaves the question for later. The message that was being typed returns to the editor. */
export function leaveQuestion(state: AppState): Update {
  const { writing } = state;
  const left: AppState = { ...state, focus: 'editor', question: null };
  if (writing.kind === 'message') return next(left);
  return setEditorText({ ...left, writing: { kind: 'message' }, search: null }, writing.draft);
}

/** A question that was settled elsewhere loses the focus. */
export function leaveSettledQuestion(state: AppState): Update {
  if (state.question === null || focusedQuestion(state) !== undefined) return next(state);
  return andThen(leaveQuestion(state), (left) => hint(left, 'this question is settled'));
}
