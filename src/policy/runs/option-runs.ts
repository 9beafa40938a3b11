import { isOption, optionTable, splitOption, takesNextWord } from '../options/option-table.ts';
import type { OptionTable } from '../options/option-table.ts';
import { lazy } from '../../base/lazy.ts';
import type { ShellParser, ShellWord } from '../shell-parser.ts';
import { codeRun, literalWord, mayBeOption, openRun, scriptRun } from './told-run.ts';
import { TELLING_PROGRAMS } from './telling-programs.ts';
import type { TellingProgram } from './telling-programs.ts';
import type { ToldRun } from './told-run.ts';

const TABLES = lazy(
  () =>
    new Map(
      [...TELLING_PROGRAMS.values()]
        .flat()
        .flatMap((each) =>
          each.options === undefined ? [] : [[each, optionTable(each.options)] as const],
        ),
    ),
);

/** `python3.12` is python. A name of digits and dots alone is its own. */
export function plainName(program: string): string {
  return TELLING_PROGRAMS.has(program) ? program : program.replace(/(?<=[A-Za-z])[\d.]+$/, '');
}

export function isTelling(program: string): boolean {
  return TELLING_PROGRAMS.has(plainName(program));
}

/** Finds the commands that a program's options tell it to run. */
export function optionRuns(
  program: string,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly ToldRun[] {
  return (TELLING_PROGRAMS.get(plainName(program)) ?? []).flatMap((each) =>
    runsByOptions(each, words, parser),
  );
}

function runsByOptions(
  program: TellingProgram,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly ToldRun[] {
  const table = TABLES().get(program);
  const { end, isBare } =
    table === undefined ? { end: words.length, isBare: false } : optionsEnd(words, table, program);
  const runs = words.slice(0, end).flatMap((word, at) => {
    if (word.value === null) return mayBeOption(word) ? [openRun(at)] : [];
    if (at === 0 && isOldBundle(word.value, program)) return [openRun(at)];
    const found = toldBy(word.value, program);
    if (found === undefined) return [];
    const value = found === '' ? words[at + 1] : literalWord(found);
    return valueRun(program, { at, value, parser });
  });
  const stdin = program.readsStdin === true && isBare ? [openRun(words.length)] : [];
  return [...runs, ...stdin];
}

function valueRun(
  { value: kind, only }: TellingProgram,
  {
    at,
    value,
    parser,
  }: { readonly at: number; readonly value: ShellWord | undefined; readonly parser: ShellParser },
): readonly ToldRun[] {
  if (kind === 'code') {
    const isOther =
      only !== undefined && typeof value?.value === 'string' && !only.test(value.value);
    return isOther ? [] : [codeRun(at, value, parser)];
  }
  if (value === undefined || value.value === null) return [openRun(at)];
  const text = only === undefined ? value.value : only.exec(value.value)?.[1];
  return text === undefined ? [] : [scriptRun(at, [literalWord(text)], parser)];
}

/** `tar cIf PROGRAM FILE`: options without a dash, whose values follow in order. */
function isOldBundle(word: string, { tells, hasOldBundles }: TellingProgram): boolean {
  const letters = hasOldBundles === true && /^[A-Za-z]+$/.test(word) ? word : '';
  return tells.some((option) => option.length === 2 && letters.includes(option.charAt(1)));
}

/** The value that a word gives to a telling option, empty where it is the next word; undefined: it is none of them. */
function toldBy(word: string, { tells }: TellingProgram): string | undefined {
  for (const option of tells) {
    if (option === '+' && word.startsWith('+')) return word.slice(1) || ' ';
    if (word === option) return '';
    if (option.startsWith('--')) {
      const [name = '', ...value] = word.split('=');
      // Programs take the first letters of a long option for the whole.
      const isMeant = name.length > 3 && option.startsWith(name);
      if (isMeant) return value.join('=');
    } else if (option.length === 2 && /^-[A-Za-z]/.test(word)) {
      const at = word.indexOf(option.charAt(1), 1);
      if (at > 0 && !/=/.test(word.slice(0, at))) return word.slice(at + 1);
    } else if (option.length > 2) {
      // Long options with one dash, as those of go, may have two.
      const plain = word.startsWith('--') ? word.slice(1) : word;
      if (plain === option) return '';
      if (plain.startsWith(`${option}=`)) return plain.slice(option.length + 1);
    }
  }
  return undefined;
}

/** Options with which a program does not read code from stdin, though it has no operand. */
const IS_ENOUGH = /^(?:-[vVh]|--version|--help|--test)$/;

/**
 * Where the options end: with the first operand, where each word before it is understood. `isBare`: there is none, so
 * that the program reads from stdin.
 */
function optionsEnd(
  words: readonly ShellWord[],
  table: OptionTable,
  { tells }: TellingProgram,
): { readonly end: number; readonly isBare: boolean } {
  let at = 0;
  let isBare = true;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return { end: mayBeOption(word) ? words.length : at, isBare: false };
    if (!isOption(value) || value === '--') return { end: at, isBare: isBare && value === '-' };
    const option = splitOption(value, table);
    if (!option.isKnown) return { end: words.length, isBare: false };
    const { flags, name } = option;
    if (name === '-m' && takesNextWord({ ...option, attached: null })) {
      return { end: at, isBare: false };
    }
    isBare &&= ![...flags, name].some((each) => tells.includes(each) || IS_ENOUGH.test(each));
    at += takesNextWord(option) ? 2 : 1;
  }
  return { end: at, isBare };
}
