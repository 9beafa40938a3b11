/**
 * The output cap of one request where a budget lowers it below the model's own output limit: how many
 * tokens the answer may have, and the limit that lowered it.
 */
export interface OutputCap {
  readonly tokens: number;
  /** The name by which the user sets the limit: `max_tokens`, `tree_cost_usd`, … */
  readonly limit: string;
  readonly value: number;
  /** The part of the limit that was used when the request was made. */
  readonly used: number;
}

/** Reads a cap from a log that anybody may have written; undefined where it holds none that is valid. */
export function readOutputCap(value: unknown): OutputCap | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { tokens, limit, value: most, used } = value as Readonly<Record<string, unknown>>;
  if (typeof limit !== 'string' || typeof most !== 'number' || typeof used !== 'number') {
    return undefined;
  }
  const isCount = typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0;
  return isCount ? { tokens, limit, value: most, used } : undefined;
}
