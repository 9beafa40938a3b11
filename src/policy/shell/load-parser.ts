import type { ShellParser } from './parsed-line.ts';

/** Loads the shell parser, which is large and needed only for commands. */
export async function loadShellParser(): Promise<ShellParser> {
  const { parseShellLine: readShell } = await import('./parse-line.ts');
  return readShell;
}
