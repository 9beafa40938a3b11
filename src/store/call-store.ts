import { deferred } from '../base/async.ts';
import { errorMessage, MusterError } from '../base/errors.ts';
import type { StorePort } from '../protocol/store-port.ts';

/** The maximum time of one call of a store of a program, in milliseconds. */
export const STORE_CALL_MS = 60_000;

interface StoreCall {
  readonly method: keyof StorePort;
  /** The id of the task or the hash of the content. */
  readonly subject: string;
  /** The maximum time in milliseconds. */
  readonly ms: number;
}

/** Calls a store of a program. Rejects with MusterError that names the call, also if it takes too long (`TIMEOUT`). */
export async function callStore<T>(
  run: () => Promise<T>,
  { method, subject, ms }: StoreCall,
): Promise<T> {
  const limit = deferred<never>();
  const timer = setTimeout(() => {
    limit.reject(new MusterError('TIMEOUT', `no answer in ${ms / 1000} s`));
  }, ms);
  try {
    return await Promise.race([run(), limit.promise]);
  } catch (thrown) {
    throw new MusterError(
      thrown instanceof MusterError ? thrown.code : 'INTERNAL_ERROR',
      `the store of the program failed in ${method}(${subject}): ${errorMessage(thrown)}`,
      { cause: thrown },
    );
  } finally {
    clearTimeout(timer);
  }
}
