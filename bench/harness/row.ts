import type { Figure } from './figure.ts';

interface BenchOptions {
  /** The built program that is measured. */
  readonly bin: string;
}

/** One line, or a few that belong together, of the cost table. */
export interface Row {
  /** By which it is chosen on the command line. */
  readonly name: string;
  /** Too long for every run: only with `--long`, or when it is named. */
  readonly long?: boolean;
  measure(options: BenchOptions): Promise<readonly Figure[]>;
}
