/**
 * The error codes of the result envelope. Every error that leaves Muster, for a model, a program or a person, has one
 * of them.
 */
export const ERROR_CODES = [
  'INVALID_PARAM',
  'NOT_FOUND',
  'PERMISSION_DENIED',
  'LIMIT_EXCEEDED',
  'PROVIDER_ERROR',
  'TIMEOUT',
  'CANCELLED',
  'CONFLICT',
  'INTERNAL_ERROR',
] as const;

/** The codes of errors. Every error that leaves Muster, for a model, a program or a person, has one of them. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error as data, for logs, result envelopes and models. */
export interface ErrorInfo {
  /** The kind of the error. */
  readonly code: ErrorCode;
  /** The error for people: what happened, where, and what to do. */
  readonly message: string;
  /** True if the same call may succeed later without a change. */
  readonly retryable: boolean;
}

/** The options of an error. */
export interface MusterErrorOptions {
  /** True if the same call may succeed later without a change. Default: false. */
  readonly retryable?: boolean;
  /** The error that caused this one. Default: none. */
  readonly cause?: unknown;
}

/**
 * An error for a person or for another program. Its `message` says what happened, where (file:line, field, task id)
 * and what to do, so that the reader needs no stack trace.
 *
 * @example
 * import { MusterError, type Muster } from 'muster-agent';
 *
 * export async function remind(muster: Muster, id: string): Promise<void> {
 *   try {
 *     muster.send(id, 'Only the tests.');
 *   } catch (thrown) {
 *     if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
 *     await muster.resume(id, 'Only the tests.');
 *   }
 * }
 */
export class MusterError extends Error {
  /** The name of the class. */
  override readonly name: string = 'MusterError';
  /** The kind of the error. */
  readonly code: ErrorCode;
  /** True if the same call may succeed later without a change. */
  readonly retryable: boolean;

  /** Creates an error. `message`: what happened, where, and what to do. */
  constructor(code: ErrorCode, message: string, options: MusterErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
  }

  /** Returns the error as data. */
  toInfo(): ErrorInfo {
    return { code: this.code, message: this.message, retryable: this.retryable };
  }
}

/**
 * An error in an option, a flag or the configuration. Its code is `INVALID_PARAM`. The command line then ends with exit code 2.
 *
 * @example
 * import { createMuster, UsageError } from 'muster-agent';
 *
 * try {
 *   await using muster = await createMuster({ model: process.argv[2] ?? 'offline' });
 *   console.log((await muster.run('Hello.')).output);
 * } catch (thrown) {
 *   if (!(thrown instanceof UsageError)) throw thrown;
 *   console.error(thrown.message);
 * }
 */
export class UsageError extends MusterError {
  /** The name of the class. */
  override readonly name = 'UsageError';

  /** Creates an error. `message`: what is wrong, where, and what is valid. */
  constructor(message: string, options: MusterErrorOptions = {}) {
    super('INVALID_PARAM', message, options);
  }
}

/** Converts a thrown value to error data. Anything except a MusterError is a bug and becomes INTERNAL_ERROR. */
export function errorInfo(thrown: unknown): ErrorInfo {
  const known = readThrown(() => (thrown instanceof MusterError ? thrown.toInfo() : null), null);
  return known ?? { code: 'INTERNAL_ERROR', message: errorMessage(thrown), retryable: false };
}

/** Returns the message of a thrown value, which may be an error or any other value. */
export function errorMessage(thrown: unknown): string {
  return readThrown(
    () => String(thrown instanceof Error ? thrown.message : thrown),
    'the thrown value cannot be read',
  );
}

/**
 * Reads a thrown value, which a program may have made so that even `instanceof` or its `message` throws. Returns `fallback` then.
 * Its readers stand in catch clauses, where a second error would leave work without an end.
 */
function readThrown<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}

/** Returns what `work` returns, or the MusterError that it throws. Throws any other error. */
export function catchMusterError<T>(work: () => T): T | MusterError {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** Tells whether a thrown value is a MusterError with the code CANCELLED. */
export function isCancelled(thrown: unknown): boolean {
  return readThrown(() => thrown instanceof MusterError && thrown.code === 'CANCELLED', false);
}

/** Returns the code of a system error of Node, such as `ENOENT`; undefined for any other value. */
export function systemErrorCode(thrown: unknown): string | undefined {
  return readThrown(() => {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    return typeof code === 'string' ? code : undefined;
  }, undefined);
}

/** Throws an error. Use it in the `default` branch of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
