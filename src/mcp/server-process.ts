import { isJsonObject } from '../base/json.ts';
import type { Environment } from '../sys/env.ts';
import {
  buildCommandPath,
  buildNetworkEnvironment,
  listPassedVariables,
  UNATTENDED,
} from '../sys/processes/command-environment.ts';
import { startServerProgram, type ServerProcess } from '../sys/processes/server-process.ts';
import type { McpServerEntry } from './server-entry.ts';
import type { ServerPlace } from './server-place.ts';

/** The time for a command that prints headers, and the maximum size of its output. */
const HELPER_MS = 10_000;
const MAX_HELPER_BYTES = 65_536;

/** The phrase about the end of a process that succeeded. */
const SUCCESS = 'exited with code 0';

/** A command that starts a server. */
export interface ServerCommand {
  readonly entry: McpServerEntry;
  /** The place for which it starts. */
  readonly place: ServerPlace;
  readonly argv: readonly [string, ...string[]];
  /** Absolute. */
  readonly cwd: string;
  /** The full environment. */
  readonly env: Environment;
}

/** Starts the process of a server, for example in the sandbox. */
export type StartServerProcess = (command: ServerCommand) => Promise<ServerProcess>;

/** Starts the process of a server without a sandbox. */
export const startUnconfined: StartServerProcess = ({ argv: [file, ...args], cwd, env }) =>
  Promise.resolve(startServerProgram({ file, args, cwd, env }));

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
  place: ServerPlace,
  startProcess: StartServerProcess,
): RunHeadersHelper {
  return async (entry, command, signal) => {
    const url = entry.transport.type === 'stdio' ? '' : entry.transport.url;
    const env = buildServerEnvironment(own, { MCP_SERVER_NAME: entry.name, MCP_SERVER_URL: url });
    const argv = ['/bin/sh', '-c', command] as const;
    const helper = await startProcess({ entry, place, argv, cwd: place.cwd, env });
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
