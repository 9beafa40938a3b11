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
import { askProcess, getReplyText, listAncestors, type TaskDirectory } from './ask-process.ts';
import type { SentMessage } from './send-message.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

const ANSWER_TIMEOUT_MS = 10_000;
/**
 * The maximum number of attempts to send an answer to a process. A process that is just starting or ending owns its
 * task but does not know the question, so the answer is sent again, for 5 s in total.
 */
const MAX_ATTEMPTS = 100;
const RETRY_DELAY_MS = 50;

/** An open question of a task in any process. */
export interface AskedQuestion {
  readonly question: Question;
  readonly json: QuestionJson;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** The process that owns the task; null if no process owns it, so that an answer resumes the tree. */
  readonly pid: number | null;
}

/** Lists the open questions of all trees, the oldest first. */
export function listQuestions({ store }: TaskDirectory, onNotice: (line: string) => void) {
  const tasksWithQuestions = store.list().filter(({ questions }) => questions !== undefined);
  return tasksWithQuestions
    .flatMap(({ id }) => {
      try {
        return listOpenQuestions(store, foldLog(store, id));
      } catch (thrown) {
        // A log that can't be read must not hide the questions of the other trees.
        onNotice(`task ${id}: ${errorMessage(thrown)}`);
        return [];
      }
    })
    .toSorted((a, b) => a.askedAt - b.askedAt);
}

/** Returns the open questions of a task that were asked on this machine, unless a rewind has removed the task. */
function listOpenQuestions(store: TaskStore, state: TaskState): readonly AskedQuestion[] {
  if (wasRemovedByRewind(store, state.spec)) return [];
  const pid = store.getOwner(state.spec.id)?.pid ?? null;
  // Imported questions are not trusted. A task asks its question again when it is resumed on this machine.
  const importedUpTo = store.importedUpTo(state.spec.id) ?? -1;
  return [...state.questions.values()].flatMap(({ question, answer, askedAt, seq }) =>
    // A server that asked cannot wait longer than its process.
    answer === null && seq > importedUpTo && (question.kind !== 'server' || pid !== null)
      ? [{ question, json: questionJson(question), askedAt, pid }]
      : [],
  );
}

/**
 * Returns the open question with this id, or with a unique prefix of an id. Throws MusterError: `NOT_FOUND`, with the
 * ids of the open questions, if no question matches; `CONFLICT`, with the outcome, if the question is settled;
 * `INVALID_PARAM` if the prefix is empty or matches several questions.
 */
export function findQuestion(
  directory: TaskDirectory,
  prefix: string,
  onNotice: (line: string) => void,
): AskedQuestion {
  if (prefix === '')
    throw new MusterError(
      'INVALID_PARAM',
      'the question id is empty: give the id of an open question',
    );
  const all = listQuestions(directory, onNotice);
  const exactMatch = all.find(({ question }) => question.id === prefix);
  const matches = all.filter(({ question }) => isMeantBy(question, prefix));
  const match = exactMatch ?? (matches.length === 1 ? matches[0] : undefined);
  if (match !== undefined) return match;
  if (matches.length > 1) {
    throw new MusterError(
      'INVALID_PARAM',
      `${prefix} matches several questions: ${listIds(matches)}`,
    );
  }
  const outcome = findSettledOutcome(directory.store, prefix);
  if (outcome !== null) throw new MusterError('CONFLICT', `question ${prefix} is ${outcome}`);
  const open = all.length === 0 ? 'no question is open' : `the open questions are ${listIds(all)}`;
  throw new MusterError('NOT_FOUND', `there is no open question ${prefix}; ${open}`);
}

/**
 * Returns true if a rewind of a task above has cut off the event that created the task or an ancestor of it. Its questions
 * concern work that the user has taken back, so an answer must not continue it.
 */
function wasRemovedByRewind(store: TaskStore, { id, parent }: TaskState['spec']): boolean {
  let child = id;
  for (const ancestor of parent === null ? [] : listAncestors(store, id)) {
    const isKnown = foldLog(store, ancestor).children.has(child);
    if (!isKnown && hasStarted(store, ancestor, child)) return true;
    child = ancestor;
  }
  return false;
}

