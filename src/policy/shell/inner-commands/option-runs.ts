import { isOption, parseOptionTable, splitOption, takesNextWord } from '../options/option-table.ts';
import type { OptionTable } from '../options/option-table.ts';
import type { ShellParser, ShellWord } from '../parsed-line.ts';
import {
  parseCodeRun,
  createLiteralWord,
  canBeOption,
  createOpenRun,
  parseScriptRun,
} from './inner-run.ts';
import { EXECUTING_OPTIONS, type ExecutingOptions } from './executing-options.ts';
import type { InnerRun } from './inner-run.ts';

/** Removes the version from the name of a program: `python3.12` is python. A name of digits and dots only stays. */
export function removeVersion(program: string): string {
  return EXECUTING_OPTIONS.has(program) ? program : program.replace(/(?<=[A-Za-z])[\d.]+$/, '');
}

export function hasExecutingOptions(program: string): boolean {
  return EXECUTING_OPTIONS.has(removeVersion(program));
}

/** Finds the commands that a program runs because of its options. */
export function findOptionRuns(
  program: string,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly InnerRun[] {
  return (EXECUTING_OPTIONS.get(removeVersion(program)) ?? []).flatMap((each) =>
    runsByOptions(each, words, parser),
  );
}

function runsByOptions(
  program: ExecutingOptions,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly InnerRun[] {
  const { end, isBare } =
    program.options === undefined
      ? { end: words.length, isBare: false }
      : optionsEnd(words, parseOptionTable(program.options), program);
  const runs = words.slice(0, end).flatMap((word, at) => {
    if (word.value === null) return canBeOption(word) ? [createOpenRun(at)] : [];
    if (at === 0 && isOldOptionBundle(word.value, program)) return [createOpenRun(at)];
    const found = findOptionValue(word.value, program);
    if (found === undefined) return [];
    const value = found === '' ? words[at + 1] : createLiteralWord(found);
    return valueRun(program, { at, value, parser });
  });
  const stdin = program.readsStdin === true && isBare ? [createOpenRun(words.length)] : [];
  return [...runs, ...stdin];
}

function valueRun(
  { value: kind, only }: ExecutingOptions,
  {
    at,
    value,
    parser,
  }: { readonly at: number; readonly value: ShellWord | undefined; readonly parser: ShellParser },
): readonly InnerRun[] {
  if (kind === 'code') {
    const isOther =
      only !== undefined && typeof value?.value === 'string' && !only.test(value.value);
    return isOther ? [] : [parseCodeRun(at, value, parser)];
  }
  if (value === undefined || value.value === null) return [createOpenRun(at)];
  const text = only === undefined ? value.value : only.exec(value.value)?.[1];
  return text === undefined ? [] : [parseScriptRun(at, [createLiteralWord(text)], parser)];
}

/** Tells whether a word consists of option letters without a dash, whose values follow in order: `tar cIf PROGRAM FILE`. */
function isOldOptionBundle(word: string, { executing, hasOldBundles }: ExecutingOptions): boolean {
  const letters = hasOldBundles === true && /^[A-Za-z]+$/.test(word) ? word : '';
  return executing.some((option) => option.length === 2 && letters.includes(option.charAt(1)));
}

/** Finds the value that a word gives to an executing option; empty if the value is the next word. Undefined: the word is no such option. */
function findOptionValue(word: string, { executing }: ExecutingOptions): string | undefined {
  for (const option of executing) {
    if (option === '+' && word.startsWith('+')) return word.slice(1) || ' ';
    if (word === option) return '';
    if (option.startsWith('--')) {
      const [name = '', ...value] = word.split('=');
      // Programs accept the first letters of a long option.
      const isMatch = name.length > 3 && option.startsWith(name);
      if (isMatch) return value.join('=');
    } else if (option.length === 2 && /^-[A-Za-z]/.test(word)) {
      const at = word.indexOf(option.charAt(1), 1);
      if (at > 0 && !/=/.test(word.slice(0, at))) return word.slice(at + 1);
    } else if (option.length > 2) {
      // Long options with one dash, such as those of go, can also be written with two.
      const plain = word.startsWith('--') ? word.slice(1) : word;
      if (plain === option) return '';
      if (plain.startsWith(`${option}=`)) return plain.slice(option.length + 1);
    }
  }
  return undefined;
}

/** Options with which a program without an operand does not run its standard input. */
const SUFFICIENT_OPTION = /^(?:-[vVh]|--version|--help|--test)$/;

/**
 * Finds the index at which the options end: at the first operand, if each word before it is understood. `isBare`: there
 * is no operand, so the program runs its standard input.
 */
function optionsEnd(
  words: readonly ShellWord[],
  table: OptionTable,
  { executing }: ExecutingOptions,
): { readonly end: number; readonly isBare: boolean } {
  let at = 0;
  let isBare = true;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return { end: canBeOption(word) ? words.length : at, isBare: false };
    if (!isOption(value) || value === '--') return { end: at, isBare: isBare && value === '-' };
    const option = splitOption(value, table);
    if (!option.isKnown) return { end: words.length, isBare: false };
    const { flags, name } = option;
    if (name === '-m' && takesNextWord({ ...option, attached: null })) {
      return { end: at, isBare: false };
    }
    isBare &&= ![...flags, name].some(
      (each) => executing.includes(each) || SUFFICIENT_OPTION.test(each),
    );
    at += takesNextWord(option) ? 2 : 1;
  }
  return { end: at, isBare };
}
