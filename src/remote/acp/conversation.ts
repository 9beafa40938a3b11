import type { ContentBlock } from '@agentclientprotocol/sdk';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { onAbort } from '../../base/async.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { sleep, type Deadlines } from '../../base/deadlines.ts';
import { errorMessage } from '../../base/errors.ts';
import type { ToolCallPart, ToolResultPart } from '../../protocol/message.ts';
import type { ModelPart, ModelRequest } from '../../protocol/model.ts';
import type { RemoteTask } from '../../protocol/remote-agent.ts';
import { REMOTE_CHANGES, REMOTE_STEP } from '../../protocol/tool-names.ts';
import { createToolCall, endWithCalls, endWithText } from './answer.ts';
import type { AcpStart, StartAcpProgram } from './program.ts';
import {
  formatFirstMessage,
  countTexts,
  findNewTexts,
  isNoticeText,
  readAddedInput,
  withoutNewestRound,
  type AddedInput,
} from './read-request.ts';
import type { ProgramRequestOutcome, WaitingProgramRequest } from './program-requests.ts';
import { ProgramSession, type PromptEnd } from './session.ts';
import { readCommandEnd, toProgramAnswer, toToolCalls } from './translate.ts';
import type { SpokenPiece } from './updates.ts';

/** The time that a program has to end a prompt after it was asked to. Then it is ended itself. */
const CANCEL_MS = 3_000;
/** The time in which requests that belong together arrive. */
const GATHER_MS = 30;
/** The interval at which a step of the program's own counts as a sign of life. */
const AT_WORK_MS = 5_000;

/** The parts that conversations need. */
export interface ConversationDeps {
  readonly start: StartAcpProgram;
  /** The version of Muster, for the program. */
  readonly version: string;
  readonly deadlines: Deadlines;
}

/** The task of a conversation, and its program. */
type ConversationTerms = Pick<AcpStart, 'task' | 'program'>;

/** A request of the program, and the calls that carry it out. */
interface IssuedRequest extends WaitingProgramRequest {
  readonly calls: readonly ToolCallPart[];
}

/** The conversation of one task with its program. */
export class ProgramConversation {
  /** The task and its program, as the newest request describes them. */
  terms: ConversationTerms;
  private readonly deps: ConversationDeps;
  private session: ProgramSession | null = null;
  private access: AcpStart['access'] = 'read-only';
  /** The rights with which the program was started. */
  private startedWith = '';
  /** The id of the call that asks whether the program may change files; null if it was not made. */
  private startCall: string | null = null;
  /** The id of the call that finds the changes of the program; null if it was not made. */
  private changesCall: string | null = null;
  /** The answer that is given after that call. */
  private held: readonly SpokenPiece[] = [];
  private issued: readonly IssuedRequest[] = [];
  /** The number of messages of the task that the program has got. */
  private delivered = 0;
  /** The messages that arrived while the program was at work. They are its next prompt. */
  private queued: string[] = [];

  constructor(deps: ConversationDeps, terms: ConversationTerms) {
    this.deps = deps;
    this.terms = terms;
  }

  /** Ends the program. The next request starts it again. */
  async endProgram(): Promise<void> {
    const { session } = this;
    this.session = null;
    this.startCall = null;
    this.changesCall = null;
    this.issued = [];
    this.held = [];
    this.queued = [];
    await session?.end();
  }

