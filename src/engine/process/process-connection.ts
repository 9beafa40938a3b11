import { setTimeout as wait } from 'node:timers/promises';
import { once } from 'node:events';
import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Attachment } from '../../protocol/attachment.ts';
import type { ToolOutput } from '../../protocol/tool.ts';
import { guardAgainstOrphans } from '../../sys/processes/orphan-guard.ts';
import {
  spawnProcessGroup,
  type ProcessGroup,
  type SpawnGroupOptions,
} from '../../sys/processes/process-group.ts';
import { ErrorOutput } from '../../sys/processes/server-process.ts';
import type { CallForProcess, ProcessLimits } from '../task/call-process.ts';
import { isStopOrder } from '../task/stop-order.ts';
import { answerAsk, answerQuery, WrongArguments, type CallWithPorts } from './answer-ports.ts';
import {
  describeProcessEnd,
  MAX_CALL_BYTES,
  MAX_PRINTED_BYTES,
  MESSAGE_BYTES,
  type EndCause,
  type ProcessEnd,
} from './describe-end.ts';
import { encodeFrame, FrameReader, type FrameLimits, type MessageFrame } from './frames.ts';
import { watchMemory } from './memory-watch.ts';
import {
  readProcessMessage,
  type CallData,
  type MessageToProcess,
  type PortAnswer,
  type PortArguments,
} from './messages.ts';
import { readToolOutput } from './read-output.ts';

/**
 * The maximum size of one message of the process: its JSON, which contains the output of a call, and its bytes, which are a
 * file of the largest size that tools change at most.
 */
const MAX_MESSAGE: FrameLimits = { header: 2_097_152, body: 67_108_864 };
/** The number of other bytes that are as much work as one byte of JSON, which is parsed while nothing else can run. */
const JSON_COST = 16;
/** The time in which a call has to end after its signal has aborted, in milliseconds. */
const STOP_MS = 1_200;
/** The time between TERM and KILL, in milliseconds. */
const KILL_MS = 500;
/** The time in which the process may end by itself after its stdin was closed, in milliseconds. */
const CLOSED_INPUT_MS = 300;
/** The minimum time between two lines of progress, in milliseconds. Lines in between are dropped. */
const PROGRESS_MS = 50;
const MEGABYTE = 1_048_576;

/** The parts of a `ProcessConnection`. */
export interface ProcessConnectionParts {
  readonly taskId: string;
  /** The program with its arguments and its surroundings. */
  readonly file: string;
  readonly args: readonly string[];
  readonly options: Pick<SpawnGroupOptions, 'cwd' | 'env' | 'monitored' | 'startCheck'>;
  readonly limits: ProcessLimits;
  readonly deadlines: Pick<Deadlines, 'after'>;
  /** Called when the process has ended. */
  readonly onEnd: (end: ConnectionEnd) => void;
}

/** The end of a process. */
export interface ConnectionEnd {
  /** The reason; null if it was ended because the task, or its turn, was stopped. */
  readonly error: MusterError | null;
  /** False if the sandbox of the process could not be set up, so that its program never ran. */
  readonly hasBegun: boolean;
}

/** A call that runs in the process. */
interface RunningCall extends CallWithPorts {
  readonly call: CallForProcess;
  readonly outcome: Deferred<ToolOutput>;
}

/** One process of a task, from its start to its end. Everything that it sends counts as hostile. */
export class ProcessConnection {
  private readonly parts: ProcessConnectionParts;
  private readonly group: ProcessGroup;
  private readonly printed: ErrorOutput;
  private readonly calls = new Map<number, RunningCall>();
  private readonly ended: Promise<ConnectionEnd>;
  private readonly cleanUps: (() => void)[] = [];
  private numbers = 0;
  private printedBytes = 0;
  /** The bytes that the process may still send. Each call adds to them. */
  private allowance = 0;
  private lastProgress = 0;
  private cause: EndCause | 'stopped' | null = null;

