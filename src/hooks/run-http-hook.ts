import { onAbort } from '../base/async.ts';
import { errorMessage } from '../base/errors.ts';
import type { HookOccasion, HookSource } from '../protocol/hook.ts';
import type { WebAccess } from '../protocol/web.ts';
import type { Environment } from '../sys/env.ts';
import type { HttpAction } from './hook-definition.ts';
import { STOPPED_HOOK, type HookEnd } from './read-hook-output.ts';

/** The maximum size of an answer (`hook_output_bytes`). */
const MAX_ANSWER_BYTES = 1024 * 1024;
const VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
/** Headers that the client computes from the request. */
const COMPUTED_HEADERS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/** The reason why a request needs a task. */
const NO_TASK =
  "Hooks of other files than the user's own settings send requests only for a task, with its rights.";

/** The means by which hooks reach servers. */
export interface HttpHookSettings {
  /** The web client of the process, which checks the addresses of hosts. */
  readonly send: WebAccess['send'];
  /** The environment of the user, for headers. */
  readonly env: Environment;
}

/** One request of a hook. */
export interface HttpHookRun extends Pick<HookOccasion, 'findUrlProblem'> {
  readonly action: HttpAction;
  readonly source: HookSource;
  /** The JSON to send. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends the input of a hook to its server. A hook of another file than the user's own settings has only the rights of its task,
 * and reaches no address that is not public. No redirect to another host is followed. Never rejects because of the server.
 */
export async function runHttpHook(
  { action, source, input, timeoutMs, signal, findUrlProblem }: HttpHookRun,
  { send, env }: HttpHookSettings,
): Promise<HookEnd> {
  if (source.kind !== 'user') {
    const problem = await (findUrlProblem?.(action.url) ?? NO_TASK);
    if (problem !== null) return { kind: 'failed', reason: `it was not sent: ${problem}` };
  }
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), timeoutMs);
  const removeListener = onAbort(signal, () => ended.abort());
  try {
    const { status, body, isCut, redirectTo } = await send({
      method: 'POST',
      url: new URL(action.url),
      headers: { ...fillHeaders(action, env), 'Content-Type': 'application/json' },
      body: input,
      signal: ended.signal,
      allowsPrivate: () => source.kind === 'user',
      followsRedirect: () => false,
    });
    if (redirectTo !== undefined) {
      return {
        kind: 'failed',
        reason: `it was sent on to ${redirectTo.host}, which is not followed`,
      };
    }
    if (isCut || body.length > MAX_ANSWER_BYTES) {
      const reason = `the server answered with more than ${MAX_ANSWER_BYTES} bytes (limit hook_output_bytes = ${MAX_ANSWER_BYTES})`;
      return { kind: 'failed', reason };
    }
    return { kind: 'answered', status, body: body.toString('utf8') };
  } catch (thrown) {
    if (signal.aborted) return STOPPED_HOOK;
    if (ended.signal.aborted) return { kind: 'timeout', limitMs: timeoutMs };
    return { kind: 'failed', reason: errorMessage(thrown) };
  } finally {
    clearTimeout(timer);
    removeListener();
  }
}

/** Puts the variables that the hook lists into its headers. */
function fillHeaders(
  { headers, allowedVariables }: HttpAction,
  env: Environment,
): Readonly<Record<string, string>> {
  const fill = (text: string): string =>
    text.replaceAll(VARIABLE, (_, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? '';
      return allowedVariables.includes(name) ? (env[name] ?? '') : '';
    });
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) => {
      const key = name.toLowerCase();
      return COMPUTED_HEADERS.has(key) || key === 'content-type'
        ? []
        : [[name, fill(text)] as const];
    }),
  );
}
