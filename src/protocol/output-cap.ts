import { isJsonObject } from '../base/json.ts';

/**
 * The output cap of one request. It is set if a budget has too little left for the full output limit of the model. It
 * consists of the maximum number of tokens of the answer, and of the limit that made the cap necessary.
 */
export interface OutputCap {
  /** The maximum number of tokens of the answer. */
  readonly tokens: number;
  /** The name by which the user sets the limit: `max_tokens`, `tree_cost_usd`, … */
  readonly limit: string;
  /** The limit, in tokens or US dollars. */
  readonly value: number;
  /** The part of the limit that was used when the request was made. */
  readonly used: number;
}

/** Reads a cap from a log, which may contain any value; undefined: the value is not a valid cap. */
export function readOutputCap(value: unknown): OutputCap | undefined {
  if (!isJsonObject(value)) return undefined;
  const { tokens, limit, value: limitValue, used } = value;
  if (typeof limit !== 'string' || typeof limitValue !== 'number' || typeof used !== 'number') {
    return undefined;
  }
  const isCount = typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0;
  return isCount ? { tokens, limit, value: limitValue, used } : undefined;
}
