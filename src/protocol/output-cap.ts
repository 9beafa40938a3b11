import { isJsonObject } from '../base/json.ts';

/**
 * The output cap of one request if a budget lowers it below the model's own output limit: the maximum number of tokens
 * of the answer, and the limit that lowered it.
 */
export interface OutputCap {
  readonly tokens: number;
  /** The name by which the user sets the limit: `max_tokens`, `tree_cost_usd`, … */
  readonly limit: string;
  readonly value: number;
  /** The part of the limit that was used when the request was made. */
  readonly used: number;
}

/** Reads a cap from a log, which may contain anything; undefined if it is not valid. */
export function readOutputCap(value: unknown): OutputCap | undefined {
  if (!isJsonObject(value)) return undefined;
  const { tokens, limit, value: most, used } = value;
  if (typeof limit !== 'string' || typeof most !== 'number' || typeof used !== 'number') {
    return undefined;
  }
  const isCount = typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0;
  return isCount ? { tokens, limit, value: most, used } : undefined;
}
