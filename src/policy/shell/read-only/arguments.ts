import { createLiteralWord, type ShellWord } from '../parsed-line.ts';
import { splitOption, takesNextWord } from '../options/option-table.ts';
import type { OptionTable, ValueKind } from '../options/option-table.ts';
import { quoteShellWord, explainUnknownValue } from './proof.ts';

export interface ParsedOption {
  /** The name with its dashes; `-#` for options such as `-5`. */
  readonly name: string;
  readonly value: ShellWord | null;
}

export interface ParsedArguments {
  readonly options: readonly ParsedOption[];
  readonly operands: readonly ShellWord[];
  /** The operands after `--`, or null if there is no `--`. */
  readonly afterDashes: readonly ShellWord[] | null;
  /** The values of options that name paths. */
  readonly paths: readonly ShellWord[];
}

export type ArgumentsResult =
  | { readonly ok: true; readonly parsed: ParsedArguments }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses the words after a program like the program: options are allowed anywhere before `--`, and short options in
 * groups. Long options must be written in full, because programs differ in their handling of abbreviations. A word
 * whose value is unknown could be an option, so it is not accepted.
 */
export function parseCommandArguments(
  words: readonly ShellWord[],
  table: OptionTable,
): ArgumentsResult {
  const options: ParsedOption[] = [];
  const operands: ShellWord[] = [];
  let afterDashes: ShellWord[] | null = null;
  const waiting = words.toReversed();
  for (let word = waiting.pop(); word !== undefined; word = waiting.pop()) {
    const { value } = word;
    if (afterDashes === null && isPatternOption(word, table)) continue;
    if (value === null && word.path === null && word.form !== 'pipe') {
      return { ok: false, reason: explainUnknownValue(word) };
    }
    if (afterDashes !== null) {
      afterDashes.push(word);
    } else if (value === '--') {
      afterDashes = [];
    } else if (value === null || value === '-' || !value.startsWith('-')) {
      operands.push(word);
    } else {
      const problem = takeOption(value, { table, options, waiting });
      if (problem !== undefined) return { ok: false, reason: problem };
    }
  }
  const all = [...operands, ...(afterDashes ?? [])];
  return {
    ok: true,
    parsed: { options, operands: all, afterDashes, paths: listPathValues(options, table) },
  };
}

/**
 * Tells whether a word is an option with a glob such as `--include=*.ts`. All words that the shell may put in its place
 * are the same option with another value, and the value is only text for the program.
 */
function isPatternOption({ form, text }: ShellWord, { long }: OptionTable): boolean {
  const name = form === 'glob' ? /^--([a-z-]+)=/.exec(text)?.[1] : undefined;
  return name !== undefined && long.get(name) === 'text';
}

interface OptionSink {
  readonly table: OptionTable;
  readonly options: ParsedOption[];
  /** The words that follow, in reverse order. */
  readonly waiting: ShellWord[];
}

function takeOption(value: string, { table, options, waiting }: OptionSink): string | undefined {
  const option = splitOption(value, table);
  if (!option.isKnown) return explainUnknownOption(option.description);
  const { flags, name, kind, attachedValue } = option;
  options.push(...flags.map((flag) => ({ name: flag, value: null })));
  if (attachedValue !== null)
    return addOption({ name, value: createLiteralWord(attachedValue) }, kind, options);
  if (takesNextWord(option)) return takeNextWord(name, kind, { options, waiting });
  options.push({ name, value: null });
  return undefined;
}

function takeNextWord(
  name: string,
  kind: ValueKind,
  { options, waiting }: Pick<OptionSink, 'options' | 'waiting'>,
): string | undefined {
  const next = waiting.pop();
  if (next !== undefined) return addOption({ name, value: next }, kind, options);
  if (kind !== 'optional') return `${quoteShellWord(name)} lacks its value`;
  options.push({ name, value: null });
  return undefined;
}

function addOption(
  option: ParsedOption,
  kind: ValueKind,
  options: ParsedOption[],
): string | undefined {
  const { value } = option;
  if (value !== null && !isUsable(value, kind)) return explainUnknownValue(value);
  if (kind === 'number' && !/^[-+]?\d+(?:\.\d+)?[A-Za-z]*$/.test(value?.value ?? '')) {
    return `${quoteShellWord(option.name)} takes a number`;
  }
  options.push(option);
  return undefined;
}

function isUsable(word: ShellWord, kind: ValueKind): boolean {
  if (kind === 'path') return word.path !== null || word.form === 'pipe';
  return word.value !== null;
}

function listPathValues(
  options: readonly ParsedOption[],
  { short, long }: OptionTable,
): ShellWord[] {
  return options.flatMap(({ name, value }) => {
    const kind = name.startsWith('--') ? long.get(name.slice(2)) : short.get(name.slice(1));
    return kind === 'path' && value !== null ? [value] : [];
  });
}

function explainUnknownOption(option: string): string {
  return `${quoteShellWord(option)} is not among the options that surely only read`;
}

/** Tells whether the arguments contain one of these options. `names` include the dashes. */
export function hasOption({ options }: ParsedArguments, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name));
}
