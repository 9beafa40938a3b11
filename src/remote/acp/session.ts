import {
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type ContentBlock,
  type InitializeResponse,
  type NewSessionRequest,
  type PromptRequest,
  type RequestPermissionRequest,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { setImmediate } from 'node:timers/promises';
import { deferred, type Deferred } from '../../base/async.ts';
import { errorMessage } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { ServerProcess } from '../../sys/processes/server-process.ts';
import { connectProgram, type ProgramConnection } from './connection.ts';
import type { CommandEnd, ProgramAnswer, ProgramRequest } from './translate.ts';
import { UpdateReader, type SpokenPiece } from './updates.ts';

/** The limits on what a program may send while it answers one prompt. */
const MAX_UPDATES = 200_000;
const MAX_TEXT_LENGTH = 8 * 1024 * 1024;
/** The maximum number of requests that wait for an answer. */
const MAX_WAITING_REQUESTS = 100;

/** The outcome of a request of the program: an answer, or the end of a command. */
export type RequestOutcome = ProgramAnswer | { readonly ok: true; readonly end: CommandEnd };

/** A request of the program that waits for its answer. */
export interface WaitingRequest {
  readonly request: ProgramRequest;
  answer(outcome: RequestOutcome): void;
}

/** The tokens of a prompt that the program reports. */
export interface ReportedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** The end of a prompt. */
export type PromptEnd =
  | { readonly ok: true; readonly reason: StopReason; readonly usage: ReportedUsage | null }
  | { readonly ok: false; readonly message: string };

/** How a session begins. */
export interface SessionStart {
  readonly version: string;
  /** Absolute. */
  readonly cwd: string;
  /** The session that shall go on, if the program can do that; null for a new one. */
  readonly earlier: string | null;
}

/** A session with a running program: one prompt at a time, its answer, and its requests. */
export class AcpSession {
  /** Resolves when there is something new: a piece, a request or an end. */
  private news: Deferred<void> = deferred();
  private readonly connection: ProgramConnection;
  private readonly updates = new UpdateReader();
  private readonly terminals = new Map<string, CommandEnd>();
  private pieces: SpokenPiece[] = [];
  private waiting: WaitingRequest[] = [];
  private updateCount = 0;
  private textLength = 0;
  private refusal: string | null = NOT_ASKED;
  private capabilities: InitializeResponse['agentCapabilities'];
  private ignoresUpdates = false;
  private id = '';
  /** The end of the prompt; null while it runs, and before the first one. */
  promptEnd: PromptEnd | null = null;
  /** True from the beginning of a prompt until its end was taken. */
  isPrompting = false;

  constructor(process: ServerProcess) {
    const app = client({ name: 'muster' })
      .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
        const { path, line = null, limit = null } = params;
        return { content: '', ...(await this.ask({ kind: 'read', path, line, limit })) };
      })
      .onRequest(methods.client.fs.writeTextFile, async ({ params: { path, content } }) => {
        await this.ask({ kind: 'write', path, content });
        return {};
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => this.askForStep(params))
      .onRequest(methods.client.terminal.create, async ({ params }) => {
        const { command, args = [], env = [], cwd = null, outputByteLimit = null } = params;
        const id = `command-${this.terminals.size + 1}`;
        const request = { kind: 'run', command, args, env, cwd } as const;
        const end = await this.askToRun({ ...request, outputBytes: outputByteLimit });
        this.terminals.set(id, end);
        return { terminalId: id };
      })
      .onRequest(methods.client.terminal.output, ({ params }) => {
        const { output, truncated, ...exitStatus } = this.findTerminal(params.terminalId);
        return { output, truncated, exitStatus };
      })
      .onRequest(methods.client.terminal.waitForExit, ({ params }) => {
        const { exitCode, signal } = this.findTerminal(params.terminalId);
        return { exitCode, signal };
      })
      .onRequest(methods.client.terminal.kill, () => ({}))
      .onRequest(methods.client.terminal.release, ({ params }) => {
        this.terminals.delete(params.terminalId);
        return {};
      })
      .onNotification(methods.client.session.update, ({ params }) => {
        if (params.sessionId !== this.id || this.ignoresUpdates) return;
        this.add(this.updates.read(params.update));
      });
    this.connection = connectProgram(process, app);
    void this.connection.ended.then((reason) => this.endPrompt({ ok: false, message: reason }));
  }

  get sessionId(): string {
    return this.id;
  }

  get isEnded(): boolean {
    return this.connection.isEnded;
  }

  /** True if the program accepts images in a prompt. */
  get acceptsImages(): boolean {
    return this.capabilities?.promptCapabilities?.image === true;
  }

  /** True while a step of the program's own is at work, during which it need not send anything. */
  get isAtWork(): boolean {
    return this.updates.openSteps > 0;
  }

  /**
   * Begins the session. Returns true if it goes on with the earlier session. Rejects with a message for people.
   */
  async open({ version, cwd, earlier }: SessionStart): Promise<boolean> {
    const { agent } = this.connection;
    const initialized = await this.request(
      agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: 'muster', version },
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      }),
    );
    if (initialized.protocolVersion !== PROTOCOL_VERSION) {
      const message = `it speaks version ${initialized.protocolVersion} of the protocol, and Muster version ${PROTOCOL_VERSION}`;
      throw new Error(message);
    }
    this.capabilities = initialized.agentCapabilities;
    const place: NewSessionRequest = { cwd, mcpServers: [] };
    if (earlier !== null && (await this.goOn(earlier, place))) return true;
    const created = agent.request(methods.agent.session.new, place);
    const { sessionId } = await this.request(created);
    this.id = sessionId;
    return false;
  }

  /** Goes on with an earlier session. Returns false if the program cannot. */
  private async goOn(sessionId: string, place: NewSessionRequest): Promise<boolean> {
    const { agent } = this.connection;
    const resumes = this.capabilities?.sessionCapabilities?.resume != null;
    if (!resumes && this.capabilities?.loadSession !== true) return false;
    this.id = sessionId;
    // A loaded session repeats its whole conversation, which the log has already.
    this.ignoresUpdates = true;
    try {
      await this.request(
        resumes
          ? agent.request(methods.agent.session.resume, { ...place, sessionId })
          : agent.request(methods.agent.session.load, { ...place, sessionId }),
      );
      return true;
    } catch (thrown) {
      if (this.isEnded) throw thrown;
      // The program does not have the session any more, so a new one begins with the conversation as text.
      return false;
    } finally {
      this.ignoresUpdates = false;
    }
  }

  /** Begins a prompt. Its end is in `promptEnd`. */
  prompt(content: readonly ContentBlock[]): void {
    this.promptEnd = null;
    this.isPrompting = true;
    this.refusal = null;
    this.updateCount = 0;
    this.textLength = 0;
    const { agent } = this.connection;
    const params: PromptRequest = { sessionId: this.id, prompt: [...content] };
    const response = agent.request(methods.agent.session.prompt, params);
    this.request(response).then(
      async (result) => {
        // The SDK resolves a response before its handlers have got the updates that arrived before it.
        await setImmediate();
        this.endPrompt({ ok: true, reason: result.stopReason, usage: readUsage(result) });
      },
      (thrown: unknown) => this.endPrompt({ ok: false, message: errorMessage(thrown) }),
    );
  }

  /** Asks the program to end the prompt soon, and refuses its requests from now on. */
  cancel(): void {
    this.refuseRequests(CANCELLED);
    if (!this.isEnded && this.promptEnd === null)
      void this.connection.agent
        .notify(methods.agent.session.cancel, { sessionId: this.id })
        .catch(() => {});
  }

  /** Answers the waiting requests, and all later ones of this prompt, with an error. */
  refuseRequests(reason: string): void {
    this.refusal = reason;
    for (const each of this.takeRequests()) each.answer({ ok: false, message: reason });
  }

  /** Takes the pieces since the last call. */
  takePieces(): readonly SpokenPiece[] {
    const { pieces } = this;
    this.pieces = [];
    return pieces;
  }

  /** True if a request waits for its answer. */
  get hasRequests(): boolean {
    return this.waiting.length > 0;
  }

  /** Takes the requests that have arrived since the last call. */
  takeRequests(): readonly WaitingRequest[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  /** Resolves when there is something new. */
  waitForNews(): Promise<void> {
    return this.news.promise;
  }

  /** Ends the program and all processes that it started. */
  async end(): Promise<void> {
    await this.connection.end();
  }

  private add(piece: SpokenPiece | null): void {
    this.updateCount += 1;
    if (piece !== null && this.isPrompting) {
      this.textLength += piece.text.length;
      const last = this.pieces.at(-1);
      if (last?.type === piece.type)
        this.pieces[this.pieces.length - 1] = { ...piece, text: last.text + piece.text };
      else this.pieces.push(piece);
    }
    if (this.updateCount > MAX_UPDATES) this.failPrompt(TOO_MANY_UPDATES);
    else if (this.textLength > MAX_TEXT_LENGTH) this.failPrompt(TOO_LONG);
    this.wake();
  }

  private failPrompt(message: string): void {
    this.endPrompt({ ok: false, message });
    void this.connection.end();
  }

  private endPrompt(end: PromptEnd): void {
    this.promptEnd ??= end;
    this.refuseRequests(NOT_ASKED);
    this.wake();
  }

  private wake(): void {
    this.news.resolve();
    this.news = deferred();
  }

  /** Awaits a response of the program, or its end. */
  private async request<T>(response: Promise<T>): Promise<T> {
    const ended = this.connection.ended.then((reason) => Promise.reject(new Error(reason)));
    try {
      return await Promise.race([response, ended]);
    } catch (thrown) {
      // The SDK rejects its requests without the reason for the end.
      if (this.connection.isEnded) throw new Error(await this.connection.ended, { cause: thrown });
      if (thrown instanceof RequestError && thrown.code === AUTH_REQUIRED)
        throw new Error(`${thrown.message}. ${LOGIN_ADVICE}`);
      throw thrown;
    }
  }

  private enqueue(request: ProgramRequest): Promise<RequestOutcome> {
    if (this.refusal !== null) return Promise.resolve({ ok: false, message: this.refusal });
    if (this.waiting.length >= MAX_WAITING_REQUESTS)
      return Promise.resolve({ ok: false, message: TOO_MANY_REQUESTS });
    const outcome = deferred<RequestOutcome>();
    this.waiting.push({ request, answer: (answer) => outcome.resolve(answer) });
    this.wake();
    return outcome.promise;
  }

  private async ask(request: ProgramRequest): Promise<Readonly<Record<string, unknown>>> {
    const outcome = await this.enqueue(request);
    if (outcome.ok && 'result' in outcome) return outcome.result;
    throw RequestError.internalError({}, outcome.ok ? '' : outcome.message);
  }

  private async askToRun(request: Extract<ProgramRequest, { kind: 'run' }>): Promise<CommandEnd> {
    const outcome = await this.enqueue(request);
    if (outcome.ok && 'end' in outcome) return outcome.end;
    throw RequestError.internalError({}, outcome.ok ? '' : outcome.message);
  }

  private async askForStep({ toolCall, options }: RequestPermissionRequest) {
    const { title, kind = null, locations, content, rawInput } = toolCall;
    const edits = (content ?? []).flatMap((each) => (each.type === 'diff' ? [each] : []));
    const outcome = await this.enqueue({
      kind: 'step',
      options: options.map(({ optionId, kind: each }) => ({ id: optionId, kind: each })),
      step: {
        title: title ?? 'a step without a title',
        kind,
        paths: [
          ...new Set([
            ...(locations ?? []).map(({ path }) => path),
            ...edits.map(({ path }) => path),
          ]),
        ],
        edits: edits.map(({ path, oldText = null, newText }) => ({
          path,
          before: oldText,
          after: newText,
        })),
        // What the SDK has parsed is JSON.
        input: (rawInput ?? null) as JsonValue,
      },
    });
    if (!outcome.ok || !('result' in outcome))
      return { outcome: { outcome: 'cancelled' as const } };
    const { outcome: chosen } = outcome.result;
    const optionId = (chosen as { readonly optionId?: string }).optionId;
    return optionId === undefined
      ? { outcome: { outcome: 'cancelled' as const } }
      : { outcome: { outcome: 'selected' as const, optionId } };
  }

  private findTerminal(id: string): CommandEnd {
    const terminal = this.terminals.get(id);
    if (terminal === undefined) throw RequestError.resourceNotFound(id);
    return terminal;
  }
}

