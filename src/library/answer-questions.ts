import type { Session } from '../api/index.ts';
import { errorMessage, MusterError } from '../base/errors.ts';
import { createRefusal, type Question } from '../protocol/question.ts';
import type { AnswerQuestion } from './options.ts';

/**
 * Asks a function of the program each question of the tasks of a session, once. If the function throws or gives an answer that
 * does not fit the question, the answer is no, with the reason. Returns a function that ends this.
 */
export function answerQuestions(session: Session, answer: AnswerQuestion): () => void {
  const asked = new Map<string, AbortController>();
  const ask = async (question: Question, signal: AbortSignal): Promise<void> => {
    try {
      const given = await answer(question, { signal });
      const request = typeof given === 'string' ? { text: given } : given;
      // The task may have been stopped, or a rule may have answered, while the program thought about it.
      if (!signal.aborted) session.answer({ ...request, question: question.id });
    } catch (thrown) {
      if (!signal.aborted) refuse(session, question, errorMessage(thrown));
    }
  };
  const look = (): void => {
    const open = session.questions().map(({ question }) => question);
    for (const [id, controller] of asked) {
      if (open.some((question) => question.id === id)) continue;
      controller.abort();
      asked.delete(id);
    }
    for (const question of open) {
      if (asked.has(question.id)) continue;
      const controller = new AbortController();
      asked.set(question.id, controller);
      void ask(question, controller.signal);
    }
  };
  const stopWatching = session.watchQuestions(look);
  return () => {
    stopWatching();
    for (const controller of asked.values()) controller.abort();
  };
}

/** Answers a question with no, because the program has no answer that can be used. */
function refuse(session: Session, question: Question, problem: string): void {
  const reason = `the program gave no answer: ${problem}`;
  try {
    session.answer({ question: question.id, ...createRefusal(question, reason) });
  } catch (thrown) {
    // Somebody else has answered in the meantime.
    if (!(thrown instanceof MusterError)) throw thrown;
  }
}
