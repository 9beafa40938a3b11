import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { guardAgainstOrphans } from './orphan-guard.ts';
import { describeProcessLimit } from './process-limit.ts';
import { spawnProcessGroup, type SpawnGroupOptions } from './process-group.ts';

/** The time in which a server may end by itself after its stdin was closed. */
const CLOSED_INPUT_MS = 300;
/** The time between TERM and KILL. */
const GRACE_MS = 2000;

/** The process of a server. */
export interface ServerProcess {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Rejects if the program could not start. */
  readonly started: Promise<void>;
  /** Resolves to a phrase about the end of the process, such as `exited with code 1`. */
  readonly ended: Promise<string>;
  /** Ends the process and all processes that it started. May be called more than once. */
  end(): Promise<void>;
}

/** A program with its arguments and environment, after a sandbox was built around it. */
export interface ServerProgram extends Pick<
  SpawnGroupOptions,
  'cwd' | 'env' | 'monitored' | 'startCheck' | 'maxProcesses'
> {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * Starts a program as a server: as the leader of its own process group, which ends with this process even if this
 * process is killed. To end it, its stdin is closed; what still runs then gets TERM and, after 2 s, KILL.
 */
export function startServerProgram({ file, args, ...options }: ServerProgram): ServerProcess {
  const group = spawnProcessGroup(file, args, { ...options, hasInput: true });
  const { stdin, stdout, stderr, pid, started } = group;
  let isOverLimit = false;
  void group.limitReached.then(() => (isOverLimit = true));
  const ended = group.exited.then(
    ({ code, signal }) => {
      if (isOverLimit) return `was killed: ${describeProcessLimit(options.maxProcesses ?? 0)}`;
      return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    },
    (thrown: unknown) => `could not start: ${String(thrown)}`,
  );
  if (stdin === null) throw new Error('the process of a server has no stdin');
  const stopGuarding = guardAgainstOrphans(group);
  let end: Promise<void> | null = null;
  const endGroup = async (): Promise<void> => {
    stdin.end();
    await Promise.race([ended, sleep(CLOSED_INPUT_MS)]);
    await group.end({ graceMs: GRACE_MS });
    stopGuarding();
  };
  return { pid, stdin, stdout, stderr, started, ended, end: () => (end ??= endGroup()) };
}

/** The maximum number of bytes that are kept of what a server prints to stderr. */
const MAX_STDERR_BYTES = 16_384;

/** Keeps the end of what a server prints to stderr, for errors. */
export class ErrorOutput {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;

  constructor(stderr: Readable) {
    stderr.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk.subarray(-MAX_STDERR_BYTES));
      this.bytes += Math.min(chunk.length, MAX_STDERR_BYTES);
      while (this.bytes - (this.chunks[0]?.length ?? 0) >= MAX_STDERR_BYTES) {
        this.bytes -= this.chunks.shift()?.length ?? 0;
      }
    });
    // The end of the process says what happened.
    stderr.on('error', () => {});
  }

  /** Returns the last lines, harmless for a terminal. */
  read(maxLength = MAX_STDERR_BYTES): string {
    const text = Buffer.concat(this.chunks).toString('utf8').slice(-maxLength);
    return sanitizeForTerminal(text, 'prose').trim();
  }
}
