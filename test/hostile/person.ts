import type { Session } from '../../src/api/index.ts';
import { questionSubject } from '../../src/protocol/question.ts';

/** How a person answers every question. */
export type Person = 'allow' | 'deny' | 'always';

const WORDS = { allow: 'yes', deny: 'no', always: 'always' } as const;

/** What a person was shown of a question. */
export interface Asked {
  readonly chain: string;
  readonly subject: string;
}

/** Answers whatever is asked from now on, and gives the growing list of it. */
export function answerAll(muster: Session, person: Person): readonly Asked[] {
  const asked: Asked[] = [];
  const answered = new Set<string>();
  muster.watchQuestions(() => {
    for (const { question } of muster.questions()) {
      if (answered.has(question.id)) continue;
      answered.add(question.id);
      asked.push({ chain: question.chain.join(' > '), subject: questionSubject(question) });
      const scope = person === 'always' ? { scope: 'task' } : {};
      // Not in the midst of the change that it hears of.
      queueMicrotask(() => muster.answer({ question: question.id, text: WORDS[person], ...scope }));
    }
  });
  return asked;
}
