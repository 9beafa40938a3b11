import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, MusterError, type ErrorInfo } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { questionJson } from '../../engine/questions/question-json.ts';
import { readAnswer, type AnswerRequest } from '../../engine/questions/read-answer.ts';
import { answerText } from '../../protocol/state/questions.ts';
import { isMeantBy, type Question } from '../../protocol/question.ts';
import type { QuestionJson } from '../../protocol/result.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { askProcess, replyText, tasksAbove, type TaskPlace } from './tasks-process.ts';
import type { SentMessage } from './tasks-send.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

const ANSWER_MS = 10_000;
/** How often is looked whether a process that has taken a task, or leaves it, asks by now: 5 s. */
const TRIES = 100;
const LOOK_MS = 50;

/** A question without an answer, wherever its task lives. */
export interface AskedQuestion {
  readonly question: Question;
  readonly json: QuestionJson;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Of the process that waits for the answer; null: an answer makes its tree go on. */
  readonly pid: number | null;
}

/** The open questions of all trees, the oldest first. */
export function allQuestions({ store }: TaskPlace, onNotice: (line: string) => void) {
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
  const pid = store.owner(state.spec.id)?.pid ?? null;
  // What came with a file may show anything; it is asked anew when its task goes on here.
  const importedUpTo = store.importedUpTo(state.spec.id) ?? -1;
  return [...state.questions.values()].flatMap(({ question, answer, askedAt, seq }) =>
    answer === null && seq > importedUpTo
      ? [{ question, json: questionJson(question), askedAt, pid }]
      : [],
  );
}

/**
 * The open question that an id, or a unique beginning of one, means. Throws MusterError: `NOT_FOUND`,
 * naming those that are open; `CONFLICT` for one that is settled, saying how; `INVALID_PARAM`.
 */
export function findQuestion(
  place: TaskPlace,
  prefix: string,
  onNotice: (line: string) => void,
): AskedQuestion {
  if (prefix === '') throw new MusterError('INVALID_PARAM', 'a question id is empty');
  const all = allQuestions(place, onNotice);
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

/** What became of a question that is not open; null: its whole id is not known. */
function settledAs(store: TaskStore, id: string): string | null {
  const task = QUESTION_ID.exec(id)?.[1];
  if (task === undefined || !isId(task) || !store.exists(task)) return null;
  const { questions, settledQuestions } = foldLog(store, task);
  for (const { question, answer } of questions.values()) {
    if (question.id === id && answer !== null) return answerText(answer.answer, answer.by);
  }
  return settledQuestions.get(id) ?? null;
}

/** What became of an answer: told to the process that has the task, or the task that is to go on with it. */
export type Answered =
  | { readonly kind: 'told'; readonly told: SentMessage }
  | { readonly kind: 'left'; readonly question: Question; readonly top: string };

/**
 * Answers a question in the process that has its task. Where none has, says which task is to go on with
 * the answer: the topmost above it that has no end. Throws MusterError as `findQuestion` does, and
 * `INVALID_PARAM` for no answer to it.
 */
export async function answerTaskQuestion(
  place: TaskPlace,
  prefix: string,
  wish: AnswerRequest,
  onNotice: (line: string) => void,
): Promise<Answered> {
  // A beginning could mean another question the next time, and the answer is for this one.
  const { id } = findQuestion(place, prefix, onNotice).question;
  for (let tries = 1; ; tries += 1) {
    const { question } = findQuestion(place, id, onNotice);
    readAnswer(question, wish);
    const { task } = question;
    const owner = place.store.owner(task);
    if (owner === null) return { kind: 'left', question, top: topOf(place.store, task) };
    const isThere = () => place.store.owner(task)?.token === owner.token;
    const { text: answer, ...rest } = wish;
    const request = { op: 'answer', task, question: question.id, answer, ...rest } as const;
    const reply = await askProcess(place, owner, request, { timeoutMs: ANSWER_MS, isThere });
    if (reply.ok || !mayPass(reply.error) || tries === TRIES) {
      return { kind: 'told', told: { id: task, pid: owner.pid, text: replyText(reply) } };
    }
    await sleep(LOOK_MS);
  }
}

/** It is about to ask, or to leave. */
function mayPass({ code, retryable }: ErrorInfo): boolean {
  return retryable || code === 'NOT_FOUND' || code === 'CANCELLED';
}

function topOf(store: TaskStore, id: string): string {
  let top = id;
  for (const above of tasksAbove(store, id)) {
    if (foldLog(store, above).end !== null) break;
    top = above;
  }
  return top;
}
