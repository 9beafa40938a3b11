import type { ShellParser } from './shell-parser.ts';

/** Loads the grammar. Only rules about commands need it, so it is no part of a start. */
export async function loadShellParser(): Promise<ShellParser> {
  const { readShell } = await import('./shell-grammar.ts');
  return readShell;
}
