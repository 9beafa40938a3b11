import type { ShellWord, SimpleCommand } from '../parsed-line.ts';
import {
  isNeutralOption,
  findLeadingOptionTable,
  readLeadingOptions,
  normalizeOption,
} from './leading-options.ts';
import { isOption, canBeSeveralWords, countOptionWords } from './option-table.ts';
import { SUBCOMMAND_PROGRAMS } from './subcommand-programs.ts';

/**
 * A command without the options before its subcommand, where each of them leaves its effect as it is; undefined
 * where there are none, or others.
 */
export function removeNeutralOptions(command: SimpleCommand): SimpleCommand | undefined {
  const [program, ...rest] = command.words;
  if (program === undefined || program.value === null) return undefined;
  const name = program.value;
  const { options, at } = readLeadingOptions(name, rest);
  const subcommand = rest[at];
  if (at === 0 || subcommand === undefined) return undefined;
  if (subcommand.value === null || isOption(subcommand.value)) return undefined;
  if (!options.every((option) => isNeutralOption(name, option))) return undefined;
  return { ...command, words: [program, ...rest.slice(at)] };
}

/** How a list of words has to be met: by the whole command, or with anything behind them. */
export interface ExpectedWords {
  /** The words that follow the program. */
  readonly words: readonly string[];
  readonly isComplete: boolean;
}

/**
 * Whether a command could be the one that these words name, whatever options stand before and between them. An
 * option that is not known may take the next word as its value, or any number of words, so that every later
 * word could be the one that is named. From the first word on that is not known, everything is possible.
 *
 * @param program the name by which the options are looked up
 * @param given the words behind the program
 */
export function couldMatchWords(
  program: string,
  given: Pick<SimpleCommand, 'words' | 'isOpenEnded'>,
  expected: ExpectedWords,
): boolean {
  const { words, isOpenEnded } = given;
  let starts: readonly number[] = [0];
  for (const [level, name] of expected.words.entries()) {
    const places = findPositionsFrom(starts, words, [program, ...expected.words.slice(0, level)]);
    const isOpen = (place: number): boolean => {
      const word = words[place];
      return word === undefined ? isOpenEnded : word.value === null;
    };
    if (places.some(isOpen)) return true;
    starts = places.filter((place) => words[place]?.value === name).map((place) => place + 1);
    if (starts.length === 0) return false;
  }
  if (!expected.isComplete || isOpenEnded) return true;
  return starts.some((start) => words[start] === undefined || words[start].value === null);
}

/**
 * Where the words of a subcommand end, among the words behind the program: in each way that is possible. `isSure`:
 * it is this subcommand, and there is no other way.
 */
export function findSubcommandEnds(
  program: string,
  words: readonly ShellWord[],
  subcommand: readonly string[],
): { readonly ends: readonly number[]; readonly isSure: boolean } {
  let ends: readonly number[] = [0];
  let sureEnd: number | undefined = 0;
  for (const [level, name] of subcommand.entries()) {
    const before = [program, ...subcommand.slice(0, level)];
    const places = findPositionsFrom(ends, words, before);
    const isMeant = (place: number): boolean => words[place]?.value === name;
    if (sureEnd !== undefined) {
      const { at } = readLeadingOptions(before.join(' '), words.slice(sureEnd));
      sureEnd = isMeant(sureEnd + at) ? sureEnd + at + 1 : undefined;
    }
    const isUnknown = (place: number): boolean => words[place]?.value === null;
    ends = places.filter((each) => isMeant(each) || isUnknown(each)).map((each) => each + 1);
  }
  return { ends, isSure: ends.length === 1 && ends[0] === sureEnd };
}

/** Every place at which the subcommand of a command could stand, among the words behind the program. */
export function findSubcommandPositions(
  program: string,
  words: readonly ShellWord[],
): readonly number[] {
  return findPositionsFrom([0], words, [program]);
}

/**
 * The places that can be reached from some by passing over options, the number of words included.
 *
 * @param before whose options these are: a program, perhaps with its subcommand
 */
function findPositionsFrom(
  starts: readonly number[],
  words: readonly ShellWord[],
  before: readonly string[],
): readonly number[] {
  const program = before.join(' ');
  const places = new Set<number>();
  const waiting = [...starts];
  let allFrom = words.length + 1;
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (places.has(place) || place >= allFrom) continue;
    places.add(place);
    const next = skipOption(place, words, program);
    if (next === 'unknown') allFrom = place + 1;
    else waiting.push(...next);
  }
  for (let place = allFrom; place <= words.length; place += 1) places.add(place);
  return [...places];
}

function skipOption(
  place: number,
  words: readonly ShellWord[],
  program: string,
): readonly number[] | 'unknown' {
  const value = words[place]?.value;
  if (value === undefined || value === null) return [];
  const known = SUBCOMMAND_PROGRAMS.get(program);
  if (!isOption(value)) {
    const isPassed =
      known?.everyOperand === true || (known?.toolchain === true && value.startsWith('+'));
    return isPassed ? [place + 1] : [];
  }
  if (value === '--') return [place + 1];
  const table = findLeadingOptionTable(program);
  if (table === undefined) return 'unknown';
  const length = countOptionWords(normalizeOption(program, value), table);
  if (length === undefined) return 'unknown';
  const operand = words[place + 1];
  if (length === 2) {
    // A value that is not known may be no word, or several.
    return operand !== undefined && canBeSeveralWords(operand) ? 'unknown' : [place + 2];
  }
  // Some programs take `--json false` for an option with its value.
  return /^(?:true|false|null)$/.test(operand?.value ?? '') ? [place + 1, place + 2] : [place + 1];
}
