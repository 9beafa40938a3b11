import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { AnswerRequest, Session } from '../../api/index.ts';
import { isJsonObject } from '../../base/json.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { createRefusal, type Question } from '../../protocol/question.ts';
import { createQuestionForm, readFormAnswer } from '../../report/question-form.ts';

const CANNOT_ASK =
  'nobody can be asked, because the client of the MCP server shows no forms. The user can allow such calls with the permission rules or the mode of the server';

/** Has the client ask its user the questions of tasks. If it cannot, they are refused at once, so that no task waits in vain. */
export class QuestionAsker {
  readonly #session: Pick<Session, 'answer' | 'questions' | 'watchQuestions'>;
  /** Returns what the client has said of itself when it connected; undefined if clients say it with each request. */
  readonly #readCapabilities: () => ClientCapabilities | undefined;
  readonly #stopWatching: () => void;
  #canAsk = false;

  constructor(
    session: Pick<Session, 'answer' | 'questions' | 'watchQuestions'>,
    readCapabilities: () => ClientCapabilities | undefined,
  ) {
    this.#session = session;
    this.#readCapabilities = readCapabilities;
    this.#stopWatching = session.watchQuestions(() => this.#refuseAll());
  }

  /** Reads from a request whether the client can ask, and the answers that it brings. */
  use({ mcpReq }: ServerContext): void {
    // Clients of the newest revision declare this with each request, others when they connect.
    const envelope: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? this.#readCapabilities();
    this.#canAsk = isJsonObject(declared) && declared['elicitation'] !== undefined;
    for (const { question } of this.#session.questions()) {
      const response = inputResponse(mcpReq.inputResponses, question.id);
      if (response.kind === 'elicit') this.#answer(question, readFormAnswer(question, response));
    }
    this.#refuseAll();
  }

  /** Returns the request to the client that asks a question of a task; null if it was refused. */
  ask(question: Question, task: string): InputRequiredResult | null {
    this.#refuseAll();
    if (!this.#canAsk) return null;
    const form = inputRequired.elicit(createQuestionForm(question));
    return inputRequired({ inputRequests: { [question.id]: form }, requestState: task });
  }

  close(): void {
    this.#stopWatching();
  }

  #refuseAll(): void {
    if (this.#canAsk) return;
    for (const { question } of this.#session.questions())
      this.#answer(question, createRefusal(question, CANNOT_ASK));
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

  #refuseUnfit({ id }: Question, problem: string): void {
    const open = this.#session.questions().find(({ question }) => question.id === id);
    if (open === undefined) return;
    const refusal = createRefusal(open.question, `the answer could not be used: ${problem}`);
    this.#session.answer({ question: id, ...refusal });
  }
}
