import type { ShellWord } from '../parsed-line.ts';
import { isNeutralOption, readLeadingOptions } from '../options/leading-options.ts';
import { parseOptionTable } from '../options/option-table.ts';
import { hasOption, parseCommandArguments, type ParsedArguments } from './arguments.ts';
import { GIT_SUBCOMMANDS, type GitSubcommandRule } from './git-subcommands.ts';
import { quoteShellWord, moveReadTo, explainUnknownValue, notProven } from './proof.ts';
import type { CommandRead, ReadOnlyVerdict } from './proof.ts';

/**
 * Checks a git command. The caller runs it in an environment in which git runs no program that the configuration of the
 * repository names.
 */
export function checkGit(words: readonly ShellWord[]): ReadOnlyVerdict {
  const start = findSubcommand(words);
  if (typeof start === 'string') return notProven(start);
  const { at, directory } = start;
  const name = words[at]?.value;
  if (name === '--version') return checkSubcommand('version', [], directory);
  if (name === undefined || name === null) return notProven('git lacks its subcommand');
  return checkSubcommand(name, words.slice(at + 1), directory);
}

interface Subcommand {
  readonly at: number;
  /** The directory of `-C`. It is null if there is no `-C`. */
  readonly directory: string | null;
}

/** Finds the subcommand, or returns a reason. Options that select another repository, configuration or program are not accepted, except for one `-C`. */
function findSubcommand(words: readonly ShellWord[]): Subcommand | string {
  const { options, end: at } = readLeadingOptions('git', words);
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

function checkSubcommand(
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
  const rest = removeVerb(rule, words);
  if (rest === undefined)
    return notProven(`only ${quoteShellWord(`git ${name} ${rule.verbs?.[0] ?? ''}`)} surely reads`);
  const read = parseCommandArguments(rest, parseOptionTable(rule.options));
  if (!read.ok) return notProven(read.reason);
  const problem = findFormatProblem(read.parsed) ?? findOperandProblem(rule, read.parsed);
  if (problem !== undefined) return notProven(problem);
  const where = directory ?? '.';
  return {
    ok: true,
    reads: listReads(rule, read.parsed).map((each) => moveReadTo(where, each)),
    repository: where,
  };
}

function removeVerb(
  { verbs }: GitSubcommandRule,
  words: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  if (verbs === undefined) return words;
  const first = words[0]?.value;
  if (typeof first === 'string' && verbs.includes(first)) return words.slice(1);
  // `git reflog` alone shows, but `git stash` alone does not list.
  const isBare = typeof first !== 'string' || first.startsWith('-');
  return isBare && verbs.includes('show') ? words : undefined;
}

/** Formats that check signatures run a program that the configuration names. */
function findFormatProblem({ options }: ParsedArguments): string | undefined {
  const odd = options.find(
    ({ name, value }) =>
      (name === '--format' || name === '--pretty' || name === '--sort') &&
      /%G|signature/i.test(value?.value ?? ''),
  );
  return odd === undefined ? undefined : 'a format that checks signatures runs another program';
}

function findOperandProblem(
  { operands }: GitSubcommandRule,
  given: ParsedArguments,
): string | undefined {
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

/** Everything that git keeps, for a command that no path narrows. */
const EVERYTHING: CommandRead = { path: '.', below: 'tracked', topOf: '.' };

function listReads(rule: GitSubcommandRule, given: ParsedArguments): readonly CommandRead[] {
  const showsContents = showsFileContents(rule, given);
  const operands =
    rule.pattern === true && !hasOption(given, '-e') ? given.operands.slice(1) : given.operands;
  const ranges = given.options.flatMap(({ name, value }) =>
    name === '-L' ? findRangePath(value) : [],
  );
  if (rule.operands !== 'revisions' && rule.operands !== 'paths') {
    return showsContents ? [EVERYTHING] : [{ path: '.', below: 'itself' }];
  }
  const below = showsContents ? 'tracked' : 'itself';
  const isNarrowed = given.afterDashes?.some((word) => !isExclusion(word)) === true;
  const named = operands.flatMap((word) => listNamedReads(word, below));
  const readsEverything = showsContents && !isNarrowed && !namesContents(operands);
  return [readsEverything ? EVERYTHING : { path: '.', below: 'itself' }, ...ranges, ...named];
}

/** The hash of an object, which may be the tree of any directory, so that nobody knows which file `:name` is. */
const OBJECT_HASH = /^[0-9a-f]{4,64}$/i;

/** `HEAD:src/a.ts` shows that file and nothing else. */
function namesContents(operands: readonly ShellWord[]): boolean {
  const revisions = operands.map(({ value }) => /^([^:]+):./.exec(value ?? '')?.[1]);
  return (
    operands.length > 0 &&
    revisions.every((revision) => revision !== undefined && !OBJECT_HASH.test(revision))
  );
}

function showsFileContents({ shows }: GitSubcommandRule, given: ParsedArguments): boolean {
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

/** Lists the paths that a word may name. A word may be a revision or a path, so it is treated as a path, too; a pattern may match any path. */
function listNamedReads(word: ShellWord, below: 'tracked' | 'itself'): readonly CommandRead[] {
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

/** Finds the path of a range: `-L 1,20:src/a.ts`. */
function findRangePath(value: ShellWord | null): readonly CommandRead[] {
  const text = value?.value ?? '';
  const path = text.slice(text.lastIndexOf(':') + 1);
  return text.includes(':') && path !== '' ? [{ path: `./${path}`, below: 'itself' }] : [];
}
