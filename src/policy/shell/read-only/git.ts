import type { ShellWord } from '../parsed-line.ts';
import { isNeutralOption, readLeadingOptions } from '../options/leading-options.ts';
import { parseOptionTable } from '../options/option-table.ts';
import type { OptionTable } from '../options/option-table.ts';
import { hasOption, parseCommandArguments } from './arguments.ts';
import type { CommandArguments } from './arguments.ts';
import { GIT_SUBCOMMANDS } from './git-subcommands.ts';
import type { GitSubcommandRule } from './git-subcommands.ts';
import { quoteShellWord, moveReadTo, explainUnknownValue, notProven } from './proof.ts';
import type { CommandRead, ReadOnlyVerdict } from './proof.ts';

const TABLES = new Map<string, OptionTable>();

/**
 * A git command, in an environment that keeps it from running what the repository's own configuration
 * names.
 */
export function checkGit(words: readonly ShellWord[]): ReadOnlyVerdict {
  const start = subcommandAt(words);
  if (typeof start === 'string') return notProven(start);
  const { at, directory } = start;
  const name = words[at]?.value;
  if (name === '--version') return judgeSubcommand('version', [], directory);
  if (name === undefined || name === null) return notProven('git lacks its subcommand');
  return judgeSubcommand(name, words.slice(at + 1), directory);
}

interface Subcommand {
  readonly at: number;
  /** Where `-C` leads. */
  readonly directory: string | null;
}

/** Options that change which repository, configuration or program is used are not proved, but for one `-C`. */
function subcommandAt(words: readonly ShellWord[]): Subcommand | string {
  const { options, at } = readLeadingOptions('git', words);
  const version = options.findIndex(({ name }) => name === '--version');
  const before = version < 0 ? options : options.slice(0, version);
  const directories = before.filter(({ name }) => name === '-C');
  const odd = before.find(
    (option) => option.name === '-c' || (option.name !== '-C' && !isNeutralOption('git', option)),
  );
  const rejected = odd ?? directories[1];
  if (rejected !== undefined) {
    return `${quoteShellWord(rejected.word.text)} of git is not among the options that surely only read`;
  }
  const directory = directories[0] === undefined ? null : (directories[0].value?.path ?? undefined);
  if (directory === undefined) return '-C needs a plain path';
  const subcommand = options[version]?.index ?? at;
  const first = words[subcommand];
  if (first === undefined) return 'git lacks its subcommand';
  if (version < 0 && first.value?.startsWith('-') === true) {
    return `${quoteShellWord(first.text)} of git is not among the options that surely only read`;
  }
  return { at: subcommand, directory };
}

function judgeSubcommand(
  name: string,
  words: readonly ShellWord[],
  directory: string | null,
): ReadOnlyVerdict {
  const rule = GIT_SUBCOMMANDS.get(name);
  if (rule === undefined) {
    return notProven(
      `${quoteShellWord(`git ${name}`)} is not among the commands that surely only read`,
    );
  }
  const rest = behindVerb(rule, words);
  if (rest === undefined)
    return notProven(`only ${quoteShellWord(`git ${name} ${rule.verbs?.[0] ?? ''}`)} surely reads`);
  const table = TABLES.get(name) ?? parseOptionTable(rule.options);
  TABLES.set(name, table);
  const read = parseCommandArguments(rest, table);
  if (!read.ok) return notProven(read.because);
  const problem = oddFormat(read.parsed) ?? oddOperand(rule, read.parsed);
  if (problem !== undefined) return notProven(problem);
  const where = directory ?? '.';
  return {
    ok: true,
    reads: readsOf(rule, read.parsed).map((each) => moveReadTo(where, each)),
    repository: where,
  };
}

function behindVerb(
  { verbs }: GitSubcommandRule,
  words: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  if (verbs === undefined) return words;
  const first = words[0]?.value;
  if (typeof first === 'string' && verbs.includes(first)) return words.slice(1);
  // A bare `git reflog` shows; a bare `git stash` does not list.
  const isBare = typeof first !== 'string' || first.startsWith('-');
  return isBare && verbs.includes('show') ? words : undefined;
}

/** Formats that check signatures run a program that the configuration names. */
function oddFormat({ options }: CommandArguments): string | undefined {
  const odd = options.find(
    ({ name, value }) =>
      (name === '--format' || name === '--pretty' || name === '--sort') &&
      /%G|signature/i.test(value?.value ?? ''),
  );
  return odd === undefined ? undefined : 'a format that checks signatures runs another program';
}

