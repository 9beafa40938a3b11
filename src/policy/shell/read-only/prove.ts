import type {
  ShellParser,
  ParsedShellLine,
  ShellRedirect,
  ShellWord,
  SimpleCommand,
} from '../parsed-line.ts';
import { checkCommandBuiltin, checkEcho, checkPrintf, checkPs, checkType } from './builtins.ts';
import { checkFind } from './find.ts';
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
import { checkDoubleBracketTest, checkTestCommand } from './test-expression.ts';

type Judge = (words: readonly ShellWord[]) => ReadOnlyVerdict;

/** Programs with a language of their own; the rest stand in the table of `programs.ts`. */
const JUDGES: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ['[', judgeBracket],
  ['command', checkCommandBuiltin],
  ['echo', checkEcho],
  ['find', checkFind],
  ['git', checkGit],
  ['printf', checkPrintf],
  ['ps', checkPs],
  ['test', checkTestCommand],
  ['type', checkType],
]);

/** What bash does itself, whatever lies on PATH. */
const BUILTINS: ReadonlySet<string> = new Set(
  ': [ command echo false printf pwd test true type'.split(' '),
);
const SHELL_ONLY: ReadonlySet<string> = new Set([':', 'command', 'type']);

/**
 * Whether a command line changes nothing, proved from its grammar and a table of programs, options and
 * operands (docs/permissions.md, "Commands"). Pure: whether the paths it reads may be read is for the
 * caller to judge. What is not understood is not proved; that errs towards a question, never past one.
 */
export function proveReadOnly(line: string, parser: ShellParser): LineProof {
  const shell = parser(line);
  const doubt = shell.errors[0] ?? shell.doubts[0];
  if (doubt !== undefined) return { proven: false, because: doubt };
  const commands = shell.directory === null ? shell.commands : shell.commands.slice(1);
  if (shell.commands.length === 0 && shell.tests.length === 0) {
    return { proven: false, because: 'it runs no command' };
  }
  const verdicts = [
    ...commands.map(judgeSimple),
    ...shell.redirects.map(judgeRedirect),
    ...shell.tests.map(checkDoubleBracketTest),
  ];
  const failed = verdicts.find((verdict) => !verdict.ok);
  if (failed?.ok === false) return { proven: false, because: failed.because };
  const directory = workingDirectory(shell);
  if (directory === null) return { proven: false, because: 'it is not known where its cd leads' };
  const reads = verdicts.flatMap((verdict) => (verdict.ok ? verdict.reads : []));
  return {
    proven: true,
    reads: [...entered(directory), ...reads.map((read) => moveReadTo(directory, read))],
    programs: programsOf(commands),
    repositories: verdicts.flatMap((verdict) =>
      verdict.ok && verdict.repository !== undefined
        ? [joinShellPath(directory, verdict.repository)]
        : [],
    ),
  };
}

/** Where the commands run, relative to the working directory; null: that is not known. */
function workingDirectory({ directory }: ParsedShellLine): string | null {
  if (directory === null) return '.';
  const { path, value } = directory;
  const isClear = path !== null && path !== '' && value?.startsWith('-') !== true;
  return isClear && !goesBack(path) ? path : null;
}

/** Whether `..` stands behind a name: cd takes it back by name, the kernel by where a link has led. */
function goesBack(path: string): boolean {
  const parts = path.split('/');
  const firstName = parts.findIndex((part) => part !== '' && part !== '.' && part !== '..');
  return firstName >= 0 && parts.includes('..', firstName);
}

function entered(directory: string): readonly CommandRead[] {
  return directory === '.' ? [] : [{ path: directory, below: 'itself' }];
}

function judgeSimple({ words, hasAssignments }: SimpleCommand): ReadOnlyVerdict {
  const [program, ...rest] = words;
  if (program === undefined)
    return hasAssignments ? notProven('it sets a variable') : READS_NOTHING;
  if (program.value === null) return notProven(explainUnknownValue(program));
  const name = programOf(program.value);
  const judge = JUDGES.get(name);
  return (
    judge?.(rest) ??
    checkProgram(name, rest) ??
    notProven(`${quoteShellWord(program.value)} is not among the programs that surely only read`)
  );
}

/** A program of the system keeps its name; any other path names another program. */
function programOf(value: string): string {
  const name = /^\/(?:usr\/)?bin\/([\w[-]+)$/.exec(value)?.[1];
  return name === undefined || SHELL_ONLY.has(name) ? value : name;
}

function programsOf(commands: readonly SimpleCommand[]): readonly string[] {
  const names = commands.flatMap(({ words }) => words[0]?.value ?? []);
  return [...new Set(names.filter((name) => !name.includes('/') && !BUILTINS.has(name)))];
}

/** `[` with its last word taken off. */
function judgeBracket(words: readonly ShellWord[]): ReadOnlyVerdict {
  if (words.at(-1)?.value !== ']') return notProven('`[` lacks its `]`');
  return checkTestCommand(words.slice(0, -1));
}

const DEVICES = /^\/(?:dev|proc|sys)(?:\/|$)/;

function judgeRedirect({ operator, target, opensFile }: ShellRedirect): ReadOnlyVerdict {
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
  // Some names below /dev are no files to bash, but connections.
  if (DEVICES.test(target.path)) return notProven(`it opens ${quoteShellWord(target.text)}`);
  return provenToRead([{ path: target.path, below: 'itself' }]);
}
