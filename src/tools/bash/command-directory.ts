import { absolutePath, displayPath } from '../../sys/paths.ts';

/** A command with the directory that it runs in. */
export interface CommandInDirectory {
  /** As the model wrote it: what the shell gets. */
  readonly command: string;
  /** Absolute. */
  readonly directory: string;
  /**
   * The same as a line that is run in the working directory of the task: with a `cd` in front where the
   * command runs elsewhere. It is what is judged, shown to people and recorded, so that rules, proofs and
   * receipts see the directory without knowing of it.
   */
  readonly line: string;
}

/** The command of a call that may name a directory; both paths are taken from the task's directory `cwd`. */
export function commandIn(
  command: string,
  workdir: string | undefined,
  cwd: string,
): CommandInDirectory {
  const directory = workdir === undefined ? cwd : absolutePath(workdir, cwd);
  if (directory === cwd) return { command, directory, line: command };
  const shown = displayPath(directory, cwd);
  const path = shown.startsWith('-') ? `./${shown}` : shown;
  const rest = isOneList(command) ? command : `{\n${command}\n}`;
  return { command, directory, line: `cd ${quoted(path, directory)} && ${rest}` };
}

/** Whether `&&` in front of the command binds all of it. Errs towards braces, which change nothing. */
function isOneList(command: string): boolean {
  const others = command.replaceAll('&&', '').replaceAll(/\d*[<>]&[\d-]|&>/g, '');
  return !/[;&\n]|\|\|/.test(others);
}

/** One word for the shell. A name with control characters is quoted for people, so its own form is used. */
function quoted(shown: string, directory: string): string {
  if (/^[\w@%+=:,./-]+$/.test(shown)) return shown;
  const path = shown.startsWith('"') ? directory : shown;
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
