import { exactLine } from '../../../base/terminal-text.ts';

/** Whether a path can stand in a message as it is: no quote would end it, and nothing in it steers a terminal. */
export function isPlainText(path: string): boolean {
  return !path.includes('"') && exactLine(path) === path;
}

/** How a file is named in a message: `@src/a.ts`, `@"my notes.md"`. */
export function mentionOf(path: string): string {
  return /^[\w./\\:~+,=#%()[\]-]*[\w/\\]$/.test(path) ? `@${path}` : `@"${path}"`;
}

/** What is typed of a name before the cursor, from its `@`; null: none is. */
export function typedMention(
  before: string,
): { readonly prefix: string; readonly typed: string } | null {
  const [prefix, quoted, plain = ''] = /(?<!\S)@(?:"([^"]*)|([^\s"]*))$/.exec(before) ?? [];
  return prefix === undefined ? null : { prefix, typed: quoted ?? plain };
}
