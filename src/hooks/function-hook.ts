import { deferred, onAbort } from '../base/async.ts';
import { startDeadline } from '../base/deadlines.ts';
import { errorMessage } from '../base/errors.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { isJsonObject } from '../base/json.ts';
import type { HookEventName } from '../protocol/hook.ts';
import type { HookDefinition, HookFunction } from './hook-definition.ts';
import { STOPPED_HOOK, type HookEnd } from './read-hook-output.ts';

/** A function with the occasions at which it runs. */
export interface FunctionHookRequest {
  readonly event: HookEventName;
  /** The pattern for the value of the occasion, such as a tool name. Default: every occasion. */
  readonly matcher?: string;
  /** Above 0. Default: 60 seconds. */
  readonly timeoutSeconds?: number;
  readonly run: HookFunction;
  /** The position in the options of the program, for people. */
  readonly path: string;
  /** True if an error or a timeout of the function refuses what it was asked about. */
  readonly blocksOnFailure: boolean;
}

const DEFAULT_TIMEOUT_SECONDS = 60;

/** Creates the hook for a function. The program counts as the user, whose hooks may allow. */
export function createFunctionHook({
  event,
  matcher = '',
  timeoutSeconds = DEFAULT_TIMEOUT_SECONDS,
  run,
  path,
  blocksOnFailure,
}: FunctionHookRequest): HookDefinition {
  return {
    event,
    matcher,
    action: { kind: 'function', name: path, run },
    source: { kind: 'user', where: 'the program' },
    path,
    timeoutMs: timeoutSeconds * 1000,
    isAsync: false,
    isRewaking: false,
    isOnce: false,
    blocksOnFailure,
  };
}

/** One run of a function. */
interface FunctionHookRun {
  readonly run: HookFunction;
  /** The input as JSON, of which the function gets a copy. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Calls a function within its time. What it returns is read like the output of a command. Never rejects. */
export async function runFunctionHook({
  run,
  input,
  timeoutMs,
  signal,
}: FunctionHookRun): Promise<HookEnd> {
  const ended = new AbortController();
  const cut = deferred<HookEnd>();
  const endEarly = (end: HookEnd): void => {
    ended.abort();
    cut.resolve(end);
  };
  const deadline = startDeadline(timeoutMs, () =>
    endEarly({ kind: 'timeout', limitMs: timeoutMs }),
  );
  const removeListener = onAbort(signal, () => endEarly(STOPPED_HOOK));
  const parsed = parseJsonLine(input);
  const call = async (): Promise<HookEnd> => {
    try {
      const result = await run(isJsonObject(parsed) ? parsed : {}, { signal: ended.signal });
      const stdout = result === undefined || result === null ? '' : JSON.stringify(result);
      return { kind: 'exited', code: 0, signal: null, stdout, stderr: '' };
    } catch (thrown) {
      return { kind: 'failed', reason: `it threw an error: ${errorMessage(thrown)}` };
    }
  };
  try {
    return await Promise.race([call(), cut.promise]);
  } finally {
    // The function may never end. Its deadline must not keep the process alive until then.
    deadline.cancel();
    removeListener();
  }
}
