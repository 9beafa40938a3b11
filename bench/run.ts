/**
 * The benchmark: `npm run bench -- --help`. It reports values and asserts none of them: the exit code is 1
 * only when a row could not be measured, and 2 for wrong arguments.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { errorMessage, UsageError } from '../src/base/errors.ts';
import { describeMachine, machineLine } from './harness/machine.ts';
import { checkBound, compareWithBaseline, type Measurement } from './harness/measurement.ts';
import { readOptions, USAGE, type RunOptions } from './harness/options.ts';
import { renderTable } from './harness/table.ts';
import { ROWS } from './rows/index.ts';

async function run({ rows, json, bin, baselineBin, rounds }: RunOptions): Promise<number> {
  for (const path of [bin, ...(baselineBin === null ? [] : [baselineBin])]) {
    if (!existsSync(path)) throw new UsageError(`${path} is missing: npm run build makes it`);
  }
  const before = describeMachine();
  process.stdout.write(`${machineLine(before)}\n`);
  if (baselineBin !== null) process.stdout.write(`Baseline: ${baselineBin}\n`);
  process.stdout.write('\n');
  const measurements: Measurement[] = [];
  const failures: string[] = [];
  for (const row of rows) {
    const startedAt = performance.now();
    process.stderr.write(`${row.name} …`);
    try {
      measurements.push(...(await row.measure({ bin, baselineBin, rounds })));
    } catch (thrown) {
      failures.push(`${row.name} could not be measured: ${errorMessage(thrown)}`);
    }
    process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  }
  const after = describeMachine();
  process.stdout.write(renderTable(measurements));
  for (const failure of failures) process.stdout.write(`${failure}\n`);
  process.stdout.write(`Load ${before.load.toFixed(2)} before, ${after.load.toFixed(2)} after.\n`);
  if (json !== null) {
    const results = measurements.map((measurement) => ({
      measurement,
      check: checkBound(measurement),
      comparison: compareWithBaseline(measurement),
    }));
    const report = { before, after, results, failures };
    writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  }
  return failures.length === 0 ? 0 : 1;
}

try {
  const options = readOptions(process.argv.slice(2), ROWS);
  if (options.isHelp) process.stdout.write(USAGE);
  else process.exitCode = await run(options);
} catch (thrown) {
  if (!(thrown instanceof UsageError)) throw thrown;
  process.stderr.write(`${thrown.message}\n`);
  process.exitCode = 2;
}
