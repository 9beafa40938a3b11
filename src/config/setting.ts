import type { RuleSource } from '../protocol/permission.ts';

/** Where a value came from; `where` is `FILE:LINE`, a variable or a flag. */
export type ConfigSource = { readonly kind: 'default' } | ValueSource;

export interface ValueSource extends RuleSource {
  readonly kind: 'config' | 'env' | 'flag';
}

/** A value that holds, and what is known of it. */
export interface Setting {
  readonly value: unknown;
  readonly source: ConfigSource;
  /** For a list that layers add to: each item with its own source. */
  readonly items: readonly { readonly value: string; readonly source: ValueSource }[];
}

/** Something wrong in a file, variable or flag, for the person who can mend it. */
export interface ConfigProblem {
  /** `FILE:LINE`, `FILE:LINE:COLUMN`, a variable or a flag. */
  readonly where: string;
  readonly message: string;
}

/** Told on stderr; the run goes on. */
export type ConfigNotice = ConfigProblem;

export function describeConfigProblem(problem: ConfigProblem): string {
  return `${problem.where}: ${problem.message}`;
}
