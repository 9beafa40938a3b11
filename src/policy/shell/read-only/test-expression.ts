import type { ShellTest, ShellWord } from '../parsed-line.ts';
import {
  quoteShellWord,
  provenToRead,
  READS_NOTHING,
  explainUnknownValue,
  notProven,
} from './proof.ts';
import type { ReadOnlyVerdict } from './proof.ts';

const FILE_TESTS: ReadonlySet<string> = new Set(
  '-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S'.split(' '),
);
const TEXT_TESTS: ReadonlySet<string> = new Set(['-n', '-z']);
const FILE_COMPARISONS: ReadonlySet<string> = new Set(['-nt', '-ot', '-ef']);
const TEXT_COMPARISONS: ReadonlySet<string> = new Set(['=', '==', '!=', '<', '>', '=~']);
/** In `[[ ]]` the operands of these are arithmetic, which can run commands. */
const NUMBER_COMPARISONS: ReadonlySet<string> = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** Checks a test inside `[[ ]]`. */
export function checkDoubleBracketTest({ operator, operands }: ShellTest): ReadOnlyVerdict {
  const [first, second] = operands;
  if (first === undefined) return notProven('a test lacks its operand');
  return second === undefined ? checkUnary(operator, first) : checkBinary(first, operator, second);
}

function checkUnary(operator: string, operand: ShellWord): ReadOnlyVerdict {
  if (TEXT_TESTS.has(operator)) return READS_NOTHING;
  if (FILE_TESTS.has(operator)) return checkFiles([operand]);
  return notProven(`the test ${quoteShellWord(operator)} is not among those that surely only read`);
}

function checkBinary(left: ShellWord, operator: string, right: ShellWord): ReadOnlyVerdict {
  if (TEXT_COMPARISONS.has(operator)) return READS_NOTHING;
  if (FILE_COMPARISONS.has(operator)) return checkFiles([left, right]);
  if (!NUMBER_COMPARISONS.has(operator)) {
    return notProven(
      `the test ${quoteShellWord(operator)} is not among those that surely only read`,
    );
  }
  const odd = [left, right].find((word) => !isNumber(word));
  return odd === undefined
    ? READS_NOTHING
    : notProven(`${quoteShellWord(odd.text)} is no plain number`);
}

function isNumber({ text, value }: ShellWord): boolean {
  return /^-?\d+$/.test(value ?? '') || /^"?\$[?#]"?$/.test(text);
}

function checkFiles(words: readonly ShellWord[]): ReadOnlyVerdict {
  const unknown = words.find((word) => word.path === null);
  if (unknown !== undefined) return notProven(explainUnknownValue(unknown));
  return provenToRead(
    words.flatMap(({ path }) => (path === null ? [] : [{ path, below: 'itself' as const }])),
  );
}

/**
 * Checks `test …` and `[ … ]`. The number of words and their values determine which of them are operators. So each
 * argument must be exactly one word, and only forms with a single reading are accepted: `OP WORD`, `WORD OP WORD`, these
 * after `!`, and these joined by `-a` and `-o` if every word is known.
 */
export function checkTestCommand(words: readonly ShellWord[]): ReadOnlyVerdict {
  const open = words.find((word) => word.form === 'open' || word.form === 'glob');
  if (open !== undefined) return notProven(explainUnknownValue(open));
  const [first, second, third, ...others] = words;
  if (first === undefined) return READS_NOTHING;
  if (first.value === '!' && words.length > 1) return checkTestCommand(words.slice(1));
  if (second === undefined) return READS_NOTHING;
  if (third === undefined) {
    return first.value === null
      ? notProven(explainUnknownValue(first))
      : checkUnary(first.value, second);
  }
  if (second.value === null) return notProven(explainUnknownValue(second));
  if (others.length === 0) return checkBinary(first, second.value, third);
  return checkJoined(words);
}

/** Checks comparisons that are joined by `-a` and `-o`, without brackets. */
function checkJoined(words: readonly ShellWord[]): ReadOnlyVerdict {
  const unknown = words.find((word) => word.value === null);
  if (unknown !== undefined) return notProven(explainUnknownValue(unknown));
  const setting = words.find(({ value }) => value === '-v' || value === '-R');
  if (setting !== undefined) return checkUnary(setting.value ?? '', setting);
  const parts: ShellWord[][] = [[]];
  for (const word of words) {
    if (word.value === '-a' || word.value === '-o') parts.push([]);
    else parts.at(-1)?.push(word);
  }
  const verdicts = parts.map((part) =>
    part.length === 0 || part.length > 3
      ? notProven('it is not known how it reads so many words')
      : checkTestCommand(part),
  );
  const failed = verdicts.find((verdict) => !verdict.ok);
  if (failed !== undefined) return failed;
  return provenToRead(verdicts.flatMap((verdict) => (verdict.ok ? verdict.reads : [])));
}
