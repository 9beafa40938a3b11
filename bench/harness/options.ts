import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { errorMessage, UsageError } from '../../src/base/errors.ts';
import type { Row } from './row.ts';

export const USAGE = `npm run bench -- [ROW…] [--long] [--against DIR] [--rounds N] [--json FILE] [--bin FILE]

Measures the built program and prints each value next to that of a minimal program which does the same
work. Without names, all rows run except the long ones. Nothing else should run on the machine meanwhile.

  --long         run the long rows, too
  --against DIR  measure the built checkout in DIR as well, alternately with this one, and print the ratio;
                 without names, the rows that can do this run
  --rounds N     the number of rounds of each row that can compare builds (default: the row's own)
  --json FILE    write all samples to FILE as JSON
  --bin FILE     the built program (default: dist/muster.js)
`;

export interface RunOptions {
  readonly rows: readonly Row[];
  /** The file for the samples, or null. */
  readonly json: string | null;
  readonly bin: string;
  readonly baselineBin: string | null;
  readonly rounds: number | null;
  readonly isHelp: boolean;
}

const DEFAULT_BIN = resolve(import.meta.dirname, '../../dist/muster.js');

/** Throws UsageError for an unknown row or flag, and for a named row that cannot compare builds. */
export function readOptions(args: readonly string[], rows: readonly Row[]): RunOptions {
  const { values, positionals } = parse(args);
  return {
    rows: selectRows(rows, positionals, {
      isLongRun: values.long,
      isComparison: values.against !== undefined,
    }),
    json: values.json === undefined ? null : resolve(values.json),
    bin: values.bin === undefined ? DEFAULT_BIN : resolve(values.bin),
    baselineBin:
      values.against === undefined ? null : resolve(join(values.against, 'dist/muster.js')),
    rounds: values.rounds === undefined ? null : readRounds(values.rounds),
    isHelp: values.help,
  };
}

function selectRows(
  rows: readonly Row[],
  names: readonly string[],
  run: { readonly isLongRun: boolean; readonly isComparison: boolean },
): readonly Row[] {
  for (const name of names) {
    const row = rows.find((each) => each.name === name);
    if (row === undefined) {
      throw new UsageError(
        `no row ${name}; the rows are ${rows.map((each) => each.name).join(', ')}`,
      );
    }
    if (run.isComparison && row.canCompare !== true) {
      throw new UsageError(`the row ${name} cannot compare two builds; run it without --against`);
    }
  }
  if (names.length > 0) return rows.filter((row) => names.includes(row.name));
  return rows.filter(
    (row) =>
      (row.isLong !== true || run.isLongRun) && (row.canCompare === true || !run.isComparison),
  );
}

function readRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds > 0) return rounds;
  throw new UsageError(`--rounds takes a whole number above 0, not ${text}`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        long: { type: 'boolean', default: false },
        against: { type: 'string' },
        rounds: { type: 'string' },
        json: { type: 'string' },
        bin: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (thrown) {
    throw new UsageError(errorMessage(thrown));
  }
}
