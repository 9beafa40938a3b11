import type { Question } from '../../protocol/question.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

interface QuestionKey {
  readonly callId: string;
  readonly digest: string;
}

/**
 * The question of a call as its log holds it: the one that waits there already for exactly this, also
 * from before a crash, or a new one, written down. What a log from elsewhere asks is asked anew: what is
 * shown there need not be what the call does.
 */
export function openQuestion(
  run: TaskRun,
  { callId, digest }: QuestionKey,
  make: (id: string) => Question,
): Question {
  const { state, journal, tree } = run;
  const known = state.questions.get(callId);
  const isOpen = known?.digest === digest && known.answer === null;
  if (isOpen && run.permissions.isTrusted(known.seq)) return known.question;
  const id = nextId(state);
  const parks = tree.onAsk === 'park';
  journal.record({ type: 'question.asked', question: make(id), digest, parks });
  // As it was written: secrets redacted.
  const asked = state.questions.get(callId);
  if (asked === undefined) throw new Error(`question ${id} is not in the state of its task`);
  return asked.question;
}

function nextId({ spec, questions, settledQuestions }: TaskState): string {
  const open = new Set([...questions.values()].map(({ question }) => question.id));
  for (let number = open.size + settledQuestions.size + 1; ; number += 1) {
    const id = `${spec.id}q${number}`;
    if (!open.has(id) && !settledQuestions.has(id)) return id;
  }
}
