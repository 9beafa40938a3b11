import { existsSync, statSync } from 'node:fs';
import { rejectOnAbort } from '../base/async.ts';
import { errorMessage } from '../base/errors.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { expandTransport, type VariableSource } from './expand-variables.ts';
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from '../sys/processes/message-lines.ts';
import type { SessionTarget } from './open-session.ts';
import { serverId, type McpServerEntry } from './server-entry.ts';
import type { McpLogins } from './server-login.ts';
import { moveTransport, type ServerPlace } from './server-place.ts';
import {
  buildServerEnvironment,
  createHeadersHelper,
  parseHelperHeaders,
  startUnconfined,
  type RunHeadersHelper,
  type StartServerProcess,
} from './server-process.ts';

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The parts from outside that are needed to prepare connections to servers. */
export interface TargetParts {
  readonly variables: VariableSource;
  readonly http: HttpFetch;
  /** Starts the process of a server, for example in the sandbox. Default: without a sandbox. */
  readonly startProcess?: StartServerProcess;
  /** Runs a command that prints headers. Default: in a shell that `startProcess` starts. */
  readonly runHeadersHelper?: RunHeadersHelper;
  /**
   * Receives the values of variables that an entry uses, before the server starts, so that they can be kept out of
   * logs. Default: none.
   */
  readonly onVariables?: (values: ReadonlyMap<string, string>) => void;
  /** The logins to servers. Default: none, so that a server that requires one cannot be used. */
  readonly logins?: McpLogins;
  readonly messageLimits?: MessageLimits;
}

/** The place of the session, and the one for which a server is started. */
interface TargetPlaces {
  readonly session: ServerPlace;
  readonly place: ServerPlace;
}

/** Prepares the connection to a server: replaces variables, runs the helper, and says how to start the process. */
export async function createTarget(
  entry: McpServerEntry,
  options: TargetParts & TargetPlaces,
  signal: AbortSignal,
): Promise<SessionTarget> {
  const { variables, http, session, place, startProcess = startUnconfined, onVariables } = options;
  const { environment } = variables;
  const limits = options.messageLimits ?? DEFAULT_MESSAGE_LIMITS;
  const { transport, used } = expandTransport(entry, variables);
  if (used.size > 0) onVariables?.(used);
  if (transport.type === 'stdio') {
    const { command, args, env, cwd } = moveTransport(transport, { session, place }, isFile);
    // The error of the system would name the program instead of the directory.
    if (!existsSync(cwd)) throw new Error(`its directory ${cwd} does not exist`);
    return {
      type: 'stdio',
      limits,
      startProcess: () =>
        startProcess({
          entry,
          place,
          argv: [command, ...args],
          cwd,
          env: buildServerEnvironment(environment, env),
        }),
    };
  }
  const run = options.runHeadersHelper ?? createHeadersHelper(environment, place, startProcess);
  const { headersHelper, headers } = transport;
  const added = headersHelper === null ? {} : await readHelper(run, entry, headersHelper, signal);
  // The client for the web is loaded together with the SDK.
  const { createWebFetch } = await import('../sys/http/web-fetch.ts');
  const fetch = createWebFetch(http, limits.maxMessageBytes);
  const target = { type: 'http', transport, headers: { ...headers, ...added } } as const;
  const { logins } = options;
  if (logins === undefined || hasAuthorization(target.headers)) {
    return { ...target, fetch, login: null };
  }
  const { createServerLogin } = await import('./server-login.ts');
  const access = createServerLogin(serverId(entry), {
    origin: entry.origin,
    transport,
    fetch,
    logins,
  });
  // A renewal that is due now does not count for the time of the first question to the server. One that another process
  // waits for too, or that nobody answers, must not hold up the end of Muster.
  await rejectOnAbort(access.login.token(), signal);
  return { ...target, ...access };
}

/** Tells whether headers contain a key of their own, so that no other one is sent. */
export function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

async function readHelper(
  run: RunHeadersHelper,
  entry: McpServerEntry,
  command: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  try {
    return parseHelperHeaders(await run(entry, command, signal));
  } catch (thrown) {
    throw new Error(`its headersHelper failed: ${errorMessage(thrown)}`, { cause: thrown });
  }
}
