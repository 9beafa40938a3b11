import type { ShellWord } from '../shell-parser.ts';
import { quoted, unknownValue } from './proof.ts';

/**
 * What follows an option: nothing, a value that may be attached (`--color=auto`, `-M90%`), one that may
 * also be the next word (text, a number, a path), or the next word where there is one.
 */
type ValueKind = 'none' | 'attached' | 'text' | 'number' | 'path' | 'last';

export interface OptionTable {
  readonly short: ReadonlyMap<string, ValueKind>;
  readonly long: ReadonlyMap<string, ValueKind>;
  /** Whether `-5` is an option. */
  readonly digits: boolean;
}

export interface GivenOption {
  /** With its dashes; `-5` is `-#`. */
  readonly name: string;
  readonly value: ShellWord | null;
}

export interface Arguments {
  readonly options: readonly GivenOption[];
  readonly operands: readonly ShellWord[];
  /** The operands that stand after `--`; null without one. */
  readonly afterDashes: readonly ShellWord[] | null;
  /** The values of options that name paths. */
  readonly paths: readonly ShellWord[];
}

export type ReadArguments =
  | { readonly ok: true; readonly given: Arguments }
  | { readonly ok: false; readonly because: string };

const SUFFIXES: ReadonlyMap<string, ValueKind> = new Map<string, ValueKind>([
  ['[=]', 'attached'],
  ['=?', 'last'],
  ['=', 'text'],
  ['#', 'number'],
  ['@', 'path'],
]);
const ENTRY = /^(--?)([\w.-]+?)(\[=\]|=\?|=|#|@)?$/;

/**
 * Options as the tables spell them, blanks between: `-abc` three without a value, `-n#` and `--lines#`
 * with a number, `-e=` with text, `-f@` with a path, `--color[=]` with an attached value or none,
 * `--contains=?` with the next word where there is one, `-#` for `-5`. Letters before the last of a
 * group take no value.
 */
export function optionTable(spelling: string): OptionTable {
  const short = new Map<string, ValueKind>();
  const long = new Map<string, ValueKind>();
  const entries = spelling.split(/\s+/).filter((entry) => entry !== '');
  for (const entry of entries) {
    if (entry === '-#') continue;
    const [, dashes, name, suffix = ''] = ENTRY.exec(entry) ?? [];
    if (name === undefined) throw new Error(`not an option: ${entry}`);
    const kind = SUFFIXES.get(suffix) ?? 'none';
    if (dashes === '--') {
      long.set(name, kind);
      continue;
    }
    for (const letter of name.slice(0, -1)) short.set(letter, 'none');
    short.set(name.slice(-1), kind);
  }
  return { short, long, digits: entries.includes('-#') };
}

/**
 * The words behind a program as it reads them itself: options anywhere before `--`, short ones in
 * groups. Long ones must be spelt out, since programs take beginnings of them for the whole. A word whose value
 * is unknown could be an option, so none is accepted.
 */
export function readArguments(words: readonly ShellWord[], table: OptionTable): ReadArguments {
  const options: GivenOption[] = [];
  const operands: ShellWord[] = [];
  let afterDashes: ShellWord[] | null = null;
  const waiting = words.toReversed();
  for (let word = waiting.pop(); word !== undefined; word = waiting.pop()) {
    const { value } = word;
    if (afterDashes === null && isPatternOption(word, table)) continue;
    if (value === null && word.path === null && word.form !== 'pipe') {
      return { ok: false, because: unknownValue(word) };
    }
    if (afterDashes !== null) {
      afterDashes.push(word);
    } else if (value === '--') {
      afterDashes = [];
    } else if (value === null || value === '-' || !value.startsWith('-')) {
      operands.push(word);
    } else {
      const problem = takeOption(value, { table, options, waiting });
      if (problem !== undefined) return { ok: false, because: problem };
    }
  }
  const all = [...operands, ...(afterDashes ?? [])];
  return {
    ok: true,
    given: { options, operands: all, afterDashes, paths: pathValues(options, table) },
  };
}

/**
 * `--include=*.ts`: whatever names the pattern finds, they all start with the same option, and what they
 * say besides is only text to the program.
 */
function isPatternOption({ form, text }: ShellWord, { long }: OptionTable): boolean {
  const name = form === 'glob' ? /^--([a-z-]+)=/.exec(text)?.[1] : undefined;
  return name !== undefined && long.get(name) === 'text';
}

interface OptionSink {
  readonly table: OptionTable;
  readonly options: GivenOption[];
  /** The words that follow, the next one last. */
  readonly waiting: ShellWord[];
}

function takeOption(value: string, sink: OptionSink): string | undefined {
  if (sink.table.digits && /^-\d+$/.test(value)) {
    sink.options.push({ name: '-#', value: null });
    return undefined;
  }
  return value.startsWith('--') ? takeLong(value, sink) : takeShort(value, sink);
}

function takeLong(value: string, { table, options, waiting }: OptionSink): string | undefined {
  const at = value.indexOf('=');
  const name = at < 0 ? value : value.slice(0, at);
  const kind = table.long.get(name.slice(2));
  if (kind === undefined) return unknownOption(name);
  if (at >= 0) {
    if (kind === 'none') return unknownOption(value);
    return keep({ name, value: literal(value.slice(at + 1)) }, kind, options);
  }
  if (kind === 'none' || kind === 'attached') {
    options.push({ name, value: null });
    return undefined;
  }
  return takeNext(name, kind, { options, waiting });
}

function takeShort(value: string, { table, options, waiting }: OptionSink): string | undefined {
  for (let at = 1; at < value.length; at += 1) {
    const letter = value.charAt(at);
    const name = `-${letter}`;
    const kind = table.short.get(letter);
    if (kind === undefined)
      return unknownOption(value.length === 2 ? value : `${name} in ${value}`);
    const rest = value.slice(at + 1);
    if (kind === 'none' || (kind === 'attached' && rest === '')) {
      options.push({ name, value: null });
      continue;
    }
    if (rest !== '') return keep({ name, value: literal(rest) }, kind, options);
    return takeNext(name, kind, { options, waiting });
  }
  return undefined;
}

function takeNext(
  name: string,
  kind: ValueKind,
  { options, waiting }: Pick<OptionSink, 'options' | 'waiting'>,
): string | undefined {
  const next = waiting.pop();
  if (next !== undefined) return keep({ name, value: next }, kind, options);
  if (kind !== 'last') return `${quoted(name)} lacks its value`;
  options.push({ name, value: null });
  return undefined;
}

function keep(option: GivenOption, kind: ValueKind, options: GivenOption[]): string | undefined {
  const { value } = option;
  if (value !== null && !isUsable(value, kind)) return unknownValue(value);
  if (kind === 'number' && !/^[-+]?\d+(?:\.\d+)?[A-Za-z]*$/.test(value?.value ?? '')) {
    return `${quoted(option.name)} takes a number`;
  }
  options.push(option);
  return undefined;
}

function isUsable(word: ShellWord, kind: ValueKind): boolean {
  if (kind === 'path') return word.path !== null || word.form === 'pipe';
  return word.value !== null;
}

function pathValues(options: readonly GivenOption[], { short, long }: OptionTable): ShellWord[] {
  return options.flatMap(({ name, value }) => {
    const kind = name.startsWith('--') ? long.get(name.slice(2)) : short.get(name.slice(1));
    return kind === 'path' && value !== null ? [value] : [];
  });
}

function literal(value: string): ShellWord {
  return { text: value, value, form: 'literal', path: value };
}

function unknownOption(option: string): string {
  return `${quoted(option)} is not among the options that surely only read`;
}

/** Whether any of these options, with their dashes, was given. */
export function has({ options }: Arguments, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name));
}
