import { areSimilar, questionSubject, type InputQuestion } from '../../../protocol/question.ts';
import type { AppState } from './app-state.ts';
import type { PendingQuestion } from './task-tree.ts';

/**
 * Returns the question that the message in the editor answers when it is sent: the model asked for a text, and the user
 * has seen its question before typing. Returns undefined if the text is a message.
 */
export function questionAnsweredByText(state: AppState): PendingQuestion | undefined {
  const question = directQuestion(state);
  return question?.kind === 'input' && question.id === state.typedUnder ? question : undefined;
}

/**
 * Returns the question whose answers the arrow keys choose from without the focus: the model offers answers, all of the
 * question is in view, and nothing is typed. Returns undefined if there is none.
 */
export function questionWithChoices(state: AppState): PendingQuestion | undefined {
  const question = directQuestion(state);
  const { typed, shownQuestion } = state;
  const isInView = shownQuestion?.id === question?.id && shownQuestion?.isDirect === true;
  if (!hasOptions(question) || typed !== '' || !isInView) return undefined;
  return question;
}

/** Whether the model offers answers to a question. */
export function hasOptions(question: PendingQuestion | undefined): question is InputQuestion {
  return question?.kind === 'input' && question.options.length > 0;
}

/** Lists the waiting questions that one answer may answer together with a question, this question first. */
export function similarQuestions(
  { tree }: Pick<AppState, 'tree'>,
  question: PendingQuestion,
): readonly PendingQuestion[] {
  if (question.kind === 'confirm') return [question];
  const others = [...tree.questions.values()].filter(
    (each) => each.id !== question.id && each.kind !== 'confirm' && areSimilar(question, each),
  );
  return [question, ...others];
}

/**
 * Returns the question that answer keys may answer while the editor has the focus: the user writes a message, and all
 * waiting questions are similar, so that there is only one thing to answer. Returns undefined if there is none.
 */
export function directQuestion(state: AppState): PendingQuestion | undefined {
  const { tree, focus, writing } = state;
  const [question] = tree.questions.values();
  if (question === undefined || question.kind === 'confirm') return undefined;
  if (focus !== 'editor' || writing.kind !== 'message') return undefined;
  const isOnly = similarQuestions(state, question).length === tree.questions.size;
  return isOnly ? question : undefined;
}

/** Whether similar questions are about something that the box of this question alone does not show. */
export function hasUnseenText(
  question: PendingQuestion,
  similar: readonly PendingQuestion[],
): boolean {
  if (question.kind === 'confirm') return true;
  const subject = questionSubject(question);
  return similar.some(
    (each) =>
      each.kind !== 'permission' || each.edits.length > 0 || questionSubject(each) !== subject,
  );
}
