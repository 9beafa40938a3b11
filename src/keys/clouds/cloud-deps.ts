import { readFileSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { KeySource } from '../../protocol/api-key.ts';
import type { Environment } from '../../sys/env.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';

/** A source of keys that asks a cloud for them. */
export type CloudKeySource = Extract<KeySource, { kind: 'aws' | 'google' | 'azure' }>;

/** The dependencies of reading the credentials of a cloud. */
export interface CloudDeps {
  readonly environment: Environment;
  /** The home directory, in which the tools of the clouds keep their files. */
  readonly home: string;
  readonly clock: Clock;
  /** Sends the requests to the cloud's token service, through the proxy that is configured. */
  readonly fetch: HttpFetch;
}

/** A key of a cloud, as a provider has it. */
export interface CloudKey {
  readonly key: string;
  /** The parts of the key that must not appear anywhere. */
  readonly secrets: readonly string[];
  /** The time at which it expires, in milliseconds since the epoch; null: it does not say. */
  readonly expiresAt: number | null;
}

/** The time limit of one request to a token service, in milliseconds. */
export const TOKEN_REQUEST_MS = 20_000;
/** The time limit of a request to the metadata server of a machine, which is next to it. */
export const METADATA_MS = 1_000;

/** The time before its end at which a key is read again. */
const MARGIN_MS = 300_000;
/** The time for which a key without a known end is used. */
const UNKNOWN_LIFE_MS = 300_000;

/**
 * Returns the time for which a key is used, in milliseconds. It is read again five minutes before its end, or after half
 * of a shorter life.
 */
export function computeKeyLife(expiresAt: number | null, now: number): number {
  if (expiresAt === null) return UNKNOWN_LIFE_MS;
  const life = Math.max(0, expiresAt - now);
  return Math.max(life - MARGIN_MS, life / 2);
}

/** Reads a small file of the system; empty: it is not there, or not for this user. */
export function readBeginning(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Other systems do not have this file.
    return '';
  }
}

/** The maximum length of the reason in a message. */
const MAX_REASON = 300;

/** Returns the first line of a reason, shortened. */
export function firstLine(text: string): string {
  return (text.trim().split(/[\r\n]/, 1)[0] ?? '').slice(0, MAX_REASON);
}

/** The maximum number of causes below each other that are looked at. */
const MAX_CAUSES = 8;

/** Says in one line why something failed. The innermost cause says it best: a client only says that a request failed. */
export function describeReason(thrown: unknown): string {
  let cause = thrown;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (!(cause instanceof Error) || !(cause.cause instanceof Error)) break;
    cause = cause.cause;
  }
  return firstLine(errorMessage(cause) || errorMessage(thrown));
}
