import type { ShellParser } from './parsed-line.ts';

/** Loads the grammar. Only rules about commands need it, so it is no part of a start. */
export async function loadShellParser(): Promise<ShellParser> {
  const { parseShellLine: readShell } = await import('./parse-line.ts');
  return readShell;
}
