import type { ShellWord } from '../parsed-line.ts';
import { isNeutralOption, readLeadingOptions } from '../options/leading-options.ts';
import { parseOptionTable } from '../options/option-table.ts';
import { hasOption, parseCommandArguments, type ParsedArguments } from './arguments.ts';
import { GIT_SUBCOMMANDS, type GitSubcommandRule } from './git-subcommands.ts';
import { quoteShellWord, moveReadTo, explainUnknownValue, notProven } from './proof.ts';
import type { CommandRead, ReadOnlyVerdict } from './proof.ts';

/**
 * Checks a git command. The caller must run the command in an environment in which git runs no program that the
 * configuration of the repository names.
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
  /** The value of `-C`; null if there is no `-C`. */
  readonly directory: string | null;
}

/**
 * Finds the subcommand, or returns the reason why the command is not accepted: only one `-C` may select another
 * repository, and no option another configuration or program.
 */
function findSubcommand(words: readonly ShellWord[]): Subcommand | string {
  const { options, end: at } = readLeadingOptions('git', words);
  const version = options.findIndex(({ name }) => name === '--version');
  const before = version < 0 ? options : options.slice(0, version);
  const directories = before.filter(({ name }) => name === '-C');
  const rejectedOption = before.find(
    (option) => option.name === '-c' || (option.name !== '-C' && !isNeutralOption('git', option)),
  );
  const rejected = rejectedOption ?? directories[1];
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
  const result = parseCommandArguments(rest, parseOptionTable(rule.options));
  if (!result.ok) return notProven(result.reason);
  const problem = findFormatProblem(result.parsed) ?? findOperandProblem(rule, result.parsed);
  if (problem !== undefined) return notProven(problem);
  const workingDirectory = directory ?? '.';
  return {
    ok: true,
    reads: listReads(rule, result.parsed).map((each) => moveReadTo(workingDirectory, each)),
    repository: workingDirectory,
  };
}

function removeVerb(
  { verbs }: GitSubcommandRule,
  words: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  if (verbs === undefined) return words;
  const first = words[0]?.value;
  if (typeof first === 'string' && verbs.includes(first)) return words.slice(1);
  // `git reflog` means `git reflog show`, but `git stash` does not mean `git stash list`.
  const isBare = typeof first !== 'string' || first.startsWith('-');
  return isBare && verbs.includes('show') ? words : undefined;
}

/** Rejects formats that check signatures, because git then runs a program that the configuration names. */
function findFormatProblem({ options }: ParsedArguments): string | undefined {
  const rejectedOption = options.find(
    ({ name, value }) =>
      (name === '--format' || name === '--pretty' || name === '--sort') &&
      /%G|signature/i.test(value?.value ?? ''),
  );
  return rejectedOption === undefined
    ? undefined
    : 'a format that checks signatures runs another program';
}

function findOperandProblem(
  { operands }: GitSubcommandRule,
  parsed: ParsedArguments,
): string | undefined {
  const first = parsed.operands[0];
  if (first === undefined) return undefined;
  const pipe = parsed.operands.find((word) => word.path === null);
  if (pipe !== undefined) return explainUnknownValue(pipe);
  if (operands === 'none')
    return `it is not known what git does with ${quoteShellWord(first.text)}`;
  if (operands === 'listed' && !hasOption(parsed, '-l', '--list')) {
    return `without --list git would create ${quoteShellWord(first.text)}`;
  }
  const magic = parsed.operands.find(
    ({ value }) => value !== null && /^:(?![!^]|\(exclude\))/.test(value),
  );
  return magic === undefined || operands === 'text'
    ? undefined
    : `it is not known which paths ${quoteShellWord(magic.text)} stands for`;
}

/** The read of all tracked contents, for a command that is not limited to certain paths. */
const EVERYTHING: CommandRead = { path: '.', below: 'tracked', topOf: '.' };

function listReads(rule: GitSubcommandRule, parsed: ParsedArguments): readonly CommandRead[] {
  const showsContents = showsFileContents(rule, parsed);
  const operands =
    rule.pattern === true && !hasOption(parsed, '-e') ? parsed.operands.slice(1) : parsed.operands;
  const ranges = parsed.options.flatMap(({ name, value }) =>
    name === '-L' ? findRangePath(value) : [],
  );
  if (rule.operands !== 'revisions' && rule.operands !== 'paths') {
    return showsContents ? [EVERYTHING] : [{ path: '.', below: 'itself' }];
  }
  const below = showsContents ? 'tracked' : 'itself';
  const isNarrowed = parsed.afterDashes?.some((word) => !isExclusion(word)) === true;
  const named = operands.flatMap((word) => listNamedReads(word, below));
  const readsEverything = showsContents && !isNarrowed && !namesContents(operands);
  return [readsEverything ? EVERYTHING : { path: '.', below: 'itself' }, ...ranges, ...named];
}

/**
 * Matches the hash of an object. It may be the tree of any directory, so the file that `HASH:name` means is not known.
 */
const OBJECT_HASH = /^[0-9a-f]{4,64}$/i;

/** Tells whether all operands name single files in revisions: `HEAD:src/a.ts` shows only that file. */
function namesContents(operands: readonly ShellWord[]): boolean {
  const revisions = operands.map(({ value }) => /^([^:]+):./.exec(value ?? '')?.[1]);
  return (
    operands.length > 0 &&
    revisions.every((revision) => revision !== undefined && !OBJECT_HASH.test(revision))
  );
}

function showsFileContents({ shows }: GitSubcommandRule, parsed: ParsedArguments): boolean {
  if (shows === 'names') return false;
  const asked = hasOption(parsed, ...CONTENT_OPTIONS);
  return shows.contents === 'if'
    ? hasOption(parsed, ...shows.options)
    : asked || !hasOption(parsed, ...shows.options);
}

const CONTENT_OPTIONS = ['-p', '-u', '--patch', '--patch-with-stat', '--patch-with-raw', '-U'];

function isExclusion({ value }: ShellWord): boolean {
  return value?.startsWith(':') === true;
}

/**
 * Lists the paths that a word may name. A word can be a revision or a path, so every word is treated as a path, too. A
 * pattern may match any path.
 */
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
