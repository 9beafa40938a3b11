import type { Question } from '../../protocol/question.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

interface QuestionKey {
  readonly callId: string;
  readonly digest: string;
}

/**
 * Returns the open question of a call: the recorded one with the same digest, also from before a crash, or else a new
 * one, which is recorded. A question in an imported log is asked anew, since it may show something else
 * than the call does.
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
  // The recorded form, in which secrets are redacted.
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
