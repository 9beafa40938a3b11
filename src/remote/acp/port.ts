import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isAbsolute, resolve } from 'node:path';
import { onAbort } from '../../base/async.ts';
import type { Clock } from '../../base/clock.ts';
import { sleep, type Deadlines } from '../../base/deadlines.ts';
import { errorMessage } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { WireModelPort } from '../../model/adapters/adapter.ts';
import { withWatchdog, type LivenessLimits } from '../../model/watchdog.ts';
import type { AssistantPart, ToolCallPart } from '../../protocol/message.ts';
import {
  modelName,
  NO_USAGE,
  type FinishReason,
  type ModelPart,
  type ModelRequest,
} from '../../protocol/model.ts';
import type { AcpProgram, RemoteTask } from '../../protocol/remote-agent.ts';
import { REMOTE_CHANGES, REMOTE_STEP } from '../../protocol/tool-names.ts';
import type { RemoteAgentPort } from '../remote-agent-port.ts';
import type { AcpStart, StartAcpProgram } from './program.ts';
import { formatFirstMessage, isNoticeText, readAddedInput, toSessionMeta } from './read-request.ts';
import { AcpSession, type PromptEnd, type RequestOutcome, type WaitingRequest } from './session.ts';
import { readCommandEnd, toProgramAnswer, toToolCalls } from './translate.ts';
import type { SpokenPiece } from './updates.ts';

/** The time that a program has to end a prompt after it was asked to. Then it is ended itself. */
const CANCEL_MS = 3_000;
/** The interval at which a step of the program's own counts as a sign of life. */
const AT_WORK_MS = 5_000;

/** The parts that the port needs. */
export interface AcpPortDeps {
  readonly start: StartAcpProgram;
  readonly version: string;
  readonly limits: LivenessLimits;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
}

/** Creates the port to programs that speak the Agent Client Protocol. Each task has a program of its own. */
export function createAcpPort(deps: AcpPortDeps): RemoteAgentPort {
  const conversations = new Map<string, Conversation>();
  const find = (task: RemoteTask, program: AcpProgram): Conversation => {
    const conversation = conversations.get(task.task) ?? new Conversation(deps);
    conversations.set(task.task, conversation);
    conversation.update(task, program);
    return conversation;
  };
  const endTask = async (id: string): Promise<void> => {
    const conversation = conversations.get(id);
    conversations.delete(id);
    await conversation?.endProgram();
  };
  const wire: WireModelPort = {
    async *stream(request, signal, observer) {
      // The program is local. The limit to the first token holds for its start and its first sign of life.
      observer?.connected?.();
      const problem = describeProblem(request);
      const { remote } = request;
      if (problem !== null || remote?.agent?.protocol !== 'acp') {
        yield createFailure(request, problem ?? 'it is no program that speaks ACP', signal);
        return;
      }
      const conversation = find(remote, remote.agent);
      try {
        yield* conversation.answer(request, signal);
      } catch (thrown) {
        yield createFailure(request, errorMessage(thrown), signal);
      }
    },
  };
  const watched = withWatchdog(wire, deps.limits, deps);
  return {
    async *stream(request, signal, listener) {
      for await (const part of watched.stream(request, signal, listener)) {
        // A second try would repeat what the program has done already, and after a silence it is not known what it does.
        if (part.type === 'failed' && part.failure.kind !== 'cancelled' && request.remote)
          await endTask(request.remote.task);
        yield part.type === 'failed'
          ? { ...part, failure: { ...part.failure, retryable: false } }
          : part;
      }
    },
    endTask,
    close: async () => void (await Promise.all([...conversations.keys()].map(endTask))),
  };
}

function describeProblem({ remote }: ModelRequest): string | null {
  if (remote === undefined) return 'only a task of this agent can use it';
  if (remote.agent !== null) return null;
  return `the agent ${remote.name} is not defined here any more, or its file is not trusted, so its program was not started`;
}

function createFailure(
  { model }: ModelRequest,
  reason: string,
  { aborted }: AbortSignal,
): ModelPart {
  const message = `${modelName(model)}: ${aborted ? 'stopped' : reason}`;
  const kind = aborted ? 'cancelled' : 'server';
  return { type: 'failed', failure: { kind, message, retryable: false } };
}