  /**
   * Answers a request: with calls if the program asks for something, and otherwise with what the program says. Throws an
   * error with a message for people if the program fails.
   */
  async *answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const { task } = this.terms;
    const isOutdated = this.session !== null && this.startedWith !== describeRights(task);
    if (this.session?.isEnded === true || isOutdated) await this.endProgram();
    const added = readAddedInput(request.messages);
    const { session } = this;
    if (session === null) {
      const start = added.results.find(({ callId }) => callId === this.startCall);
      if (start === undefined && task.mayChange && request.toolChoice === 'auto') {
        yield* this.askForStart();
        return;
      }
      this.access = task.mayChange && start?.isError === false ? 'workspace' : 'read-only';
      // The question about the start belongs to no conversation with the program.
      const messages =
        start === undefined ? request.messages : withoutNewestRound(request.messages);
      yield* this.begin({ ...request, messages }, signal);
      return;
    }
    const texts = findNewTexts(request.messages, this.delivered);
    this.delivered = countTexts(request.messages);
    const isReported = this.changesCall !== null;
    this.changesCall = null;
    if (isReported && texts.length === 0) {
      yield { type: 'accepted' };
      yield this.finish(this.held, session);
      return;
    }
    if (session.isPrompting) {
      this.answerRequests(added.results);
      // A notice is for a model that can decide by itself what to do next.
      this.queued.push(...texts.filter((text) => !isNoticeText(text)));
    } else {
      const text = (texts.length === 0 ? added.texts : texts).join('\n\n');
      session.prompt(toContent(text, { added, request, session }));
    }
    yield* this.collect(session, request, signal);
  }

  /** Asks whether the program may change files and run commands by itself. */
  private *askForStart(): Generator<ModelPart> {
    const { command, args } = this.terms.program;
    const input = { step: START, program: [command, ...args].join(' ') };
    const call = createToolCall({ name: REMOTE_STEP, input }, null);
    this.startCall = call.id;
    yield { type: 'accepted' };
    yield { type: 'tool_call_started', id: call.id, name: call.name };
    yield endWithCalls([], [call]);
  }

  /** Starts the program and gives it its first prompt. */
  private async *begin(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const { deps, terms, access } = this;
    const { task } = terms;
    const added = readAddedInput(request.messages);
    const session = new ProgramSession(await deps.start({ ...terms, access }));
    this.session = session;
    this.startedWith = describeRights(task);
    const removeListener = onAbort(signal, () => void session.end());
    let continues: boolean;
    try {
      const { version } = deps;
      const { mode } = terms.program;
      const place = { version, cwd: task.cwd, earlier: added.session };
      continues = await session.open({ ...place, ...dropMissing({ mode }) });
    } catch (thrown) {
      await this.endProgram();
      throw new Error(`its program could not begin: ${errorMessage(thrown)}`, { cause: thrown });
    } finally {
      removeListener();
    }
    const instructions = [task.instructions, ...request.prefix.system.slice(1)].join('\n\n');
    this.delivered = countTexts(request.messages);
    const text = formatFirstMessage(added, { instructions, continues });
    session.prompt(toContent(text, { added, request, session }));
    yield* this.collect(session, request, signal);
  }

  /** Passes on what the program says until it asks for something, ends its prompt, or the signal aborts. */
  private async *collect(
    session: ProgramSession,
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelPart> {
    const pieces = [...this.held];
    this.held = [];
    const isLast = request.toolChoice === 'none';
    if (isLast) session.requests.refuse(LIMIT_REACHED);
    yield { type: 'accepted' };
    for (;;) {
      const news = session.waitForNews();
      for (const piece of session.takePieces()) {
        pieces.push(piece);
        yield { type: `${piece.type}_delta`, text: piece.text };
      }
      if (signal.aborted) {
        await this.cancel(session);
        throw new Error('stopped');
      }
      if (session.promptEnd !== null) {
        session.isPrompting = false;
        if (!session.promptEnd.ok) throw new Error(session.promptEnd.message);
        if (this.queued.length === 0 || isLast) {
          yield this.endAnswer(session, request, pieces);
          return;
        }
        session.prompt([{ type: 'text', text: this.queued.join('\n\n') }]);
        this.queued = [];
        continue;
      }
      if (!session.requests.isEmpty) {
        // The calls of one answer can run at the same time.
        await this.sleep(GATHER_MS, signal);
        yield this.callTools(session, pieces);
        return;
      }
      if (session.isAtWork) yield { type: 'ping' };
      await this.waitForAny(news, signal);
    }
  }

  /** Resolves when there is something new, when the signal aborts, and after a while. */
  private async waitForAny(news: Promise<void>, signal: AbortSignal): Promise<void> {
    const controller = new AbortController();
    const removeListener = onAbort(signal, () => controller.abort());
    await Promise.race([news, this.sleep(AT_WORK_MS, controller.signal)]);
    removeListener();
    controller.abort();
  }

  /** Resolves after a time, or when the signal aborts. */
  private sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(this.deps.deadlines, ms, signal).catch(() => {
      // Only the signal makes it reject.
    });
  }

  /** Turns the requests of the program into calls, which end this answer. */
  private callTools(session: ProgramSession, pieces: readonly SpokenPiece[]): ModelPart {
    const { cwd } = this.terms.task;
    const exists = (path: string): boolean => existsSync(resolve(cwd, path));
    this.issued = session.requests.take().map(({ request, answer }) => {
      const calls = toToolCalls(request, exists);
      return {
        request,
        answer,
        calls: calls.map((call) => createToolCall(call, session.sessionId)),
      };
    });
    return endWithCalls(
      pieces,
      this.issued.flatMap(({ calls }) => calls),
    );
  }

  /** Answers the requests of the program from the results of their calls. */
  private answerRequests(results: readonly ToolResultPart[]): void {
    const byId = new Map(results.map((result) => [result.callId, result]));
    for (const { request, calls, answer } of this.issued) {
      const own = calls.flatMap(({ id }) => byId.get(id) ?? []);
      answer(toOutcome(request, own));
    }
    this.issued = [];
  }

  /** Ends the answer, with a call that finds the changes of the program if it may have made some. */
  private endAnswer(
    session: ProgramSession,
    { toolChoice }: ModelRequest,
    pieces: readonly SpokenPiece[],
  ): ModelPart {
    if (this.access === 'read-only' || toolChoice === 'none') return this.finish(pieces, session);
    this.held = pieces;
    const call = createToolCall({ name: REMOTE_CHANGES, input: {} }, session.sessionId);
    this.changesCall = call.id;
    return endWithCalls([], [call]);
  }

  private finish(
    pieces: readonly SpokenPiece[],
    { promptEnd, sessionId }: ProgramSession,
  ): ModelPart {
    this.held = [];
    const end = promptEnd?.ok === true ? promptEnd : ENDED;
    return endWithText(pieces, end, sessionId);
  }

  /** Ends the prompt, and the program too if it does not end the prompt soon. */
  private async cancel(session: ProgramSession): Promise<void> {
    session.cancel();
    this.issued = [];
    this.queued = [];
    const limit = new AbortController();
    const timeIsUp = this.sleep(CANCEL_MS, limit.signal).then(() => true);
    while (session.promptEnd === null) {
      const isOver = await Promise.race([session.waitForNews().then(() => false), timeIsUp]);
      if (isOver) break;
    }
    limit.abort();
    session.takePieces();
    session.isPrompting = false;
    if (session.promptEnd === null) await this.endProgram();
  }
}