/** The code of the error that a program sends if it needs a login. */
const AUTH_REQUIRED = -32_000;
const LOGIN_ADVICE =
  'Log in with the program itself outside of Muster and name the directory of its login in acp.state, or give it a key in acp.env.';
const NOT_ASKED = 'No prompt is running, so Muster carries out no requests.';
const CANCELLED = 'The prompt was cancelled.';
const TOO_MANY_REQUESTS = `More than ${MAX_WAITING_REQUESTS} requests wait for an answer (limit waiting_requests = ${MAX_WAITING_REQUESTS}).`;
const TOO_MANY_UPDATES = `it sent more than ${MAX_UPDATES} updates for one prompt (limit updates = ${MAX_UPDATES})`;
const TOO_LONG = `its answer to one prompt has more than ${MAX_TEXT_LENGTH} characters (limit answer_characters = ${MAX_TEXT_LENGTH})`;

/** Reads the usage of a prompt, which some programs report in a field that the protocol does not fix yet. */
function readUsage(response: object): ReportedUsage | null {
  const { usage } = response as { readonly usage?: unknown };
  if (typeof usage !== 'object' || usage === null) return null;
  const counts = usage as Readonly<Record<string, unknown>>;
  const read = (name: string): number => {
    const value = counts[name];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
  };
  const input = read('inputTokens');
  const output = read('outputTokens');
  if (input + output === 0) return null;
  return {
    input,
    output,
    cacheRead: read('cachedReadTokens'),
    cacheWrite: read('cachedWriteTokens'),
    reasoning: read('thoughtTokens'),
  };
}
