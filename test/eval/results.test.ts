import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { renderComparison } from '../../eval/compare.ts';
import { forEachInParallel } from '../../eval/parallel.ts';
import {
  appendResult,
  readResults,
  readSettings,
  writeSettings,
  type RunResult,
} from '../../eval/results.ts';
import { median, signTest, wilsonInterval } from '../../eval/statistics.ts';

let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'muster-results-'));
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

function resultOf(fields: Partial<RunResult>): RunResult {
  return {
    id: 'a.on.auto.1',
    task: 'a',
    language: 'go',
    kind: 'bug',
    delegation: true,
    shape: 'auto',
    solved: true,
    outcome: 'judged',
    status: 'completed',
    reason: null,
    seconds: 10,
    checkExitCode: 0,
    turns: 4,
    subagents: 0,
    input: 1000,
    output: 100,
    cacheRead: 0,
    cacheWrite: 0,
    costUsd: 0.01,
    receipt: { filesChanged: [], commands: 0, refusals: 0 },
    ...fields,
  };
}

it('reads the newest result of each run, and leaves out a torn line', () => {
  const [first, second] = [resultOf({ outcome: 'error' }), resultOf({})];
  appendResult(out, first);
  appendFileSync(join(out, 'results.jsonl'), '{"id":"b.on');
  expect(readResults(out)).toEqual(new Map([[first.id, first]]));
  appendResult(out, second);
  expect(readResults(out)).toEqual(new Map([[second.id, second]]));
  expect(readFileSync(join(out, 'results.jsonl'), 'utf8').split('\n')).toHaveLength(4);
});

it('leaves out lines that hold no result', () => {
  appendFileSync(join(out, 'results.jsonl'), 'null\n5\n"text"\n{}\n{"id":3}\n');
  const result = resultOf({});
  appendResult(out, result);
  expect(readResults(out)).toEqual(new Map([[result.id, result]]));
});

it('writes settings completely or not at all, and reads those of earlier versions', () => {
  expect(readSettings(out)).toBeNull();
  // As a full disk leaves it.
  writeFileSync(join(out, 'settings.json.new'), '{"model":');
  const settings = { model: 'm', version: '1', build: 'b', tasks: 't', config: 'none' };
  writeSettings(out, settings);
  expect(readSettings(out)).toEqual(settings);
  writeFileSync(join(out, 'settings.json'), '{"model":"m","version":"1","tasks":"t"}');
  expect(readSettings(out)).toEqual({ ...settings, build: 'unknown', config: 'unknown' });
});

it('begins no item after an error, and waits for those at work', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const run = forEachInParallel([1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await Promise.resolve();
    if (item === 1) throw new Error('broken');
    await Promise.resolve();
    ended.push(item);
  });
  await expect(run).rejects.toThrow('broken');
  expect({ begun, ended }).toEqual({ begun: [1, 2], ended: [2] });
});

it('works on as many items at a time as it may', async () => {
  let [running, most] = [0, 0];
  const done: number[] = [];
  await forEachInParallel([1, 2, 3, 4, 5], 2, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    done.push(item);
  });
  expect({ most, done }).toEqual({ most: 2, done: [1, 2, 3, 4, 5] });
});

it('computes medians, intervals and the probability of a difference', () => {
  expect([median([]), median([3]), median([4, 1, 3]), median([4, 1, 3, 2])]).toEqual([
    null,
    3,
    3,
    2.5,
  ]);
  const [low, high] = wilsonInterval(8, 10);
  expect([low.toFixed(3), high.toFixed(3)]).toEqual(['0.490', '0.943']);
  expect(wilsonInterval(0, 0)).toEqual([0, 1]);
  const chances = [signTest(0, 0), signTest(1, 0), signTest(5, 0), signTest(2, 8)];
  expect(chances.map((chance) => chance.toFixed(9))).toEqual([
    '1.000000000',
    '1.000000000',
    '0.062500000',
    '0.109375000',
  ]);
  // As the binomial distribution has it for many pairs.
  expect(signTest(1500, 1500)).toBe(1);
  expect(signTest(1400, 1600).toFixed(6)).toBe('0.000279');
});

it('compares the runs that two evaluations share', () => {
  const settings = { model: 'm', version: '1.0.0', build: 'b', tasks: 'abc', config: 'none' };
  const sideOf = (directory: string, results: readonly RunResult[]) => ({
    directory,
    settings,
    results: new Map(results.map((result) => [result.id, result])),
  });
  const first = sideOf('one', [
    resultOf({ id: 'a.on.auto.1' }),
    resultOf({ id: 'b.on.auto.1', solved: false }),
    resultOf({ id: 'c.on.auto.1' }),
    resultOf({ id: 'd.on.auto.1', outcome: 'error', solved: false }),
  ]);
  const second = sideOf('two', [
    resultOf({ id: 'a.on.auto.1', turns: 2, cacheRead: 1000, costUsd: null }),
    resultOf({ id: 'b.on.auto.1' }),
    resultOf({ id: 'd.on.auto.1' }),
  ]);
  expect(renderComparison(first, second)).toMatchInlineSnapshot(`
    "# Comparison of two evaluations

    |  | model | Muster | tasks | results |
    | --- | --- | --- | --- | --- |
    | A: \`one\` | m | 1.0.0 | abc | 4 |
    | B: \`two\` | m | 1.0.0 | abc | 3 |

    2 runs are in both. 3 results have no counterpart and are left out.

    ## Solved

    |  | runs | A | B | both | only A | only B | neither | chance |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | auto, delegation on | 2 | 1 (50 %) | 2 (100 %) | 1 | 0 | 1 | 0 | 1.000 |

    The last column is the probability that two equally good sides differ at least this much by chance. Above 0.05, the difference shows nothing yet.

    ## Effort, on the runs that both solved

    |  | runs | turns | input | output | cost | time |
    | --- | --- | --- | --- | --- | --- | --- |
    | auto, delegation on | 1 | 0.50 | 2.00 | 1.00 | – | 1.00 |

    The figures are medians of B ÷ A: below 1, B needs less.

    ## Different results

    - \`b.on.auto.1\`: only B solved it
    "
  `);
});
