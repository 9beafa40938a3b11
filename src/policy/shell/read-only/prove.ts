import type {
  ShellParser,
  ParsedShellLine,
  ShellRedirect,
  ShellWord,
  SimpleCommand,
} from '../parsed-line.ts';
import {
  checkCommandBuiltin,
  checkDoubleBracketTest,
  checkEcho,
  checkFind,
  checkPrintf,
  checkPs,
  checkTestCommand,
  checkType,
} from './special-programs.ts';
import { checkGit } from './git.ts';
import { checkProgram } from './programs.ts';
import {
  joinShellPath,
  quoteShellWord,
  moveReadTo,
  provenToRead,
  READS_NOTHING,
  explainUnknownValue,
  notProven,
} from './proof.ts';
import type { CommandRead, ReadOnlyVerdict, LineProof } from './proof.ts';

type Check = (words: readonly ShellWord[]) => ReadOnlyVerdict;

/** The checks for programs with a special syntax. All other programs are in the table of `programs.ts`. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['[', checkBracket],
  ['command', checkCommandBuiltin],
  ['echo', checkEcho],
  ['find', checkFind],
  ['git', checkGit],
  ['printf', checkPrintf],
  ['ps', checkPs],
  ['test', checkTestCommand],
  ['type', checkType],
]);

/** Commands that bash runs itself, without a look-up in PATH. */
const BUILTINS: ReadonlySet<string> = new Set(
  ': [ command echo false printf pwd test true type'.split(' '),
);
const SHELL_ONLY: ReadonlySet<string> = new Set([':', 'command', 'type']);

/**
 * Proves that a command line changes nothing, from its grammar and from tables of programs, options and operands
 * (docs/permissions.md, "Commands"). The caller decides whether the paths may be read. A line that is not fully
 * understood is not proved, so a mistake leads to an unnecessary question and not to a missing one. A pure function.
 */
export function proveReadOnly(line: string, parser: ShellParser): LineProof {
  const shell = parser(line);
  const doubt = shell.errors[0] ?? shell.doubts[0];
  if (doubt !== undefined) return { proven: false, reason: doubt };
  const commands = shell.directory === null ? shell.commands : shell.commands.slice(1);
  if (shell.commands.length === 0 && shell.tests.length === 0) {
    return { proven: false, reason: 'it runs no command' };
  }
  const verdicts = [
    ...commands.map(checkSimpleCommand),
    ...shell.redirects.map(checkRedirect),
    ...shell.tests.map(checkDoubleBracketTest),
  ];
  const failed = verdicts.find((verdict) => !verdict.ok);
  if (failed?.ok === false) return { proven: false, reason: failed.reason };
  const directory = findWorkingDirectory(shell);
  if (directory === null) return { proven: false, reason: 'it is not known where its cd leads' };
  const reads = verdicts.flatMap((verdict) => (verdict.ok ? verdict.reads : []));
  return {
    proven: true,
    reads: [...readsOfEntering(directory), ...reads.map((read) => moveReadTo(directory, read))],
    programs: listPrograms(commands),
    repositories: verdicts.flatMap((verdict) =>
      verdict.ok && verdict.repository !== undefined
        ? [joinShellPath(directory, verdict.repository)]
        : [],
    ),
  };
}

/**
 * Finds the directory in which the commands run, relative to the working directory. Returns null if it is not known.
 */
function findWorkingDirectory({ directory }: ParsedShellLine): string | null {
  if (directory === null) return '.';
  const { path, value } = directory;
  const isKnown = path !== null && path !== '' && value?.startsWith('-') !== true;
  return isKnown && !hasParentAfterName(path) ? path : null;
}

/**
 * Tells whether a path contains `..` after a name. If that name is a link, cd and the kernel resolve the path
 * differently.
 */
function hasParentAfterName(path: string): boolean {
  const parts = path.split('/');
  const firstName = parts.findIndex((part) => part !== '' && part !== '.' && part !== '..');
  return firstName >= 0 && parts.includes('..', firstName);
}

function readsOfEntering(directory: string): readonly CommandRead[] {
  return directory === '.' ? [] : [{ path: directory, below: 'itself' }];
}

function checkSimpleCommand({ words, hasAssignments }: SimpleCommand): ReadOnlyVerdict {
  const [program, ...rest] = words;
  if (program === undefined)
    return hasAssignments ? notProven('it sets a variable') : READS_NOTHING;
  if (program.value === null) return notProven(explainUnknownValue(program));
  const name = findProgramName(program.value);
  return (
    CHECKS.get(name)?.(rest) ??
    checkProgram(name, rest) ??
    notProven(`${quoteShellWord(program.value)} is not among the programs that surely only read`)
  );
}

/**
 * Returns the name of a program in a system directory. Any other path may be another program and is returned unchanged.
 */
function findProgramName(value: string): string {
  const name = /^\/(?:usr\/)?bin\/([\w[-]+)$/.exec(value)?.[1];
  return name === undefined || SHELL_ONLY.has(name) ? value : name;
}

function listPrograms(commands: readonly SimpleCommand[]): readonly string[] {
  const names = commands.flatMap(({ words }) => words[0]?.value ?? []);
  return [...new Set(names.filter((name) => !name.includes('/') && !BUILTINS.has(name)))];
}

/** Checks `[`, which is `test` with a `]` as the last word. */
function checkBracket(words: readonly ShellWord[]): ReadOnlyVerdict {
  if (words.at(-1)?.value !== ']') return notProven('`[` lacks its `]`');
  return checkTestCommand(words.slice(0, -1));
}

const DEVICES = /^\/(?:dev|proc|sys)(?:\/|$)/;

function checkRedirect({ operator, target, opensFile }: ShellRedirect): ReadOnlyVerdict {
  if (operator === '<<' || operator === '<<-') {
    const isPlain = target !== null && target.value !== null;
    return isPlain ? READS_NOTHING : notProven('its here-document is not plain text');
  }
  if (operator === '<<<') {
    const isOne = target !== null && target.form !== 'open' && target.form !== 'glob';
    return isOne ? READS_NOTHING : notProven('its here-string is only known when it runs');
  }
  if (!opensFile) return READS_NOTHING;
  if (operator !== '<')
    return notProven(`it writes to ${quoteShellWord(target?.text ?? 'a file')}`);
  if (target?.form === 'pipe') return READS_NOTHING;
  if (target === null || target.path === null) {
    return notProven('it reads from a file that is only known when it runs');
  }
  // For bash, some names below /dev are network connections and not files.
  if (DEVICES.test(target.path)) return notProven(`it opens ${quoteShellWord(target.text)}`);
  return provenToRead([{ path: target.path, below: 'itself' }]);
}
