import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';

/** A command and the directory in which it runs. */
export interface CommandInDirectory {
  /** The command as the model wrote it and the shell gets it. */
  readonly command: string;
  /** The absolute path of the directory. */
  readonly directory: string;
  /**
   * The command as a line for the working directory of the task, with a `cd` in front where the command runs in
   * another one. Permission rules, people and the log get this line, so that they need not handle the directory.
   */
  readonly line: string;
}

/** Resolves the directory of a command. `workdir` and the result are relative to `cwd`, the directory of the task. */
export function resolveCommandDirectory(
  command: string,
  workdir: string | undefined,
  cwd: string,
): CommandInDirectory {
  const directory = workdir === undefined ? cwd : toAbsolutePath(workdir, cwd);
  if (directory === cwd) return { command, directory, line: command };
  const shown = displayPath(directory, cwd);
  const path = shown.startsWith('-') ? `./${shown}` : shown;
  const rest = isAndList(command) ? command : `{\n${command}\n}`;
  return { command, directory, line: `cd ${quoteForShell(path, directory)} && ${rest}` };
}

/**
 * Whether `cd … &&` in front applies to all of the command. When in doubt it does not, and harmless braces are added.
 */
function isAndList(command: string): boolean {
  const others = command.replaceAll('&&', '').replaceAll(/\d*[<>]&[\d-]|&>/g, '');
  return !/[;&\n]|\|\|/.test(others);
}

/** Quotes a path for the shell. A path with control characters was escaped for display, so the original is used. */
function quoteForShell(shown: string, directory: string): string {
  if (/^[\w@%+=:,./-]+$/.test(shown)) return shown;
  const path = shown.startsWith('"') ? directory : shown;
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
