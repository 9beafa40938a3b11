import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { errorMessage, UsageError } from '../../src/base/errors.ts';
import type { Row } from './row.ts';

export const USAGE = `npm run bench -- [ROW…] [--long] [--json FILE] [--bin FILE]

Measures the rows of the cost table, each beside its floor, and prints them. Without names: all but
the long ones. Nothing else should run on the machine meanwhile.

  --long       the long rows too
  --json FILE  the samples as well, as JSON
  --bin FILE   the built program (default: dist/muster.js)
`;

export interface RunOptions {
  readonly rows: readonly Row[];
  readonly json: string | null;
  readonly bin: string;
  readonly help: boolean;
}

const DEFAULT_BIN = resolve(import.meta.dirname, '../../dist/muster.js');

/** Throws UsageError for a row or a flag that there is not. */
export function readOptions(args: readonly string[], rows: readonly Row[]): RunOptions {
  const { values, positionals } = parse(args);
  for (const name of positionals) {
    if (rows.some((row) => row.name === name)) continue;
    throw new UsageError(`no row ${name}; there are ${rows.map((row) => row.name).join(', ')}`);
  }
  const byDefault = rows.filter((row) => row.long !== true || values.long);
  const named = rows.filter((row) => positionals.includes(row.name));
  return {
    rows: positionals.length === 0 ? byDefault : named,
    json: values.json === undefined ? null : resolve(values.json),
    bin: values.bin === undefined ? DEFAULT_BIN : resolve(values.bin),
    help: values.help,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        long: { type: 'boolean', default: false },
        json: { type: 'string' },
        bin: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (thrown) {
    throw new UsageError(errorMessage(thrown));
  }
}