const START = 'Start the program with the right to change files and to run commands itself';
const LIMIT_REACHED = 'A limit of the task is reached. Give the final answer now.';
const ENDED: Extract<PromptEnd, { readonly ok: true }> = {
  ok: true,
  reason: 'end_turn',
  usage: null,
};

/** Returns the rights that decide how a program is confined. */
function describeRights({ mayChange, rights }: RemoteTask): string {
  const { callLimits, roots, rules, workspace } = rights;
  return JSON.stringify([mayChange, roots, rules.deny, rules.ask, callLimits, workspace]);
}

/** Returns the content of a prompt: a text, and the images of the request if the program accepts images. */
function toContent(
  text: string,
  {
    added: { attachments },
    request,
    session,
  }: {
    readonly added: Pick<AddedInput, 'attachments'>;
    readonly request: Pick<ModelRequest, 'readBlob'>;
    readonly session: Pick<ProgramSession, 'acceptsImages'>;
  },
): readonly ContentBlock[] {
  const images = attachments.flatMap(({ blob, type: mimeType }): readonly ContentBlock[] => {
    if (!session.acceptsImages || !mimeType.startsWith('image/')) return [];
    const bytes = request.readBlob?.(blob) ?? null;
    if (bytes === null) return [];
    return [{ type: 'image', mimeType, data: Buffer.from(bytes).toString('base64') }];
  });
  return [{ type: 'text', text }, ...images];
}

function toOutcome(
  request: WaitingProgramRequest['request'],
  results: readonly ToolResultPart[],
): ProgramRequestOutcome {
  if (request.kind !== 'run') return toProgramAnswer(request, results);
  const [result] = results;
  if (result === undefined) return { ok: false, message: 'The command has no result.' };
  const end = readCommandEnd(result, request.outputBytes);
  return typeof end === 'string' ? { ok: false, message: end } : { ok: true, end };
}
