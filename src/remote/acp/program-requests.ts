import {
  client,
  methods,
  RequestError,
  type ClientApp,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { deferred } from '../../base/async.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { CommandEnd, ProgramAnswer, ProgramRequest } from './translate.ts';

/** The maximum number of requests that wait for an answer. */
const MAX_WAITING_REQUESTS = 100;

/** The outcome of a request of the program: an answer, or the end of a command. */
export type ProgramRequestOutcome = ProgramAnswer | { readonly ok: true; readonly end: CommandEnd };

/** A request of the program that waits for its answer. */
export interface WaitingProgramRequest {
  readonly request: ProgramRequest;
  answer(outcome: ProgramRequestOutcome): void;
}

/** The listeners to a program. */
interface ProgramListener {
  /** Called when a request has arrived. */
  onRequest(): void;
  onUpdate(notification: SessionNotification): void;
}

/** The requests of a program for files, commands and permissions. They wait until the task has carried them out. */
export class ProgramRequests {
  /** The side of the connection that gets the requests. */
  readonly app: ClientApp;
  private readonly listener: ProgramListener;
  private readonly terminals = new Map<string, CommandEnd>();
  private waiting: WaitingProgramRequest[] = [];
  /** The reason why requests are refused; null while they are carried out. */
  private refusal: string | null = NOT_ASKED;
  private commands = 0;

  constructor(listener: ProgramListener) {
    this.listener = listener;
    this.app = this.createApp();
  }

  /** True if no request waits for its answer. */
  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** Takes the requests that have arrived since the last call. */
  take(): readonly WaitingProgramRequest[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  /** Carries out requests from now on. */
  accept(): void {
    this.refusal = null;
  }

  /** Answers the waiting requests, and all later ones, with an error. Default reason: no prompt is running. */
  refuse(reason = NOT_ASKED): void {
    this.refusal = reason;
    for (const each of this.take()) each.answer({ ok: false, message: reason });
  }

  private createApp(): ClientApp {
    const { fs, session, terminal } = methods.client;
    return client({ name: 'muster' })
      .onRequest(fs.readTextFile, async ({ params: { path, line = null, limit = null } }) => {
        const content = (await this.ask({ kind: 'read', path, line, limit }))['content'];
        return { content: typeof content === 'string' ? content : '' };
      })
      .onRequest(fs.writeTextFile, async ({ params: { path, content } }) => {
        await this.ask({ kind: 'write', path, content });
        return {};
      })
      .onRequest(session.requestPermission, ({ params }) => this.askForStep(params))
      .onRequest(terminal.create, async ({ params }) => {
        const { command, args = [], env = [], cwd = null, outputByteLimit = null } = params;
        const request = { kind: 'run', command, args, env, cwd } as const;
        const outcome = await this.enqueue({ ...request, outputBytes: outputByteLimit });
        if (!outcome.ok || !('end' in outcome)) throw toError(outcome);
        this.commands += 1;
        const terminalId = `command-${this.commands}`;
        this.terminals.set(terminalId, outcome.end);
        return { terminalId };
      })
      .onRequest(terminal.output, ({ params }) => {
        const { output, truncated, ...exitStatus } = this.findTerminal(params.terminalId);
        return { output, truncated, exitStatus };
      })
      .onRequest(terminal.waitForExit, ({ params }) => {
        const { exitCode, signal } = this.findTerminal(params.terminalId);
        return { exitCode, signal };
      })
      .onRequest(terminal.kill, () => ({}))
      .onRequest(terminal.release, ({ params }) => {
        this.terminals.delete(params.terminalId);
        return {};
      })
      .onNotification(session.update, ({ params }) => this.listener.onUpdate(params));
  }

  private enqueue(request: ProgramRequest): Promise<ProgramRequestOutcome> {
    const problem = this.waiting.length >= MAX_WAITING_REQUESTS ? TOO_MANY_REQUESTS : this.refusal;
    if (problem !== null) return Promise.resolve({ ok: false, message: problem });
    const outcome = deferred<ProgramRequestOutcome>();
    this.waiting.push({ request, answer: (answer) => outcome.resolve(answer) });
    this.listener.onRequest();
    return outcome.promise;
  }

  private async ask(request: ProgramRequest) {
    const outcome = await this.enqueue(request);
    if (outcome.ok && 'result' in outcome) return outcome.result;
    throw toError(outcome);
  }

  private async askForStep({ toolCall, options }: RequestPermissionRequest) {
    const { title, kind = null, locations, content, rawInput } = toolCall;
    const diffs = (content ?? []).flatMap((each) => (each.type === 'diff' ? [each] : []));
    const named = [...(locations ?? []), ...diffs].map(({ path }) => path);
    const outcome = await this.enqueue({
      kind: 'step',
      options: options.map((option) => ({ id: option.optionId, kind: option.kind })),
      step: {
        title: title ?? 'a step without a title',
        kind,
        paths: [...new Set(named)],
        edits: diffs.map(({ path, oldText = null, newText }) => ({
          path,
          before: oldText,
          after: newText,
        })),
        // The SDK has parsed it from JSON.
        input: (rawInput ?? null) as JsonValue,
      },
    });
    const chosen = outcome.ok && 'result' in outcome ? outcome.result['outcome'] : null;
    const id = isJsonObject(chosen) ? chosen['optionId'] : undefined;
    return typeof id === 'string'
      ? { outcome: { outcome: 'selected' as const, optionId: id } }
      : { outcome: { outcome: 'cancelled' as const } };
  }

  private findTerminal(id: string): CommandEnd {
    const terminal = this.terminals.get(id);
    if (terminal === undefined) throw RequestError.resourceNotFound(id);
    return terminal;
  }
}

function toError(outcome: ProgramRequestOutcome): RequestError {
  const reason = outcome.ok ? 'it has no result' : outcome.message;
  // The SDK puts its own words in front of the message.
  return new RequestError(INTERNAL_ERROR, reason);
}

const INTERNAL_ERROR = -32_603;
const NOT_ASKED = 'No prompt is running, so Muster carries out no requests.';
const TOO_MANY_REQUESTS = `More than ${MAX_WAITING_REQUESTS} requests wait for an answer (limit waiting_requests = ${MAX_WAITING_REQUESTS}).`;
