import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  RELATED_TASK_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { AnswerRequest, Session } from '../../api/index.ts';
import { isJsonObject } from '../../base/json.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { createRefusal, type Question } from '../../protocol/question.ts';
import { createQuestionForm, readFormAnswer } from '../../report/question-form.ts';
import type { ServedTasks } from './served-tasks.ts';

const CANNOT_ASK =
  'nobody can be asked, because the client of the MCP server shows no forms. The user can allow such calls with the permission rules or the mode of the server';

/** The time in which a client of an earlier revision must answer a question, so that no timer grows without bound. */
const QUESTION_MS = 24 * 60 * 60 * 1000;
const MAX_SHOWN_ERROR = 200;

type AskingSession = Pick<Session, 'answer' | 'questions' | 'watchQuestions'>;

/** Checks whether the capabilities that a client declares include forms. An empty declaration means forms. */
export function canShowForms(capabilities: unknown): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined;
  if (!isJsonObject(elicitation)) return false;
  return elicitation['form'] !== undefined || elicitation['url'] === undefined;
}

/**
 * Has a client ask its user the questions of its tasks. If the client that has sent the newest request about a task shows no
 * forms, its questions are refused at once, so that no task waits in vain.
 */
export class QuestionAsker {
  readonly #session: AskingSession;
  readonly #tasks: ServedTasks;
  readonly #stopWatching: () => void;
  /** The ids of the tasks whose questions can be asked. */
  readonly #askable = new Set<string>();

  constructor(session: AskingSession, tasks: ServedTasks) {
    this.#session = session;
    this.#tasks = tasks;
    this.#stopWatching = session.watchQuestions(() => this.#refuseUnaskable());
  }

  /**
   * Reads from a request about a task whether its client can ask, and the answers that the request brings.
   *
   * Throws MusterError if the client has not started the task.
   *
   * @param declared what the client has said of itself when it connected; undefined if clients say it with each request
   */
  use(id: string, { mcpReq }: ServerContext, declared: ClientCapabilities | undefined): void {
    this.#tasks.get(id);
    // Clients of the newest revision declare this with each request, others when they connect.
    const envelope: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
    if (canShowForms(envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? declared)) this.#askable.add(id);
    else this.#askable.delete(id);
    this.takeResponses(id, mcpReq.inputResponses);
    this.#refuseUnaskable();
  }

  /** Answers the open questions of a task with the responses of the user to their forms. */
  takeResponses(id: string, responses: ServerContext['mcpReq']['inputResponses']): void {
    for (const { task, question } of this.#tasks.openQuestions()) {
      if (task !== id) continue;
      const response = inputResponse(responses, question.id);
      if (response.kind === 'elicit') this.#answer(question, readFormAnswer(question, response));
    }
  }

  /**
   * Asks a question of a task. Resolves to the request to the client that asks it, after whose answer the client repeats
   * its own request. Resolves to null if the question is settled, or if the request was cancelled meanwhile.
   */
  async ask(
    id: string,
    question: Question,
    context: ServerContext,
  ): Promise<InputRequiredResult | null> {
    this.#refuseUnaskable();
    if (!this.#askable.has(id)) return null;
    if (context.mcpReq.envelope === undefined) {
      await this.#askAtOnce(id, question, context);
      return null;
    }
    return inputRequired({ inputRequests: this.createRequests(question), requestState: id });
  }

  /** Creates the form for a question under its id, as the newest revision passes it to clients. */
  createRequests(question: Question): NonNullable<InputRequiredResult['inputRequests']> {
    return { [question.id]: inputRequired.elicit(createQuestionForm(question)) };
  }

  close(): void {
    this.#stopWatching();
  }

  /** Asks a client of an earlier revision, which answers while its own request waits. */
  async #askAtOnce(id: string, question: Question, { mcpReq }: ServerContext): Promise<void> {
    const settled = new AbortController();
    const stopWatching = this.#session.watchQuestions(() => {
      if (!this.#isOpen(question)) settled.abort();
    });
    const signal = AbortSignal.any([mcpReq.signal, settled.signal]);
    // A client that waits for the result of a task of the protocol learns which task asks.
    const meta =
      mcpReq.method === 'tasks/result'
        ? { _meta: { [RELATED_TASK_META_KEY]: { taskId: id } } }
        : {};
    const params = { ...createQuestionForm(question), ...meta };
    try {
      const request = { method: 'elicitation/create' as const, params };
      const response = await mcpReq.send(request, { signal, timeout: QUESTION_MS });
      this.#answer(question, readFormAnswer(question, response));
    } catch (thrown) {
      // The request was cancelled, or the question was settled elsewhere.
      if (signal.aborted) return;
      const reason = truncate(collapseWhitespace(errorMessage(thrown)), MAX_SHOWN_ERROR);
      this.#answer(question, createRefusal(question, `the client could not ask: ${reason}`));
    } finally {
      stopWatching();
    }
  }

  #isOpen({ id }: Question): boolean {
    return this.#session.questions().some(({ question }) => question.id === id);
  }

  #refuseUnaskable(): void {
    for (const { task, question } of this.#tasks.openQuestions()) {
      if (!this.#askable.has(task)) this.#answer(question, createRefusal(question, CANNOT_ASK));
    }
  }

  #answer(question: Question, answer: AnswerRequest): void {
    try {
      this.#session.answer({ question: question.id, ...answer });
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      // The answer does not fit, or the question was answered elsewhere meanwhile.
      this.#refuseUnfit(question, errorMessage(thrown));
    }
  }

  #refuseUnfit(question: Question, problem: string): void {
    if (!this.#isOpen(question)) return;
    const refusal = createRefusal(question, `the answer could not be used: ${problem}`);
    this.#session.answer({ question: question.id, ...refusal });
  }
}