  constructor(parts: ProcessConnectionParts) {
    const { taskId, file, args, options, limits } = parts;
    this.parts = parts;
    this.group = spawnProcessGroup(file, args, { ...options, hasInput: true, hasChannel: true });
    const { group } = this;
    this.cleanUps.push(guardAgainstOrphans(group));
    this.printed = new ErrorOutput(group.stderr);
    for (const stream of [group.stdout, group.stderr]) {
      stream.on('data', (chunk: Buffer) => this.countPrinted(chunk.length));
      // The end of the process says what happened.
      stream.on('error', () => {});
    }
    group.stdin?.on('error', () => {});
    this.listen();
    if (group.pid !== undefined) {
      const maxBytes = limits.memoryMb * MEGABYTE;
      const onExceeded = (usedBytes: number) => this.kill({ kind: 'memory', usedBytes });
      this.cleanUps.push(watchMemory({ taskId, pid: group.pid, maxBytes, onExceeded }));
    }
    this.ended = this.waitForEnd();
  }

  /** Resolves to null when the program begins. If it never does, resolves to the end of the process. */
  async begin(): Promise<ConnectionEnd | null> {
    return (await this.group.begun) ? null : await this.ended;
  }

  /** Runs a call. */
  async run(call: CallForProcess, data: CallData): Promise<ToolOutput> {
    const number = (this.numbers += 1);
    const { basis, context, input, tool } = call;
    const writes = (basis?.call.access.writes ?? []).map(({ real }) => real);
    const outcome = deferred<ToolOutput>();
    const attachments: Attachment[] = [];
    this.calls.set(number, { call, context, writes, attachments, outcome });
    this.allowance = Math.max(this.allowance, 0) + MAX_CALL_BYTES;
    this.send({ type: 'call', number, tool: tool.name, input, data });
    const removeListener = onAbort(context.signal, () => this.stopCall(number));
    try {
      return await outcome.promise;
    } finally {
      removeListener();
    }
  }

  /** Ends the process, because the task has ended. */
  async end(): Promise<void> {
    this.cause ??= 'stopped';
    this.group.stdin?.end();
    await Promise.race([this.ended, wait(CLOSED_INPUT_MS)]);
    await this.group.end({ graceMs: KILL_MS });
    await this.ended;
  }

  private send(message: MessageToProcess): void {
    this.group.stdin?.write(encodeFrame(message));
  }

  /** Asks a call to stop. A call that does not is ended with the process. */
  private stopCall(number: number): void {
    const { call } = this.calls.get(number) ?? {};
    if (call === undefined) return;
    this.send({ type: 'abort', number });
    this.parts.deadlines.after(STOP_MS, () => {
      if (!this.calls.has(number)) return;
      const { reason } = call.context.signal;
      const cause = { tool: call.tool.name, reason: call.describeStop() };
      this.kill(isStopOrder(reason) ? 'stopped' : { kind: 'unresponsive', ...cause });
    });
  }

  private kill(cause: EndCause | 'stopped'): void {
    if (this.cause !== null) return;
    this.cause = cause;
    // The group ends within the time between TERM and KILL, which `waitForEnd` observes.
    void this.group.end({ graceMs: KILL_MS });
  }

  private countPrinted(bytes: number): void {
    this.printedBytes += bytes;
    if (this.printedBytes > MAX_PRINTED_BYTES) this.kill({ kind: 'printed' });
  }

  private listen(): void {
    const { channel } = this.group;
    if (channel === null) return;
    const reader = new FrameReader(MAX_MESSAGE);
    channel.on('data', (chunk: Buffer) => {
      if (this.cause !== null) return;
      this.allowance -= chunk.length;
      try {
        for (const frame of reader.add(chunk)) {
          this.allowance -= MESSAGE_BYTES + frame.headerBytes * JSON_COST;
          if (this.cause === null) this.take(frame);
        }
      } catch (thrown) {
        this.kill({ kind: 'malformed', problem: describeProblem(thrown) });
      }
      if (this.allowance < 0) this.kill({ kind: 'messages' });
    });
    channel.on('end', () => this.closedChannel());
    channel.on('error', () => this.closedChannel());
  }

  /** A process that has closed its channel is at its end, or never answers again. */
  private closedChannel(): void {
    this.parts.deadlines.after(STOP_MS, () => {
      this.kill({ kind: 'malformed', problem: 'the end of its messages' });
    });
  }