/** A request of the program, and the calls that carry it out. */
interface IssuedRequest extends WaitingRequest {
  readonly calls: readonly ToolCallPart[];
}

/** The conversation of one task with its program. */
class Conversation {
  private readonly deps: AcpPortDeps;
  private task: RemoteTask | null = null;
  private program: AcpProgram | null = null;
  private session: AcpSession | null = null;
  /** The part of the task's rights with which the program was started. */
  private startedWith = '';
  private access: AcpStart['access'] = 'read-only';
  /** The id of the call that asks whether the program may change files; null if it is not asked. */
  private startCall: string | null = null;
  /** The id of the call that finds the changes of the program; null if it was not made. */
  private changesCall: string | null = null;
  /** The answer that is given after that call. */
  private held: readonly SpokenPiece[] = [];
  private issued: readonly IssuedRequest[] = [];
  /** Messages that arrived while the program was at work. They are the next prompt. */
  private queued: string[] = [];

  constructor(deps: AcpPortDeps) {
    this.deps = deps;
  }

  /** Notes what a request says about the task. */
  update(task: RemoteTask, program: AcpProgram): void {
    this.task = task;
    this.program = program;
  }

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

  /** Answers a request: with calls if the program asks for something, otherwise with the answer of the program. */
  async *answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const { task, program } = this;
    if (task === null || program === null) throw new Error('the conversation has no task');
    if (this.session?.isEnded === true || this.hasOtherRights(task)) await this.endProgram();
    const added = readAddedInput(request.messages);
    if (this.session === null) {
      const isAsked = added.results.some(({ callId }) => callId === this.startCall);
      if (task.mayChange && !isAsked && request.toolChoice === 'auto') {
        yield* this.askForStart(program);
        return;
      }
      const start = added.results.find(({ callId }) => callId === this.startCall);
      this.access = task.mayChange && start?.isError === false ? 'workspace' : 'read-only';
      const isNew = await this.open({ task, program }, added, signal);
      // The question about the start belongs to no earlier program.
      const others = isAsked ? withoutLastRound(request) : request;
      const input = isAsked ? readAddedInput(others.messages) : added;
      const text = formatFirstMessage(input, {
        instructions: [task.instructions, ...request.prefix.system.slice(1)].join('\n\n'),
        continues: !isNew,
      });
      yield* this.prompt(request, [text]);
    } else if (this.changesCall !== null) {
      this.changesCall = null;
      if (added.texts.length === 0) {
        yield { type: 'accepted' };
        yield this.finish(this.held, this.session.promptEnd);
        return;
      }
      yield* this.prompt(request, added.texts);
    } else if (this.session.isPrompting) {
      yield { type: 'accepted' };
      this.answerRequests(added.results);
      // A notice is for a model that can decide by itself what to do next.
      this.queued.push(...added.texts.filter((text) => !isNoticeText(text)));
    } else {
      yield* this.prompt(request, added.texts);
    }
    yield* this.collect(request, signal);
  }

  /** True if the program was started with other rights than the task has now. */
  private hasOtherRights(task: RemoteTask): boolean {
    return this.session !== null && this.startedWith !== describeRights(task);
  }

  /** Asks whether the program may change files and run commands by itself. */
  private *askForStart({ command, args }: AcpProgram): Generator<ModelPart> {
    const input = {
      step: START,
      program: [command, ...args].join(' '),
    };
    const call = createCall(REMOTE_STEP, input);
    this.startCall = call.id;
    yield { type: 'accepted' };
    yield { type: 'tool_call_started', id: call.id, name: call.name };
    yield finished([call], 'tool_calls');
  }

  /** Starts the program and its session. Returns true if the session is a new one. */
  private async open(
    { task, program }: Pick<AcpStart, 'task' | 'program'>,
    { session: earlier }: { readonly session: string | null },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { access, deps } = this;
    const process = await deps.start({ task, program, access });
    const session = new AcpSession(process);
    this.session = session;
    this.startedWith = describeRights(task);
    const removeListener = onAbort(signal, () => void session.end());
    try {
      const { version } = deps;
      return !(await session.open({ version, cwd: task.cwd, earlier }));
    } catch (thrown) {
      await session.end();
      throw new Error(`its program could not begin: ${errorMessage(thrown)}`, { cause: thrown });
    } finally {
      removeListener();
    }
  }

  private async *prompt(
    request: ModelRequest,
    texts: readonly string[],
  ): AsyncGenerator<ModelPart> {
    const { session } = this;
    if (session === null) throw new Error('there is no session');
    const { attachments } = readAddedInput(request.messages);
    const images = session.acceptsImages
      ? attachments.flatMap(({ blob, type }) => {
          const bytes = type.startsWith('image/') ? request.readBlob?.(blob) : null;
          return bytes == null
            ? []
            : [
                {
                  type: 'image' as const,
                  mimeType: type,
                  data: Buffer.from(bytes).toString('base64'),
                },
              ];
        })
      : [];
    session.prompt([{ type: 'text', text: texts.join('\n\n') }, ...images]);
    yield { type: 'accepted' };
  }

  /** Passes on what the program says until it asks for something, ends its prompt, or the signal aborts. */
  private async *collect(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const { session } = this;
    if (session === null) throw new Error('there is no session');
    let pieces: readonly SpokenPiece[] = this.held;
    this.held = [];
    const isLast = request.toolChoice === 'none';
    if (isLast) session.refuseRequests(LIMIT_REACHED);
    for (;;) {
      const news = session.waitForNews();
      const taken = session.takePieces();
      for (const { type, text } of taken) yield { type: `${type}_delta`, text };
      pieces = [...pieces, ...taken];
      if (signal.aborted) {
        await this.cancel(session);
        yield createFailure(request, '', signal);
        return;
      }
      if (session.promptEnd !== null) {
        session.isPrompting = false;
        if (session.promptEnd.ok && this.queued.length > 0 && !isLast) {
          session.prompt([{ type: 'text', text: this.queued.join('\n\n') }]);
          this.queued = [];
          continue;
        }
        yield this.endAnswer(request, pieces, session.promptEnd);
        return;
      }
      if (session.hasRequests) {
        // Requests that the program has sent together arrive together.
        await setImmediate();
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
    const wait = sleep(this.deps.deadlines, AT_WORK_MS, controller.signal).catch(() => {
      // The signal has aborted, or there is something new.
    });
    await Promise.race([news, wait]);
    removeListener();
    controller.abort();
  }

  /** Turns the requests of the program into calls, which end this answer. */
  private callTools(session: AcpSession, pieces: readonly SpokenPiece[]): ModelPart {
    const requests = session.takeRequests();
    const { cwd } = this.task ?? { cwd: '/' };
    const exists = (path: string): boolean =>
      existsSync(isAbsolute(path) ? path : resolve(cwd, path));
    const meta = toSessionMeta(session.sessionId);
    this.issued = requests.map((each) => ({
      ...each,
      calls: toToolCalls(each.request, exists).map(({ name, input }) => ({
        ...createCall(name, input),
        meta,
      })),
    }));
    const calls = this.issued.flatMap((each) => each.calls);
    return finished([...toParts(pieces), ...calls], 'tool_calls');
  }

  /** Answers the requests of the program from the results of their calls. */
  private answerRequests(results: ReturnType<typeof readAddedInput>['results']): void {
    const byId = new Map(results.map((result) => [result.callId, result]));
    for (const { request, calls, answer } of this.issued) {
      const own = calls.flatMap(({ id }) => byId.get(id) ?? []);
      answer(toOutcome(request, own));
    }
    this.issued = [];
  }

  /** Ends the answer: with a call that finds the changes of the program if it may change files. */
  private endAnswer(
    request: ModelRequest,
    pieces: readonly SpokenPiece[],
    end: PromptEnd,
  ): ModelPart {
    if (!end.ok) throw new Error(end.message);
    if (this.access === 'read-only' || request.toolChoice === 'none')
      return this.finish(pieces, end);
    this.held = pieces;
    const call = createCall(REMOTE_CHANGES, {});
    this.changesCall = call.id;
    const meta = toSessionMeta(this.session?.sessionId ?? '');
    return finished([{ ...call, meta }], 'tool_calls');
  }

  private finish(pieces: readonly SpokenPiece[], end: PromptEnd | null): ModelPart {
    this.held = [];
    const session = this.session?.sessionId ?? '';
    const reason = end?.ok === true ? end.reason : 'end_turn';
    const parts = toParts(pieces);
    const note = STOP_NOTES[reason];
    const texts = note === undefined ? parts : [...parts, { type: 'text', text: note } as const];
    const marked = texts.map((part, index) =>
      index === texts.length - 1 ? { ...part, meta: toSessionMeta(session) } : part,
    );
    const usage = end?.ok === true ? end.usage : null;
    return {
      type: 'finished',
      message: { role: 'assistant', content: marked },
      usage: usage ?? NO_USAGE,
      ...(usage === null ? { usageMissing: 'all' as const } : {}),
      reason: FINISH_REASONS[reason],
    };
  }

  /** Ends the prompt, and the program too if it does not end the prompt soon. */
  private async cancel(session: AcpSession): Promise<void> {
    session.cancel();
    this.issued = [];
    this.queued = [];
    const limit = new AbortController();
    const time = sleep(this.deps.deadlines, CANCEL_MS, limit.signal).catch(() => {
      // The prompt has ended before.
    });
    let isOver = false;
    void time.then(() => (isOver = true));
    while (session.promptEnd === null && !isOver) await Promise.race([session.waitForNews(), time]);
    limit.abort();
    session.takePieces();
    session.isPrompting = false;
    if (session.promptEnd === null) await this.endProgram();
  }
}

const START = 'Start the program with the right to change files and to run commands itself';
const LIMIT_REACHED = 'A limit of the task is reached. Give the final answer now.';

type StopReasonName = Extract<PromptEnd, { ok: true }>['reason'];

const FINISH_REASONS: Readonly<Record<StopReasonName, FinishReason>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  max_turn_requests: 'stop',
  refusal: 'content_filter',
  cancelled: 'stop',
};

