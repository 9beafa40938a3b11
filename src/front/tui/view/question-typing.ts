import type { AppState } from '../model/app-state.ts';
import type { Bindings } from '../model/key-bindings.ts';
import { keyHint, keysOf } from '../model/key-names.ts';
import { questionAnsweredByText } from '../model/similar-questions.ts';
import type { PendingQuestion } from '../model/task-tree.ts';

/**
 * The purpose of the text in the editor while a question is shown; `nothing` if the editor is empty. `direct-answer`: the
 * text was begun as a message, and answers the question.
 */
export type TypingFor = 'nothing' | 'message' | 'direct-answer' | 'reason' | 'answer' | 'plan';

/** Returns the purpose of the text in the editor for a question. */
export function typingFor(state: AppState, question: PendingQuestion): TypingFor {
  const { kind } = state.writing;
  if (kind === 'reason' || kind === 'answer' || kind === 'plan') {
    return state.question === question.id ? kind : 'message';
  }
  if (state.typed === '') return 'nothing';
  return questionAnsweredByText(state) === question ? 'direct-answer' : 'message';
}

/** Says how a question without the focus is answered: with a key, or with the text in the editor. */
export function typedHint(typing: TypingFor, bindings: Bindings): readonly string[] {
  if (typing === 'nothing') return keyHint(bindings, 'focus-question', 'to answer');
  if (typing === 'message') return ['to answer, first send or clear what you have typed'];
  const [send = ''] = keysOf(bindings, 'send');
  if (typing === 'direct-answer') return [`your answer, below: ${send} sends it`];
  return [`${TYPED_HINTS[typing]}: ${send} sends it`, ...keyHint(bindings, 'interrupt', 'back')];
}

const TYPED_HINTS = {
  reason: 'your reason, below',
  answer: 'your answer, below',
  plan: 'the plan to approve, below',
} as const;
