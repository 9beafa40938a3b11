import type { ShellTest, ShellWord } from '../parsed-line.ts';
import {
  quoteShellWord,
  provenToRead,
  READS_NOTHING,
  explainUnknownValue,
  notProven,
} from './proof.ts';
import type { ReadOnlyVerdict } from './proof.ts';

const ABOUT_FILES: ReadonlySet<string> = new Set(
  '-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S'.split(' '),
);
const ABOUT_TEXT: ReadonlySet<string> = new Set(['-n', '-z']);
const OF_TWO_FILES: ReadonlySet<string> = new Set(['-nt', '-ot', '-ef']);
const OF_TWO_TEXTS: ReadonlySet<string> = new Set(['=', '==', '!=', '<', '>', '=~']);
/** Their operands are arithmetic in `[[ ]]`, and that can run commands. */
const OF_TWO_NUMBERS: ReadonlySet<string> = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** A comparison of `[[ ]]`. */
export function checkDoubleBracketTest({ operator, operands }: ShellTest): ReadOnlyVerdict {
  const [first, second] = operands;
  if (first === undefined) return notProven('a test lacks its operand');
  return second === undefined ? unary(operator, first) : binary(first, operator, second);
}

function unary(operator: string, operand: ShellWord): ReadOnlyVerdict {
  if (ABOUT_TEXT.has(operator)) return READS_NOTHING;
  if (ABOUT_FILES.has(operator)) return files([operand]);
  return notProven(`the test ${quoteShellWord(operator)} is not among those that surely only read`);
}

function binary(left: ShellWord, operator: string, right: ShellWord): ReadOnlyVerdict {
  if (OF_TWO_TEXTS.has(operator)) return READS_NOTHING;
  if (OF_TWO_FILES.has(operator)) return files([left, right]);
  if (!OF_TWO_NUMBERS.has(operator)) {
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

function files(words: readonly ShellWord[]): ReadOnlyVerdict {
  const unknown = words.find((word) => word.path === null);
  if (unknown !== undefined) return notProven(explainUnknownValue(unknown));
  return provenToRead(
    words.flatMap(({ path }) => (path === null ? [] : [{ path, below: 'itself' as const }])),
  );
}

/**
 * `test …` and `[ … ]`. What is an operator depends on the number of words and on what they are, so each
 * must be one word, and stand where only one reading is left: `OP WORD`, `WORD OP WORD`, and those behind
 * `!` or joined by `-a` and `-o` where every word is known.
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
      : unary(first.value, second);
  }
  if (second.value === null) return notProven(explainUnknownValue(second));
  if (others.length === 0) return binary(first, second.value, third);
  return joined(words);
}

/** Comparisons joined by `-a` and `-o`, without brackets. */
function joined(words: readonly ShellWord[]): ReadOnlyVerdict {
  const unknown = words.find((word) => word.value === null);
  if (unknown !== undefined) return notProven(explainUnknownValue(unknown));
  const setting = words.find(({ value }) => value === '-v' || value === '-R');
  if (setting !== undefined) return unary(setting.value ?? '', setting);
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
