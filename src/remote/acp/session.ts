import {
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type ContentBlock,
  type InitializeResponse,
  type NewSessionRequest,
  type PromptRequest,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { setImmediate } from 'node:timers/promises';
import { deferred, type Deferred } from '../../base/async.ts';
import { errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { toCount, type Usage } from '../../protocol/model.ts';
import type { ServerProcess } from '../../sys/processes/server-process.ts';
import { connectProgram, type ProgramConnection } from './connection.ts';
import { ProgramRequests } from './program-requests.ts';
import { UpdateReader, type SpokenPiece } from './updates.ts';

/** The limits on what a program may send while it answers one prompt. */
const MAX_UPDATES = 200_000;
const MAX_TEXT_LENGTH = 8 * 1024 * 1024;

/** The end of a prompt. `usage`: the tokens that the program reports; null: it reports none. */
export type PromptEnd =
  | { readonly ok: true; readonly reason: StopReason; readonly usage: Usage | null }
  | { readonly ok: false; readonly message: string };

/** The place of a session, and the session before it. */
interface SessionStart {
  /** The version of Muster. */
  readonly version: string;
  /** Absolute. */
  readonly cwd: string;
  /** The session that shall go on, if the program can do that; null for a new one. */
  readonly earlier: string | null;
  /** The mode of the program, by its own id. Default: its own choice. */
  readonly mode?: string;
}

/** A session with a running program: one prompt at a time, its answer, and the requests of the program. */
export class ProgramSession {
  /** The requests of the program. */
  readonly requests: ProgramRequests;
  /** The end of the prompt; null while it runs, and before the first one. */
  promptEnd: PromptEnd | null = null;
  /** True from the beginning of a prompt until its end was taken. */
  isPrompting = false;
  /** Resolves when there is something new: a piece, a request or an end. */
  private news: Deferred<void> = deferred();
  private readonly connection: ProgramConnection;
  private readonly updates = new UpdateReader();
  private pieces: SpokenPiece[] = [];
  private updateCount = 0;
  private textLength = 0;
  private capabilities: InitializeResponse['agentCapabilities'];
  private ignoresUpdates = false;
  private id = '';

  constructor(process: ServerProcess) {
    this.requests = new ProgramRequests({
      onRequest: () => this.wake(),
      onUpdate: ({ sessionId, update }) => {
        if (sessionId === this.id && !this.ignoresUpdates) this.add(this.updates.read(update));
      },
    });
    this.connection = connectProgram(process, this.requests.app);
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

  /** Begins the session. Returns true if it goes on with the earlier session. Rejects with a message for people. */
  async open({ version, cwd, earlier, mode }: SessionStart): Promise<boolean> {
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
    const goesOn = earlier !== null && (await this.goOn(earlier, place));
    if (!goesOn) {
      const created = agent.request(methods.agent.session.new, place);
      const { sessionId } = await this.request(created);
      this.id = sessionId;
    }
    if (mode !== undefined) await this.setMode(mode);
    return goesOn;
  }

  private async setMode(modeId: string): Promise<void> {
    const params = { sessionId: this.id, modeId };
    try {
      await this.request(this.connection.agent.request(methods.agent.session.setMode, params));
    } catch (thrown) {
      const message = `it does not take the mode ${JSON.stringify(modeId)} (acp.mode): ${errorMessage(thrown)}`;
      throw new Error(message, { cause: thrown });
    }
  }

  /** Goes on with an earlier session. Returns false if the program cannot. */
  private async goOn(sessionId: string, place: NewSessionRequest): Promise<boolean> {
    const { agent } = this.connection;
    const { resume } = this.capabilities?.sessionCapabilities ?? {};
    const resumes = resume !== undefined && resume !== null;
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
      await setImmediate();
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
    this.updateCount = 0;
    this.textLength = 0;
    this.requests.accept();
    const params: PromptRequest = { sessionId: this.id, prompt: [...content] };
    void this.waitForEnd(params).then((end) => this.endPrompt(end));
  }

  private async waitForEnd(params: PromptRequest): Promise<PromptEnd> {
    try {
      const response = await this.request(
        this.connection.agent.request(methods.agent.session.prompt, params),
      );
      // The SDK resolves a response before its handlers have got the updates that arrived before it.
      await setImmediate();
      return { ok: true, reason: response.stopReason, usage: readUsage(response) };
    } catch (thrown) {
      return { ok: false, message: errorMessage(thrown) };
    }
  }

  /** Asks the program to end the prompt soon, and refuses its requests from now on. */
  cancel(): void {
    this.requests.refuse('The prompt was cancelled.');
    if (this.isEnded || this.promptEnd !== null) return;
    const { agent } = this.connection;
    agent.notify(methods.agent.session.cancel, { sessionId: this.id }).catch(() => {
      // The connection has ended, which ends the prompt as well.
    });
  }

  /** Takes the pieces since the last call. */
  takePieces(): readonly SpokenPiece[] {
    const { pieces } = this;
    this.pieces = [];
    return pieces;
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
      this.pieces.push(piece);
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
    this.requests.refuse();
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
      if (!(thrown instanceof RequestError) || thrown.code !== AUTH_REQUIRED) throw thrown;
      throw new Error(`${thrown.message}. ${LOGIN_ADVICE}`, { cause: thrown });
    }
  }
}

/** The code of the error that a program sends if it needs a login. */
const AUTH_REQUIRED = -32_000;
const LOGIN_ADVICE =
  'Log in with the program itself outside of Muster and name the directory of its login in acp.state, or give it a key in acp.env.';
const TOO_MANY_UPDATES = `it sent more than ${MAX_UPDATES} updates for one prompt (limit updates = ${MAX_UPDATES})`;
const TOO_LONG = `its answer to one prompt has more than ${MAX_TEXT_LENGTH} characters (limit answer_characters = ${MAX_TEXT_LENGTH})`;

/** Reads the usage of a prompt, which some programs report in a field that the protocol does not fix yet. */
function readUsage(response: object): Usage | null {
  const usage: unknown = 'usage' in response ? response.usage : null;
  if (!isJsonObject(usage)) return null;
  const [input, output] = [toCount(usage['inputTokens']), toCount(usage['outputTokens'])];
  if (input + output === 0) return null;
  return {
    input,
    output,
    cacheRead: toCount(usage['cachedReadTokens']),
    cacheWrite: toCount(usage['cachedWriteTokens']),
    reasoning: toCount(usage['thoughtTokens']),
  };
}