/** Returns true if the log of a task says anywhere that the task has started a child. */
function hasStarted(store: TaskStore, task: string, child: string): boolean {
  let isFound = false;
  store.scan(task, (event) => {
    isFound ||=
      (event.type === 'child.created' || event.type === 'child.resumed') && event.child === child;
  });
  return isFound;
}

const MAX_LISTED_IDS = 5;

/** Returns the ids of the first questions, for a message. */
function listIds(questions: readonly AskedQuestion[]): string {
  const ids = questions.slice(0, MAX_LISTED_IDS).map(({ question }) => question.id);
  return questions.length > MAX_LISTED_IDS ? `${ids.join(', ')}, …` : ids.join(', ');
}

const QUESTION_ID = /^([a-z0-9]+)q\d+$/;

/** Returns the outcome of a settled question, or null if no settled question has this full id. */
function findSettledOutcome(store: TaskStore, id: string): string | null {
  const task = QUESTION_ID.exec(id)?.[1];
  if (task === undefined || !isId(task) || !store.exists(task)) return null;
  const state = foldLog(store, task);
  const { questions, closedQuestions } = state;
  if (wasRemovedByRewind(store, state.spec)) return 'withdrawn: a rewind has removed its task';
  for (const { question, answer } of questions.values()) {
    if (question.id !== id) continue;
    if (answer !== null) return answerText(answer.answer, answer.by);
    if (question.kind === 'server' && store.getOwner(task) === null) {
      return 'withdrawn: the process in which its server was waiting has ended';
    }
  }
  return closedQuestions.get(id) ?? null;
}

/**
 * The outcome of an answer. `told`: the answer was sent to the process that owns the task, and `told` is its reply.
 * `left`: no process owns the task, so the caller must resume the task `top` with the answer.
 */
export type AnswerOutcome =
  | { readonly kind: 'told'; readonly told: SentMessage }
  | { readonly kind: 'left'; readonly question: Question; readonly top: string };

/**
 * Answers a question in the process that owns its task. If no process owns the task, returns the task to resume with
 * the answer, which is the task itself or an unfinished ancestor. Throws MusterError: as `findQuestion` does;
 * `INVALID_PARAM` for an answer that does not fit the question; and the error of the owning process if it refuses the
 * answer or does not reply.
 */
export async function answerTaskQuestion(
  directory: TaskDirectory,
  prefix: string,
  answerRequest: AnswerRequest,
  onNotice: (line: string) => void,
): Promise<AnswerOutcome> {
  // Use the full id from here on: a prefix could match another question at the next attempt.
  const { id } = findQuestion(directory, prefix, onNotice).question;
  for (let attempt = 1; ; attempt += 1) {
    const { question } = findQuestion(directory, id, onNotice);
    parseAnswer(question, answerRequest);
    const { task } = question;
    const owner = directory.store.getOwner(task);
    if (owner === null)
      return { kind: 'left', question, top: findTaskToResume(directory.store, task) };
    const isStillOwner = () => directory.store.getOwner(task)?.token === owner.token;
    const { text: answer, ...rest } = answerRequest;
    const request = { op: 'answer', task, question: question.id, answer, ...rest } as const;
    const reply = await askProcess(directory, owner, request, {
      timeoutMs: ANSWER_TIMEOUT_MS,
      isStillOwner,
    });
    if (reply.ok || !isTransient(reply.error) || attempt === MAX_ATTEMPTS) {
      return { kind: 'told', told: { id: task, pid: owner.pid, text: getReplyText(reply) } };
    }
    await sleep(RETRY_DELAY_MS);
  }
}

/** Checks whether the next attempt may succeed, because the process is just starting or ending. */
function isTransient({ code, retryable }: ErrorInfo): boolean {
  return retryable || code === 'NOT_FOUND' || code === 'CANCELLED';
}

/**
 * Goes up from a task as long as its ancestors have not ended. Returns the last of these ancestors, or the task itself.
 */
function findTaskToResume(store: TaskStore, id: string): string {
  let top = id;
  for (const ancestor of listAncestors(store, id)) {
    if (foldLog(store, ancestor).end !== null) break;
    top = ancestor;
  }
  return top;
}
