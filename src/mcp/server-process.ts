import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../base/json.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import type { Environment } from '../sys/env.ts';
import {
  buildCommandPath,
  buildNetworkEnvironment,
  listPassedVariables,
  UNATTENDED,
} from '../sys/processes/command-environment.ts';
import { guardAgainstOrphans } from '../sys/processes/orphan-guard.ts';
import { spawnProcessGroup, type SpawnGroupOptions } from '../sys/processes/process-group.ts';
import type { McpServerEntry } from './server-entry.ts';

/** The time in which a server may end by itself after its stdin was closed. */
const CLOSED_INPUT_MS = 300;
/** The time between TERM and KILL. */
const GRACE_MS = 2000;
/** The time for a command that prints headers, and the maximum size of its output. */
const HELPER_MS = 10_000;
const MAX_HELPER_BYTES = 65_536;

/** The phrase about the end of a process that succeeded. */
const SUCCESS = 'exited with code 0';

/** A command that starts a server. */
export interface ServerCommand {
  readonly entry: McpServerEntry;
  readonly argv: readonly [string, ...string[]];
  /** Absolute. */
  readonly cwd: string;
  /** The full environment. */
  readonly env: Environment;
}

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

/** Starts the process of a server, for example in the sandbox. */
export type StartServerProcess = (command: ServerCommand) => Promise<ServerProcess>;

/** A program with its arguments and environment, after a sandbox was built around it. */
export interface ServerProgram extends Pick<
  SpawnGroupOptions,
  'cwd' | 'env' | 'monitored' | 'startCheck'
> {
  readonly file: string;
  readonly args: readonly string[];
}

/** Starts the process of a server without a sandbox. */
export const startUnconfined: StartServerProcess = ({ argv: [file, ...args], cwd, env }) =>
  Promise.resolve(startServerProgram({ file, args, cwd, env }));

/**
 * Starts a program as a server: as the leader of its own process group, which ends with this process even if this
 * process is killed. To end it, its stdin is closed; what still runs then gets TERM and, after 2 s, KILL.
 */
export function startServerProgram({ file, args, ...options }: ServerProgram): ServerProcess {
  const group = spawnProcessGroup(file, args, { ...options, hasInput: true });
  const { stdin, stdout, stderr, pid, started } = group;
  const ended = group.exited.then(
    ({ code, signal }) => (signal === null ? `exited with code ${code}` : `was ended by ${signal}`),
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

/**
 * Builds the environment of a server: the variables that a program needs to work without a person and to reach other
 * servers as the user does, and those that its entry names. No other variable of the user is passed on.
 */
export function buildServerEnvironment(
  own: Environment,
  added: Readonly<Record<string, string>>,
): Environment {
  return {
    ...UNATTENDED,
    ...buildNetworkEnvironment(own, true),
    ...listPassedVariables(own, []),
    PATH: buildCommandPath(own),
    ...added,
  };
}

/** Prints headers for a server as a JSON object. Rejects if the command fails. */
export type RunHeadersHelper = (
  entry: McpServerEntry,
  command: string,
  signal: AbortSignal,
) => Promise<string>;

/**
 * Creates a runner of commands that print headers, in a shell with the environment of a server. The shell starts as the
 * process of the server would, so that the helper of a project's server runs in the sandbox.
 */
export function createHeadersHelper(
  own: Environment,
  cwd: string,
  startProcess: StartServerProcess,
): RunHeadersHelper {
  return async (entry, command, signal) => {
    const url = entry.transport.type === 'stdio' ? '' : entry.transport.url;
    const env = buildServerEnvironment(own, { MCP_SERVER_NAME: entry.name, MCP_SERVER_URL: url });
    const helper = await startProcess({ entry, argv: ['/bin/sh', '-c', command], cwd, env });
    const stop = AbortSignal.any([signal, AbortSignal.timeout(HELPER_MS)]);
    const end = (): void => void helper.end();
    stop.addEventListener('abort', end, { once: true });
    try {
      stop.throwIfAborted();
      let output = '';
      helper.stdin.end();
      helper.stderr.resume();
      for await (const chunk of helper.stdout) {
        output += String(chunk);
        if (output.length > MAX_HELPER_BYTES) throw new Error('it printed more than 64 KB');
      }
      const outcome = await helper.ended;
      if (stop.aborted) throw new Error(`it took more than ${HELPER_MS / 1000} s`);
      if (outcome !== SUCCESS) throw new Error(`it ${outcome}`);
      return output;
    } finally {
      stop.removeEventListener('abort', end);
      await helper.end();
    }
  };
}

/** Reads the headers that a helper has printed. Throws if the output is no JSON object of texts. */
export function parseHelperHeaders(output: string): Readonly<Record<string, string>> {
  const value: unknown = JSON.parse(output);
  const entries = isJsonObject(value) ? Object.entries(value) : null;
  if (entries?.every(([, text]) => typeof text === 'string' && !/[\r\n]/.test(text)) !== true) {
    throw new Error('it printed no JSON object whose values are texts');
  }
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
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
