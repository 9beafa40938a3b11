import type { PermissionQuestion } from '../../../protocol/question.ts';
import type { AppState } from '../model/app-state.ts';
import { proposedChange } from '../model/call-details.ts';
import type { UiMessage } from './message.ts';
import { next, type Update } from './step.ts';

/** Requests the file that the question on the screen would change, so that its edits get line numbers. */
export function readProposal(state: AppState): Update {
  const question = state.tree.questions.get(state.shownQuestion?.id ?? '');
  if (question?.kind !== 'permission' || question.id === state.proposal?.question) {
    return next(state);
  }
  const path = changedPath(question);
  if (path === null) return next(state);
  const proposal = { question: question.id, change: null };
  return next({ ...state, proposal }, { type: 'read-proposal', question: question.id, path });
}

/** Returns the path of the only file that a question would edit; null if there are several, or if a full file is written. */
function changedPath({ edits }: PermissionQuestion): string | null {
  const [first] = edits;
  const isOne = edits.every(({ path, before }) => path === first?.path && before !== null);
  return first === undefined || !isOne ? null : first.path;
}

/** Keeps the change that the edits of a question would make in the file that was read. */
export function receiveProposal(
  state: AppState,
  { question: id, content }: Extract<UiMessage, { type: 'proposal-read' }>,
): AppState {
  const question = state.tree.questions.get(id);
  if (question?.kind !== 'permission' || content === null) return state;
  return { ...state, proposal: { question: id, change: proposedChange(question.edits, content) } };
}