  private take({ header, body }: MessageFrame): void {
    const message = readProcessMessage(header);
    if (message === null) throw new WrongArguments();
    const { type, number, fields } = message;
    const call = this.calls.get(number);
    // A call that has ended may have left something running in the process.
    if (call === undefined) {
      if (type === 'query') this.reply({ error: 'the call has ended' });
      return;
    }
    switch (type) {
      case 'output': {
        const output = readToolOutput(fields['output'], call.attachments);
        if (output === null) throw new WrongArguments();
        this.calls.delete(number);
        call.outcome.resolve(output);
        return;
      }
      case 'threw':
        if (typeof fields['message'] !== 'string') throw new WrongArguments();
        this.calls.delete(number);
        call.outcome.reject(new Error(fields['message']));
        return;
      case 'query':
        this.reply(tryPort(() => answerQuery(call, fields['port'], readArguments(fields))));
        return;
      case 'ask':
        void this.answer(call, fields, body);
        return;
      case 'progress':
        this.showProgress(call, fields);
        return;
    }
  }

  private reply(answer: PortAnswer): void {
    this.group.channel?.write(encodeFrame(answer));
  }

  private async answer(call: RunningCall, fields: JsonObject, body: Buffer): Promise<void> {
    const { ask } = fields;
    try {
      if (typeof ask !== 'number') throw new WrongArguments();
      const args = readArguments(fields);
      const value = await answerAsk(call, { port: fields['port'], args, body });
      this.send({ type: 'answer', ask, value });
    } catch (thrown) {
      if (thrown instanceof WrongArguments || typeof ask !== 'number')
        this.kill({ kind: 'malformed', problem: describeProblem(thrown) });
      else this.send({ type: 'answer', ask, error: errorMessage(thrown) });
    }
  }

  private showProgress({ context }: RunningCall, { line, lines }: JsonObject): void {
    const now = performance.now();
    if (now - this.lastProgress < PROGRESS_MS) return;
    this.lastProgress = now;
    const shown = Array.isArray(lines) ? lines.map(String) : undefined;
    context.progress(String(line), shown);
  }

  private async waitForEnd(): Promise<ConnectionEnd> {
    const { begun, exited, stderr } = this.group;
    const { code, signal, startError } = await exited.then(
      (exit): Omit<ProcessEnd, 'printed'> => exit,
      (thrown: unknown) => ({ code: null, signal: null, startError: errorMessage(thrown) }),
    );
    // The last words of the process may still be in the pipe.
    if (!stderr.closed) await Promise.race([once(stderr, 'close'), wait(STDERR_MS)]);
    for (const cleanUp of this.cleanUps) cleanUp();
    await this.group.end({ graceMs: 0 });
    const hasBegun = await begun;
    const printed = this.printed.read();
    const end = { code, signal, printed, ...(startError === undefined ? {} : { startError }) };
    const { cause } = this;
    const error = cause === 'stopped' ? null : describeProcessEnd(cause, end, this.parts.limits);
    for (const { call, outcome } of this.calls.values())
      outcome.resolve(describeLostCall(call, error));
    this.calls.clear();
    const ended = { error, hasBegun };
    this.parts.onEnd(ended);
    return ended;
  }
}

/** The maximum time for which the rest of stderr is awaited, in milliseconds. */
const STDERR_MS = 200;

function tryPort(port: () => JsonValue): PortAnswer {
  try {
    return { value: port() };
  } catch (thrown) {
    if (thrown instanceof WrongArguments) throw thrown;
    return { error: errorMessage(thrown) };
  }
}

/** Describes what the process has sent, as a noun phrase. */
function describeProblem(thrown: unknown): string {
  return thrown instanceof WrongArguments ? 'a message with wrong fields' : errorMessage(thrown);
}

function readArguments({ args }: JsonObject): PortArguments {
  if (!Array.isArray(args)) throw new WrongArguments();
  return args;
}

/**
 * Describes the outcome of a call whose process has ended.
 *
 * @param error the reason; null: the task was stopped, and the call did not end in time
 */
function describeLostCall(
  { tool, describeStop }: Pick<CallForProcess, 'tool' | 'describeStop'>,
  error: MusterError | null,
): ToolOutput {
  if (error === null) {
    return { text: `Stopped: ${describeStop()}.`, error: 'CANCELLED', forced: true };
  }
  const { code, message } = error;
  if (tool.replay === 'pure') return { text: `No result: ${message}.`, error: code };
  const text = `Its outcome is unknown: ${message} while it ran. Look before you do it again.`;
  return { text, error: 'CANCELLED' };
}
