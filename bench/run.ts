/**
 * What Muster costs, beside what anything in its place would cost: `npm run bench`. Figures are told
 * and never asserted; the exit code is 0 whatever they are, 1 when a row could not be measured.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { errorMessage, UsageError } from '../src/base/errors.ts';
import { judge, type Figure } from './harness/figure.ts';
import { describeMachine, machineLine } from './harness/machine.ts';
import { readOptions, USAGE, type RunOptions } from './harness/options.ts';
import { renderTable } from './harness/table.ts';
import { ROWS } from './rows/index.ts';

async function run({ rows, json, bin }: RunOptions): Promise<number> {
  if (!existsSync(bin)) throw new UsageError(`${bin} is missing: npm run build makes it`);
  const before = describeMachine();
  process.stdout.write(`${machineLine(before)}\n\n`);
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const row of rows) {
    const startedAt = performance.now();
    process.stderr.write(`${row.name} …`);
    try {
      figures.push(...(await row.measure({ bin })));
    } catch (thrown) {
      failures.push(`${row.name}: not measured: ${errorMessage(thrown)}`);
    }
    process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  }
  const after = describeMachine();
  process.stdout.write(`\n${renderTable(figures)}`);
  for (const failure of failures) process.stdout.write(`${failure}\n`);
  process.stdout.write(`Load ${before.load.toFixed(2)} before, ${after.load.toFixed(2)} after.\n`);
  if (json !== null) {
    const verdicts = figures.map((figure) => ({ figure, verdict: judge(figure) }));
    const report = { before, after, figures: verdicts, failures };
    writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  }
  return failures.length === 0 ? 0 : 1;
}

try {
  const options = readOptions(process.argv.slice(2), ROWS);
  if (options.help) process.stdout.write(USAGE);
  else process.exitCode = await run(options);
} catch (thrown) {
  if (!(thrown instanceof UsageError)) throw thrown;
  process.stderr.write(`${thrown.message}\n`);
  process.exitCode = 2;
}
