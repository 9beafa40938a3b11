import type { RuleSource } from '../protocol/permission.ts';

/** The source of a value. `where` is `FILE:LINE`, an environment variable or a flag. */
export type ConfigSource = { readonly kind: 'default' } | ValueSource;

export interface ValueSource extends RuleSource {
  readonly kind: 'config' | 'env' | 'flag';
}

/** The value of a key after all layers, with its source. */
export interface Setting {
  readonly value: unknown;
  readonly source: ConfigSource;
  /** For a list that each layer adds to, all items with their sources; else empty. */
  readonly items: readonly { readonly value: string; readonly source: ValueSource }[];
}

/** A mistake in a file, variable or flag, described for the person who can correct it. */
export interface ConfigProblem {
  /** The source of the mistake: `FILE:LINE`, `FILE:LINE:COLUMN`, an environment variable or a flag. */
  readonly where: string;
  readonly message: string;
}

/** A message that is written to stderr and does not stop the run. */
export type ConfigNotice = ConfigProblem;

export function describeConfigProblem(problem: ConfigProblem): string {
  return `${problem.where}: ${problem.message}`;
}
