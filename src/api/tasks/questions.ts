import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, MusterError, type ErrorInfo } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { questionJson } from '../../engine/questions/question-json.ts';
import { parseAnswer, type AnswerRequest } from '../../engine/questions/record-answer.ts';
import { answerText } from '../../protocol/state/questions.ts';
import { isMeantBy, type Question } from '../../protocol/question.ts';
import type { QuestionJson } from '../../protocol/result.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { askProcess, replyText, ancestorsOf, type TaskDirectory } from './ask-process.ts';
import type { SentMessage } from './send-message.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

const ANSWER_TIMEOUT_MS = 10_000;
/**
 * The maximum number of attempts, about 5 s in all. A process that has just taken over a task, or is about to leave it,
 * does not have the question open, so that the answer is sent again.
 */
const MAX_ATTEMPTS = 100;
const RETRY_DELAY_MS = 50;

/** An open question of a task in any process. */
export interface AskedQuestion {
  readonly question: Question;
  readonly json: QuestionJson;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** The process that waits for the answer, or null if no process owns the task: then the answer resumes its tree. */
  readonly pid: number | null;
}

/** Lists the open questions of all trees, the oldest first. */
export function listQuestions({ store }: TaskDirectory, onNotice: (line: string) => void) {
  const asking = store.list().filter(({ questions }) => questions !== undefined);
  return asking
    .flatMap(({ id }) => {
      try {
        return listOpenQuestions(store, foldLog(store, id));
      } catch (thrown) {
        // One log that can't be read must not hide the questions of other tasks.
        onNotice(`task ${id}: ${errorMessage(thrown)}`);
        return [];
      }
    })
    .toSorted((a, b) => a.askedAt - b.askedAt);
}

function listOpenQuestions(store: TaskStore, state: TaskState): readonly AskedQuestion[] {
  const pid = store.getOwner(state.spec.id)?.pid ?? null;
  // Imported questions are not trusted. They are asked again when their task continues on this machine.
  const importedUpTo = store.importedUpTo(state.spec.id) ?? -1;
  return [...state.questions.values()].flatMap(({ question, answer, askedAt, seq }) =>
    answer === null && seq > importedUpTo
      ? [{ question, json: questionJson(question), askedAt, pid }]
      : [],
  );
}

/**
 * Returns the open question with this id, or with the only id that begins with `prefix`. Throws MusterError:
 * `NOT_FOUND`, which names the open questions; `CONFLICT` for a question that was answered or withdrawn, with the
 * outcome; `INVALID_PARAM` for an empty or ambiguous prefix.
 */
export function findQuestion(
  directory: TaskDirectory,
  prefix: string,
  onNotice: (line: string) => void,
): AskedQuestion {
  if (prefix === '') throw new MusterError('INVALID_PARAM', 'the question id is empty');
  const all = listQuestions(directory, onNotice);
  const exact = all.find(({ question }) => question.id === prefix);
  const matches = all.filter(({ question }) => isMeantBy(question, prefix));
  const match = exact ?? (matches.length === 1 ? matches[0] : undefined);
  if (match !== undefined) return match;
  if (matches.length > 1) {
    throw new MusterError(
      'INVALID_PARAM',
      `${prefix} matches several questions: ${formatIds(matches)}`,
    );
  }
  const settled = findSettledOutcome(directory.store, prefix);
  if (settled !== null) throw new MusterError('CONFLICT', `question ${prefix} is ${settled}`);
  const open = all.length === 0 ? 'no question is open' : `open questions: ${formatIds(all)}`;
  throw new MusterError('NOT_FOUND', `there is no open question ${prefix}; ${open}`);
}

const MAX_LISTED_IDS = 5;

function formatIds(questions: readonly AskedQuestion[]): string {
  const ids = questions.slice(0, MAX_LISTED_IDS).map(({ question }) => question.id);
  return questions.length > MAX_LISTED_IDS ? `${ids.join(', ')}, …` : ids.join(', ');
}

const QUESTION_ID = /^([a-z0-9]+)q\d+$/;

/** Returns the outcome of the settled question with this full id, or null if there is none. */
function findSettledOutcome(store: TaskStore, id: string): string | null {
  const task = QUESTION_ID.exec(id)?.[1];
  if (task === undefined || !isId(task) || !store.exists(task)) return null;
  const { questions, settledQuestions } = foldLog(store, task);
  for (const { question, answer } of questions.values()) {
    if (question.id === id && answer !== null) return answerText(answer.answer, answer.by);
  }
  return settledQuestions.get(id) ?? null;
}

/**
 * The outcome of an answer. `told`: it was passed to the process that owns the task. `left`: no process owns the task,
 * and the task `top` must be resumed with the answer.
 */
export type AnswerOutcome =
  | { readonly kind: 'told'; readonly told: SentMessage }
  | { readonly kind: 'left'; readonly question: Question; readonly top: string };

/**
 * Answers a question in the process that owns its task. If no process owns it, returns the task that must be resumed
 * with the answer: the highest ancestor that can be reached through tasks that have not ended. Throws MusterError as `findQuestion` does, and `INVALID_PARAM` for an
 * answer that does not fit.
 */
export async function answerTaskQuestion(
  directory: TaskDirectory,
  prefix: string,
  given: AnswerRequest,
  onNotice: (line: string) => void,
): Promise<AnswerOutcome> {
  // Later attempts use the full id: by then the beginning could match another question.
  const { id } = findQuestion(directory, prefix, onNotice).question;
  for (let attempt = 1; ; attempt += 1) {
    const { question } = findQuestion(directory, id, onNotice);
    parseAnswer(question, given);
    const { task } = question;
    const owner = directory.store.getOwner(task);
    if (owner === null)
      return { kind: 'left', question, top: findTaskToResume(directory.store, task) };
    const isStillOwner = () => directory.store.getOwner(task)?.token === owner.token;
    const { text: answer, ...rest } = given;
    const request = { op: 'answer', task, question: question.id, answer, ...rest } as const;
    const reply = await askProcess(directory, owner, request, {
      timeoutMs: ANSWER_TIMEOUT_MS,
      isThere: isStillOwner,
    });
    if (reply.ok || !isTransient(reply.error) || attempt === MAX_ATTEMPTS) {
      return { kind: 'told', told: { id: task, pid: owner.pid, text: replyText(reply) } };
    }
    await sleep(RETRY_DELAY_MS);
  }
}

/** Returns whether another attempt may succeed, because the process is about to ask or to leave. */
function isTransient({ code, retryable }: ErrorInfo): boolean {
  return retryable || code === 'NOT_FOUND' || code === 'CANCELLED';
}

/** Returns the highest ancestor of a task, or the task itself, that can be reached through tasks that have not ended. */
function findTaskToResume(store: TaskStore, id: string): string {
  let top = id;
  for (const above of ancestorsOf(store, id)) {
    if (foldLog(store, above).end !== null) break;
    top = above;
  }
  return top;
}
