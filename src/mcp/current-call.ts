import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The id of the call whose answer is being read. Over HTTP, messages of a server arrive in the answer to the call that they
 * belong to, but the SDK does not pass that on.
 */
const CALL_IN_PROGRESS = new AsyncLocalStorage<string>();

/** The id of the call whose result asks the user, while the SDK passes these questions on. */
let askingCall: string | undefined;

/**
 * Marks the call whose result asks the user. The SDK reports the progress of this call and then, in the same step, passes
 * the questions on.
 */
export function markAsking(callId: string): void {
  askingCall = callId;
  queueMicrotask(() => (askingCall = undefined));
}

/** Runs a call, so that messages which arrive in its answer are known to belong to it. */
export function runAsCurrentCall<T>(callId: string, run: () => Promise<T>): Promise<T> {
  return CALL_IN_PROGRESS.run(callId, run);
}

/** Returns the id of the call that a message of a server belongs to; undefined if that is not known. */
export function findCurrentCall(): string | undefined {
  return askingCall ?? CALL_IN_PROGRESS.getStore();
}
