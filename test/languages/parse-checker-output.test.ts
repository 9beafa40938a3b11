import { describe, expect, it } from 'vitest';
import { parseCheckerOutput } from '../../src/languages/parse-checker-output.ts';

const PLACE = { path: '/p/src/a.ts', line: 3, column: 5, severity: 'error', code: '' };

describe('the problems in the output of a checker', () => {
  it.each([
    [
      'tsc',
      "src/a.ts(3,5): error TS2322: Type 'string' is not 'number'.",
      { ...PLACE, code: 'TS2322', message: "Type 'string' is not 'number'." },
    ],
    [
      'tsc with colors',
      '\u001b[96msrc/a.ts\u001b[0m:\u001b[93m3\u001b[0m:\u001b[93m5\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2322: \u001b[0mNo.',
      { ...PLACE, code: 'TS2322', message: 'No.' },
    ],
    ['gcc', 'src/a.ts:3:5: error: no such thing', { ...PLACE, message: 'no such thing' }],
    [
      'a warning',
      'src/a.ts:3:5: warning: unused',
      { ...PLACE, severity: 'warning', message: 'unused' },
    ],
    ['go vet', 'src/a.ts:3:5: undefined: x', { ...PLACE, message: 'undefined: x' }],
    ['mypy', 'src/a.ts:3: error: no', { ...PLACE, column: 1, message: 'no' }],
    ['ruff', 'src/a.ts:3:5: F401 unused', { ...PLACE, code: 'F401', message: 'unused' }],
    [
      'rustc',
      'error[E0308]: mismatched types\n --> src/a.ts:3:5',
      { ...PLACE, code: 'E0308', message: 'mismatched types' },
    ],
    [
      'ESLint',
      '/p/src/a.ts\n  3:5  error  Unexpected any  no-any',
      { ...PLACE, code: 'no-any', message: 'Unexpected any' },
    ],
  ])('are found in that of %s', (_, output, problem) => {
    expect(parseCheckerOutput(`checking\n${output}\n1 problem\n`, '/p')).toEqual([problem]);
  });

  it('are read without trying each blank of a long line', () => {
    const line = `  3:5  error  x${' '.repeat(1_900)}!`;
    const output = `/p/src/a.ts\n${`${line}\n`.repeat(1_000)}`;
    expect(parseCheckerOutput(output, '/p')).toHaveLength(1_000);
  });

  it('do not contain notes and other lines', () => {
    const output =
      'src/a.c:3:5: note: declared here\nhttp://x:80/\nFound 0 errors.\n12:30 started\n';
    expect(parseCheckerOutput(output, '/p')).toEqual([]);
  });
});
