/**
 * The whole check, in the order in which failures are cheapest to find: formatting, lint, types,
 * dead code, build, tests. Ends with one line `N passed, N failed`.
 *
 * `--world PART` runs one part of the tests that take too long for that (test/world.ts).
 * `--crash` runs the long crash tests alone; other arguments go to vitest. `--coverage` is one of those,
 * and none by default: it takes a fifth more time.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { WORLD } from '../test/world.ts';

const crash = process.argv.includes('--crash');
const isWorld = process.argv.includes('--world');
const [part] = isWorld ? process.argv.slice(process.argv.indexOf('--world') + 1) : [];
if (isWorld && (part === undefined || !(part in WORLD))) {
  console.error(`npm run test:world -- PART; the parts are ${Object.keys(WORLD).join(', ')}`);
  process.exit(2);
}
const rest = process.argv
  .slice(2)
  .filter((argument) => argument !== '--crash' && argument !== '--world' && argument !== part);
const report = join(tmpdir(), `muster-test-${process.pid}.json`);
const missing = join(tmpdir(), `muster-not-run-${process.pid}.txt`);

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

const checks: readonly Step[] = [
  { name: 'formatting', command: ['oxfmt', '--check'] },
  { name: 'lint', command: ['oxlint', '--deny-warnings'] },
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'types of the page', command: ['tsc', '--noEmit', '-p', 'src/front/web/page'] },
  { name: 'types of its tests', command: ['tsc', '--noEmit', '-p', 'test/web/world'] },
  { name: 'dead code', command: ['knip'] },
];

const scope = crash ? ['--config', 'vitest.crash.config.ts'] : [];
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const vitest = ['vitest', 'run', ...reporters, ...scope, ...rest];

function run({ name, command }: Step): boolean {
  const [program = '', ...args] = command;
  const startedAt = Date.now();
  const { status } = spawnSync(program, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      MUSTER_TEST_NOT_RUN: missing,
      ...(part === undefined ? {} : { MUSTER_TEST_WORLD: part }),
    },
  });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  return status === 0;
}

interface Counts {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function counts(): Counts {
  if (!existsSync(report)) return { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  const parsed: Counts = JSON.parse(readFileSync(report, 'utf8'));
  rmSync(report);
  return parsed;
}

const build: Step = { name: 'build', command: ['node', 'scripts/build.ts'] };
const packaged: Step = { name: 'package', command: ['publint', '--strict'] };
const steps = crash || isWorld ? [build] : [...checks, build, packaged];
const failed = steps.filter((step) => !run(step));
const testsPassed = run({ name: 'tests', command: vitest });
const { numPassedTests, numFailedTests, testResults } = counts();
const notRun = existsSync(missing) ? new Set(readFileSync(missing, 'utf8').trim().split('\n')) : [];
rmSync(missing, { force: true });
// Once more at the end, where the log of a long run is cut.
for (const { name, assertionResults } of testResults) {
  const failures = assertionResults.filter(({ status }) => status === 'failed');
  for (const { fullName } of failures) console.log(`FAIL ${relative('.', name)}: ${fullName}`);
}
for (const want of notRun) console.log(`Not run, for want of ${want}`);
/** The machine that judges a change has all that is needed, or its script is wrong. */
const missed = process.env['CI'] === undefined ? 0 : [...notRun].length;
// A failed check, or a run that broke outside a test (coverage too low), counts as one failure each.
const broken = testsPassed || numFailedTests > 0 ? 0 : 1;
const failures = numFailedTests + failed.length + broken + missed;
if (failed.length > 0) console.log(`\nFailed: ${failed.map((step) => step.name).join(', ')}`);
console.log(`\n${numPassedTests} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