/** Sentences about ends that the answer does not show. */
const STOP_NOTES: Readonly<Partial<Record<StopReasonName, string>>> = {
  max_turn_requests: '\n[The agent reached its own limit on requests to its model.]',
  cancelled: '\n[The agent says that it was cancelled.]',
};

/** Returns the rights that decide how a program is confined. */
function describeRights({ mayChange, rights }: RemoteTask): string {
  const { callLimits, roots, rules, workspace } = rights;
  return JSON.stringify([mayChange, roots, rules.deny, rules.ask, callLimits, workspace]);
}

/** Returns a request without its newest answer and results. */
function withoutLastRound(request: ModelRequest): ModelRequest {
  const last = request.messages.findLastIndex(({ role }) => role === 'assistant');
  const messages = request.messages.filter(
    ({ role }, index) => index < last || (index > last && role === 'user'),
  );
  return { ...request, messages };
}

function createCall(name: string, input: ToolCallPart['input']): ToolCallPart {
  return { type: 'tool_call', id: `acp_${newId()}`, name, input };
}

function toParts(pieces: readonly SpokenPiece[]): readonly AssistantPart[] {
  const parts: SpokenPiece[] = [];
  for (const piece of pieces) {
    const last = parts.at(-1);
    if (last?.type === piece.type)
      parts[parts.length - 1] = { ...piece, text: last.text + piece.text };
    else parts.push(piece);
  }
  return parts;
}

/** Builds the end of an answer that counts no tokens: the tokens of a prompt are counted at its end. */
function finished(content: readonly AssistantPart[], reason: FinishReason): ModelPart {
  return {
    type: 'finished',
    message: { role: 'assistant', content },
    usage: NO_USAGE,
    reason,
  };
}

function toOutcome(
  request: WaitingRequest['request'],
  results: ReturnType<typeof readAddedInput>['results'],
): RequestOutcome {
  if (request.kind !== 'run') return toProgramAnswer(request, results);
  const [result] = results;
  if (result === undefined) return { ok: false, message: 'The command has no result.' };
  const end = readCommandEnd(result, request.outputBytes);
  return typeof end === 'string' ? { ok: false, message: end } : { ok: true, end };
}
