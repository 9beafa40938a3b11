import { findDoubt, type ParsedShellLine, type SimpleCommand } from './parsed-line.ts';

/** Subcommands that change nothing but the files, the index and the branch of the worktree in which they run. */
const OWN_SUBCOMMANDS = new Set('add commit restore diff status log show'.split(' '));
/** Options that choose another repository, another tree or another program. */
const REDIRECTING_OPTION =
  /^--?(?:C$|c$|git-dir|work-tree|exec|ext-diff|textconv|output|template|namespace)/;

/**
 * Tells whether every git command of a line changes nothing outside the worktree in which it runs: no other branch, no
 * settings, no other working tree. Any line that is not fully understood may change more.
 */
export function staysInWorktree(reading: ParsedShellLine): boolean {
  return findDoubt(reading) === undefined && reading.commands.every(staysInside);
}

function staysInside({ words, hasAssignments, isOpenEnded }: SimpleCommand): boolean {
  const values = words.map(({ value }) => value);
  const [program, subcommand] = values;
  if (hasAssignments || isOpenEnded || program === null || program === undefined) return false;
  if (program !== 'git') return !values.some((value) => value === null || /\bgit\b/.test(value));
  if (typeof subcommand !== 'string' || !OWN_SUBCOMMANDS.has(subcommand)) return false;
  return values.every((value) => value !== null && !REDIRECTING_OPTION.test(value));
}
