import { MusterError } from '../../base/errors.ts';
import type { Question } from '../../protocol/question.ts';
import { isWaiting, type Inbox } from '../task/inbox.ts';
import { readAnswer, type AnswerRequest } from './read-answer.ts';
import { recordAnswer } from './record-answer.ts';

/**
 * Answers a question that waits in this process, named by its id or by the unique beginning of its id.
 * Throws MusterError: `NOT_FOUND` when it does not wait here, `CONFLICT` when it is answered already,
 * `INVALID_PARAM` when the text is no answer to it.
 */
export function answerQuestion(inbox: Inbox, prefix: string, wish: AnswerRequest): Question {
  const waiting = inbox.find(prefix);
  const { asker, question } = waiting;
  const answer = readAnswer(question, wish);
  if (!isWaiting(waiting)) {
    throw new MusterError('CONFLICT', `question ${question.id} is answered already`);
  }
  recordAnswer(asker, { question, answer, kept: inbox });
  // The answer may have added a rule that settles other questions, or have been the denial that ends the task.
  inbox.reconsider();
  return question;
}
