import type { AgentContext } from '@agentclientprotocol/sdk/unstable';
import { methods } from '@agentclientprotocol/sdk/unstable';
import type { AnswerRequest, Session } from '../../api/index.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { createRefusal, type Question } from '../../protocol/question.ts';
import { createQuestionForm, readFormAnswer } from '../../report/question-form.ts';
import { createPermissionRequest, readChoice } from './permission-request.ts';

export interface ClientQuestionsOptions {
  readonly client: Pick<AgentContext, 'request'>;
  /** True if the client shows forms. */
  readonly hasForms: boolean;
  /** Returns the session in which the client shows a task, and the call that waits there. */
  readonly place: (question: Question) => {
    readonly sessionId: string;
    readonly toolCallId: string;
  };
  /** Resolves when the client knows the call that waits. */
  readonly whenUpdated: () => Promise<void>;
  /** Called when the user wants to answer in words: the turn ends, and the next message is the answer. */
  readonly onWords: (question: Question) => void;
}

/** A question that the client was asked. */
interface AskedQuestion {
  readonly question: Question;
  readonly cancellation: AbortController;
}

/** Has the client ask its user the open questions of a conversation. */
export class ClientQuestions {
  readonly #session: Pick<Session, 'answer' | 'questions' | 'watchQuestions'>;
  readonly #options: ClientQuestionsOptions;
  readonly #asked = new Map<string, AskedQuestion>();
  readonly #stopWatching: () => void;
  /** The question that the next message answers; null if there is none. */
  #wordsFor: Question | null = null;
  #isAsking = false;

  constructor(
    session: Pick<Session, 'answer' | 'questions' | 'watchQuestions'>,
    options: ClientQuestionsOptions,
  ) {
    this.#session = session;
    this.#options = options;
    this.#stopWatching = session.watchQuestions(() => this.#update());
  }

  /** Asks the open questions from now on. The protocol allows questions only while the client waits for a prompt. */
  begin(): void {
    this.#isAsking = true;
    this.#update();
  }

  /** Asks nothing more until `begin`. Questions that the client has not answered are asked again then. */
  pause(): void {
    this.#isAsking = false;
  }

  /** Ends the questions in the client, because the user has cancelled the turn. Those that stay open are asked again. */
  cancel(): void {
    this.#isAsking = false;
    for (const [id, { cancellation }] of this.#asked) {
      this.#asked.delete(id);
      cancellation.abort();
    }
  }

  /** Answers a question with a message of the user. Returns false if no question waits for one. */
  takeWords(words: string): boolean {
    const question = this.#wordsFor;
    this.#wordsFor = null;
    if (question === null || !this.#isOpen(question)) return false;
    this.#answer(question, toAnswerInWords(question, words));
    return true;
  }

  close(): void {
    this.#stopWatching();
    this.cancel();
  }

  #isOpen({ id }: Pick<Question, 'id'>): boolean {
    return this.#session.questions().some(({ question }) => question.id === id);
  }

  #update(): void {
    for (const [id, { cancellation }] of this.#asked) {
      if (this.#isOpen({ id })) continue;
      this.#asked.delete(id);
      cancellation.abort();
    }
    if (!this.#isAsking) return;
    for (const { question } of this.#session.questions()) {
      if (this.#asked.has(question.id) || this.#wordsFor?.id === question.id) continue;
      const asked = { question, cancellation: new AbortController() };
      this.#asked.set(question.id, asked);
      void this.#ask(asked);
    }
  }

  async #ask(asked: AskedQuestion): Promise<void> {
    const { question, cancellation } = asked;
    try {
      await this.#options.whenUpdated();
      if (cancellation.signal.aborted) return;
      if (!this.#isAsking) {
        // The turn has ended meanwhile.
        this.#asked.delete(question.id);
        return;
      }
      const answer = await this.#request(question, cancellation.signal);
      // A cancelled question was answered elsewhere, or is asked again with the next prompt.
      if (cancellation.signal.aborted) return;
      this.#asked.delete(question.id);
      if (answer !== 'words') {
        this.#answer(question, answer);
        return;
      }
      this.#wordsFor = question;
      this.#options.onWords(question);
    } catch (thrown) {
      if (cancellation.signal.aborted) return;
      this.#asked.delete(question.id);
      const reason = `the editor could not ask the user: ${errorMessage(thrown)}`;
      this.#answer(question, createRefusal(question, reason));
    }
  }

  /** Resolves to the answer, or to `words` if the user wants to write one. Rejects if the client cannot ask. */
  async #request(question: Question, signal: AbortSignal): Promise<AnswerRequest | 'words'> {
    const { client, hasForms } = this.#options;
    const needsForm =
      question.kind === 'input' || (question.kind === 'server' && question.fields.length > 0);
    if (needsForm && hasForms) return this.#requestForm(question, signal);
    if (question.kind === 'server' && question.fields.length > 0)
      return createRefusal(question, 'the editor shows no forms');
    if (question.kind === 'input' && question.options.length === 0) return 'words';
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      createPermissionRequest(question, this.#options.place(question)),
      { cancellationSignal: signal },
    );
    if (outcome.outcome === 'cancelled')
      return createRefusal(question, 'the user closed the question');
    const choice = readChoice(question, outcome.optionId);
    if (choice.kind === 'answer') return choice.answer;
    return hasForms && question.kind !== 'input' ? this.#requestWords(question, signal) : 'words';
  }

  async #requestForm(question: Question, signal: AbortSignal): Promise<AnswerRequest> {
    const { message, requestedSchema } = createQuestionForm(question);
    const response = await this.#options.client.request(
      methods.client.elicitation.create,
      { mode: 'form', ...this.#options.place(question), message, requestedSchema },
      { cancellationSignal: signal },
    );
    const action =
      response.action === 'accept' || response.action === 'decline' ? response.action : 'cancel';
    const content = 'content' in response ? response.content : undefined;
    return readFormAnswer(question, {
      action,
      ...(typeof content === 'object' && content !== null ? { content: { ...content } } : {}),
    });
  }

  async #requestWords(question: Question, signal: AbortSignal): Promise<AnswerRequest> {
    const response = await this.#options.client.request(
      methods.client.elicitation.create,
      {
        mode: 'form',
        ...this.#options.place(question),
        message: 'What should be done instead?',
        requestedSchema: {
          type: 'object',
          properties: { reason: { type: 'string', title: 'What to do instead' } },
          required: ['reason'],
        },
      },
      { cancellationSignal: signal },
    );
    const content = 'content' in response ? response.content : undefined;
    const reason: unknown =
      typeof content === 'object' && content !== null && 'reason' in content ? content.reason : '';
    return typeof reason === 'string' && reason.trim() !== ''
      ? toAnswerInWords(question, reason)
      : { text: 'no' };
  }

  #answer(question: Question, answer: AnswerRequest): void {
    try {
      this.#session.answer({ question: question.id, ...answer });
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      if (!this.#isOpen(question)) return;
      const reason = `the answer could not be used: ${errorMessage(thrown)}`;
      this.#session.answer({ question: question.id, ...createRefusal(question, reason) });
    }
  }
}

function toAnswerInWords({ kind }: Question, words: string): AnswerRequest {
  return kind === 'input' ? { text: words } : { text: 'no', reason: words };
}