function oddOperand({ operands }: GitSubcommandRule, given: CommandArguments): string | undefined {
  const first = given.operands[0];
  if (first === undefined) return undefined;
  const pipe = given.operands.find((word) => word.path === null);
  if (pipe !== undefined) return explainUnknownValue(pipe);
  if (operands === 'none')
    return `it is not known what git does with ${quoteShellWord(first.text)}`;
  if (operands === 'listed' && !hasOption(given, '-l', '--list')) {
    return `without --list git would create ${quoteShellWord(first.text)}`;
  }
  const magic = given.operands.find(
    ({ value }) => value !== null && /^:(?![!^]|\(exclude\))/.test(value),
  );
  return magic === undefined || operands === 'text'
    ? undefined
    : `it is not known which paths ${quoteShellWord(magic.text)} stands for`;
}

/** Everything that git keeps and the user's paths do not narrow. */
const WHOLE: CommandRead = { path: '.', below: 'tracked', topOf: '.' };

function readsOf(rule: GitSubcommandRule, given: CommandArguments): readonly CommandRead[] {
  const showsContents = doesShow(rule, given);
  const operands =
    rule.pattern === true && !hasOption(given, '-e') ? given.operands.slice(1) : given.operands;
  const ranges = given.options.flatMap(({ name, value }) =>
    name === '-L' ? rangePath(value) : [],
  );
  if (rule.operands !== 'revisions' && rule.operands !== 'paths') {
    return showsContents ? [WHOLE] : [{ path: '.', below: 'itself' }];
  }
  const below = showsContents ? 'tracked' : 'itself';
  const isNarrowed = given.afterDashes?.some((word) => !isExclusion(word)) === true;
  const named = operands.flatMap((word) => pathsNamed(word, below));
  const isWhole = showsContents && !isNarrowed && !namesContents(operands);
  return [isWhole ? WHOLE : { path: '.', below: 'itself' }, ...ranges, ...named];
}

/** An object by its number, which may be the tree of any directory: then it is not told what `:name` is. */
const NUMBER = /^[0-9a-f]{4,64}$/i;

/** `HEAD:src/a.ts` shows that file and nothing else. */
function namesContents(operands: readonly ShellWord[]): boolean {
  const revisions = operands.map(({ value }) => /^([^:]+):./.exec(value ?? '')?.[1]);
  return (
    operands.length > 0 &&
    revisions.every((revision) => revision !== undefined && !NUMBER.test(revision))
  );
}

function doesShow({ shows }: GitSubcommandRule, given: CommandArguments): boolean {
  if (shows === 'names') return false;
  const asked = hasOption(given, ...CONTENT_OPTIONS);
  return shows.contents === 'if'
    ? hasOption(given, ...shows.options)
    : asked || !hasOption(given, ...shows.options);
}

const CONTENT_OPTIONS = ['-p', '-u', '--patch', '--patch-with-stat', '--patch-with-raw', '-U'];

function isExclusion({ value }: ShellWord): boolean {
  return value?.startsWith(':') === true;
}

/** A word may be a revision or a path, so it is judged as a path, too; a pattern may mean any path. */
function pathsNamed(word: ShellWord, below: 'tracked' | 'itself'): readonly CommandRead[] {
  const { value, path } = word;
  if (path === null || isExclusion(word)) return [];
  const colon = value?.indexOf(':') ?? -1;
  if (value !== null && colon > 0) {
    const inTree = value.slice(colon + 1);
    const isRelative = inTree.startsWith('./') || inTree.startsWith('../');
    const file = { path: isRelative ? inTree : `./${inTree}`, below };
    return [isRelative ? file : { ...file, topOf: '.' }, { path, below: 'itself' }];
  }
  if (/[*?[\\]/.test(path)) return [{ path: '.', below, topOf: '.' }];
  return [{ path, below }];
}

/** `-L 1,20:src/a.ts`. */
function rangePath(value: ShellWord | null): readonly CommandRead[] {
  const text = value?.value ?? '';
  const path = text.slice(text.lastIndexOf(':') + 1);
  return text.includes(':') && path !== '' ? [{ path: `./${path}`, below: 'itself' }] : [];
}
