import type { Measurement } from './measurement.ts';

export interface RowOptions {
  /** The path of the built program to measure. */
  readonly bin: string;
  /** The path of the built program to compare with, or null. Only rows that compare builds get one. */
  readonly baselineBin: string | null;
  /** The number of rounds that was asked for, or null for the row's own number. */
  readonly rounds: number | null;
}

/** A part of the benchmark that can be run by itself: one measurement, or a few that belong together. */
export interface Row {
  /** The name that selects the row on the command line. */
  readonly name: string;
  /** Whether the row takes so long that it runs only with `--long` or when it is named. */
  readonly isLong?: boolean;
  /** Whether the row can measure two builds alternately (`--against`). */
  readonly canCompare?: boolean;
  measure(options: RowOptions): Promise<readonly Measurement[]>;
}
