import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, MusterError, type ErrorInfo } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { questionJson } from '../../engine/questions/question-json.ts';
import { parseAnswer, type AnswerRequest } from '../../engine/questions/parse-answer.ts';
import { answerText } from '../../protocol/state/questions.ts';
import { isMeantBy, type Question } from '../../protocol/question.ts';
import type { QuestionJson } from '../../protocol/result.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { askProcess, replyText, ancestorsOf, type TaskDirectory } from './ask-process.ts';
import type { SentMessage } from './send-message.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * The most tries, for 5 s, while a process that has taken a task, or leaves it, does not ask yet.
 */
const TRIES = 100;
const LOOK_MS = 50;

/** An open question of a task in any process. */
export interface AskedQuestion {
  readonly question: Question;
  readonly json: QuestionJson;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** The process that waits for the answer, or null if an answer continues the tree. */
  readonly pid: number | null;
}

/** Lists the open questions of all trees, the oldest first. */
export function listQuestions({ store }: TaskDirectory, onNotice: (line: string) => void) {
  const asking = store.list().filter(({ questions }) => questions !== undefined);
  return asking
    .flatMap(({ id }) => {
      try {
        return questionsOf(store, foldLog(store, id));
      } catch (thrown) {
        // One log that can't be read must not hide what the others ask.
        onNotice(`task ${id}: ${errorMessage(thrown)}`);
        return [];
      }
    })
    .toSorted((a, b) => a.askedAt - b.askedAt);
}

function questionsOf(store: TaskStore, state: TaskState): readonly AskedQuestion[] {
  const pid = store.getOwner(state.spec.id)?.pid ?? null;
  // What came with a file may show anything; it is asked anew when its task goes on here.
  const importedUpTo = store.importedUpTo(state.spec.id) ?? -1;
  return [...state.questions.values()].flatMap(({ question, answer, askedAt, seq }) =>
    answer === null && seq > importedUpTo
      ? [{ question, json: questionJson(question), askedAt, pid }]
      : [],
  );
}

/**
 * Returns the open question that an id, or a unique beginning of one, means. Throws MusterError: `NOT_FOUND`, with
 * the open ones; `CONFLICT` for a settled one, with its outcome; `INVALID_PARAM`.
 */
export function findQuestion(
  place: TaskDirectory,
  prefix: string,
  onNotice: (line: string) => void,
): AskedQuestion {
  if (prefix === '') throw new MusterError('INVALID_PARAM', 'a question id is empty');
  const all = listQuestions(place, onNotice);
  const whole = all.find(({ question }) => question.id === prefix);
  const found = all.filter(({ question }) => isMeantBy(question, prefix));
  const one = whole ?? (found.length === 1 ? found[0] : undefined);
  if (one !== undefined) return one;
  if (found.length > 1) {
    throw new MusterError('INVALID_PARAM', `${prefix} means several questions: ${named(found)}`);
  }
  const settled = settledAs(place.store, prefix);
  if (settled !== null) throw new MusterError('CONFLICT', `question ${prefix} is ${settled}`);
  const open = all.length === 0 ? 'no question is open' : `open are ${named(all)}`;
  throw new MusterError('NOT_FOUND', `there is no open question ${prefix}; ${open}`);
}

const MOST_NAMED = 5;

function named(questions: readonly AskedQuestion[]): string {
  const ids = questions.slice(0, MOST_NAMED).map(({ question }) => question.id);
  return questions.length > MOST_NAMED ? `${ids.join(', ')}, …` : ids.join(', ');
}

const QUESTION_ID = /^([a-z0-9]+)q\d+$/;

/** Returns the outcome of a settled question, or null if its full id is not known. */
function settledAs(store: TaskStore, id: string): string | null {
  const task = QUESTION_ID.exec(id)?.[1];
  if (task === undefined || !isId(task) || !store.exists(task)) return null;
  const { questions, settledQuestions } = foldLog(store, task);
  for (const { question, answer } of questions.values()) {
    if (question.id === id && answer !== null) return answerText(answer.answer, answer.by);
  }
  return settledQuestions.get(id) ?? null;
}

/**
 * The outcome of an answer: it was passed to the process that owns the task, or names the task that must continue
 * with it.
 */
export type AnswerOutcome =
  | { readonly kind: 'told'; readonly told: SentMessage }
  | { readonly kind: 'left'; readonly question: Question; readonly top: string };

/**
 * Answers a question in the process that owns its task. If none does, returns the task that must continue with the
 * answer: the topmost ancestor without an end. Throws MusterError as `findQuestion` does, and `INVALID_PARAM` for an
 * answer that does not fit.
 */
export async function answerTaskQuestion(
  place: TaskDirectory,
  prefix: string,
  wish: AnswerRequest,
  onNotice: (line: string) => void,
): Promise<AnswerOutcome> {
  // A beginning could mean another question the next time, and the answer is for this one.
  const { id } = findQuestion(place, prefix, onNotice).question;
  for (let tries = 1; ; tries += 1) {
    const { question } = findQuestion(place, id, onNotice);
    parseAnswer(question, wish);
    const { task } = question;
    const owner = place.store.getOwner(task);
    if (owner === null) return { kind: 'left', question, top: topOf(place.store, task) };
    const { text: answer, ...rest } = wish;
    const request = { op: 'answer', task, question: question.id, answer, ...rest } as const;
    const reply = await askProcess(place, owner, request);
    if (reply.ok || !mayPass(reply.error) || tries === TRIES) {
      return { kind: 'told', told: { id: task, pid: owner.pid, text: replyText(reply) } };
    }
    await sleep(LOOK_MS);
  }
}

/** Returns whether an error may pass, because the process is about to ask or to leave. */
function mayPass({ code, retryable }: ErrorInfo): boolean {
  return retryable || code === 'NOT_FOUND' || code === 'CANCELLED';
}

function topOf(store: TaskStore, id: string): string {
  let top = id;
  for (const above of ancestorsOf(store, id)) {
    if (foldLog(store, above).end !== null) break;
    top = above;
  }
  return top;
}
