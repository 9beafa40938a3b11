import type { ShellTest, ShellWord } from '../parsed-line.ts';
import {
  explainUnknownValue,
  notProven,
  provenToRead,
  quoteShellWord,
  READS_NOTHING,
} from './proof.ts';
import type { CommandRead, ReadOnlyVerdict } from './proof.ts';

/**
 * Checks echo, which only prints its arguments. Words with globs are not accepted, because they would show file names.
 */
export function checkEcho(words: readonly ShellWord[]): ReadOnlyVerdict {
  const unknown = words.find((word) => word.form === 'open' || word.form === 'glob');
  return unknown === undefined ? READS_NOTHING : notProven(explainUnknownValue(unknown));
}

/** Matches a format without `%n`, which sets a variable, and without `*`, which takes a width from the operands. */
const PLAIN_FORMAT = /^(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d+)?(?:[diouxXeEfFgGscbq]|\([^()]*\)T))*$/;

export function checkPrintf([format, ...words]: readonly ShellWord[]): ReadOnlyVerdict {
  if (format === undefined) return READS_NOTHING;
  if (format.value === null) return notProven(explainUnknownValue(format));
  if (format.value.startsWith('-'))
    return notProven(`${quoteShellWord(format.value)} may set a variable`);
  if (!PLAIN_FORMAT.test(format.value)) {
    return notProven(
      `the format ${quoteShellWord(format.value)} does more than print its operands`,
    );
  }
  return checkEcho(words);
}

/** Checks `command -v NAME`. Without the option, `command` runs NAME. */
export function checkCommandBuiltin([option, ...names]: readonly ShellWord[]): ReadOnlyVerdict {
  if (option?.value !== '-v' && option?.value !== '-V') {
    return notProven('`command` only reads with -v or -V');
  }
  return checkNames(names);
}

/** Checks `type -a NAME`. */
export function checkType(words: readonly ShellWord[]): ReadOnlyVerdict {
  return checkNames(/^-[aftpP]+$/.test(words[0]?.value ?? '') ? words.slice(1) : words);
}

function checkNames(names: readonly ShellWord[]): ReadOnlyVerdict {
  const odd = names.find((word) => !/^[\w.+][\w.+-]*$/.test(word.value ?? ''));
  return odd === undefined
    ? READS_NOTHING
    : notProven(`${quoteShellWord(odd.text)} is no plain name`);
}

const PS_BSD = /^-?[auxfwl]+$/;
const PS_UNIX = /^-(?:A|e[fFlyw]*)$/;
const PS_VALUED = /^-e?[pCo]$/;
const PS_LONG = /^--(?:no-headers|sort=[-+\w%,]+)$/;

/**
 * Checks ps. A BSD-style `e` shows the environment of processes. If styles are mixed, ps may parse words of one style
 * as words of the other style, so mixed styles are not accepted.
 */
export function checkPs(words: readonly ShellWord[]): ReadOnlyVerdict {
  const styles = new Set<'bsd' | 'unix'>();
  const waiting = words.toReversed();
  for (let word = waiting.pop(); word !== undefined; word = waiting.pop()) {
    const value = word.value ?? '';
    if (PS_VALUED.test(value)) {
      const operand = waiting.pop();
      if (!/^[\w,%=]+$/.test(operand?.value ?? '')) return rejectPsWord(operand ?? word);
      if (value.startsWith('-e')) styles.add('unix');
    } else if (PS_BSD.test(value)) styles.add('bsd');
    else if (PS_UNIX.test(value)) styles.add('unix');
    else if (!PS_LONG.test(value)) return rejectPsWord(word);
  }
  const last = words.at(-1);
  return styles.size > 1 && last !== undefined ? rejectPsWord(last) : READS_NOTHING;
}

function rejectPsWord({ text }: ShellWord): ReadOnlyVerdict {
  return notProven(`with ${quoteShellWord(text)} ps may show the environment of processes`);
}

/** Tests and actions of find without a value. */
const FIND_WITHOUT_VALUE: ReadonlySet<string> = new Set(
  [
    '-print -print0 -ls -depth -d -mount -xdev -noleaf -empty -executable -readable -writable',
    '-nouser -nogroup -true -false -prune -quit -not -a -and -o -or -daystart ! ( ) ,',
  ].flatMap((names) => names.split(' ')),
);

/** Tests of find that are followed by a text. */
const FIND_WITH_TEXT: ReadonlySet<string> = new Set(
  [
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname',
    '-type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -perm -user',
    '-group -uid -gid -links -inum -fstype -printf -newermt -newerct -newerat',
  ].flatMap((names) => names.split(' ')),
);

/** Tests of find that are followed by a path. */
const FIND_WITH_PATH: ReadonlySet<string> = new Set(['-newer', '-anewer', '-cnewer', '-samefile']);

/** Checks find. The paths come first, and then tests and actions, each of which is one word. */
export function checkFind(words: readonly ShellWord[]): ReadOnlyVerdict {
  const waiting = words.toReversed();
  // By default find follows no links.
  if (waiting.at(-1)?.value === '-P') waiting.pop();
  const starts: CommandRead[] = [];
  for (let word = waiting.at(-1); word !== undefined; word = waiting.at(-1)) {
    if (word.path === null) return notProven(explainUnknownValue(word));
    if (word.value !== null && /^[-(),!]/.test(word.value)) break;
    starts.push({ path: word.path, below: 'names' });
    waiting.pop();
  }
  const compared: CommandRead[] = [];
  for (let word = waiting.pop(); word !== undefined; word = waiting.pop()) {
    const { value } = word;
    if (value === null) return notProven(explainUnknownValue(word));
    if (FIND_WITHOUT_VALUE.has(value)) continue;
    const isPath = FIND_WITH_PATH.has(value);
    if (!isPath && !FIND_WITH_TEXT.has(value)) {
      return notProven(
        `${quoteShellWord(value)} of find is not among the parts that surely only read`,
      );
    }
    const operand = waiting.pop();
    if (operand === undefined) return notProven(`${quoteShellWord(value)} lacks its value`);
    if (isPath && operand.path !== null) compared.push({ path: operand.path, below: 'itself' });
    else if (operand.value === null) return notProven(explainUnknownValue(operand));
  }
  const here: readonly CommandRead[] = [{ path: '.', below: 'names' }];
  return provenToRead([...(starts.length === 0 ? here : starts), ...compared]);
}

const FILE_TESTS: ReadonlySet<string> = new Set(
  '-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S'.split(' '),
);
const TEXT_TESTS: ReadonlySet<string> = new Set(['-n', '-z']);
const FILE_COMPARISONS: ReadonlySet<string> = new Set(['-nt', '-ot', '-ef']);
const TEXT_COMPARISONS: ReadonlySet<string> = new Set(['=', '==', '!=', '<', '>', '=~']);
/** Comparisons of numbers. In `[[ ]]` their operands are arithmetic, which can run commands. */
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
 * Checks `test …` and `[ … ]`. The number of words and their values determine which words are operators. So each
 * argument must be exactly one word, and only unambiguous forms are accepted: `OP WORD`, `WORD OP WORD`, these forms
 * after `!`, and these forms joined by `-a` and `-o` if the value of every word is known.
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
