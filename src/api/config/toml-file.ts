import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import type { ConfigProblem } from './source.ts';
import { oneLine } from './quote.ts';
import { statements } from './toml-statements.ts';

const MAX_BYTES = 262_144;
const MAX_NESTING = 16;

/** A configuration file that was read and parsed, and in which every key knows its line. */
export interface TomlFile {
  readonly path: string;
  readonly table: Readonly<Record<string, unknown>>;
  /** `FILE:LINE` of the key at this path, or the file alone where it has no line of its own. */
  where(path: readonly string[]): string;
}

export type TomlReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'read'; readonly file: TomlFile }
  | { readonly kind: 'broken'; readonly problem: ConfigProblem };

export interface TomlReadOptions {
  /** `refuse`: the file itself must not be a link (a project's file is not to point elsewhere). */
  readonly links: 'follow' | 'refuse';
}

/** Reads a file; the TOML parser is loaded only when there is one. */
export async function readTomlFile(path: string, options: TomlReadOptions): Promise<TomlReading> {
  const shownPath = oneLine(path);
  const broken = (message: string, position = ''): TomlReading => ({
    kind: 'broken',
    problem: { where: `${shownPath}${position}`, message },
  });
  const content = readSmallFile(path, options);
  if (content.kind === 'absent') return content;
  if (content.kind === 'unreadable') return broken(content.message);
  const { parse, TomlError } = await import('smol-toml');
  const parseOptions = { maxDepth: MAX_NESTING };
  try {
    const table = parse(content.text, parseOptions);
    const lines = new Map<string, number>();
    for (const { line, path: keyPath } of statements(content.text, (text) =>
      parse(text, parseOptions),
    )) {
      const key = lineKey(keyPath);
      if (!lines.has(key)) lines.set(key, line);
    }
    return { kind: 'read', file: tomlFile(path, shownPath, table, lines) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return broken(`not valid TOML: ${reasonOf(error)}`, `:${error.line}:${error.column}`);
  }
}

/** A list that cannot be mistaken for another by a name with a separator in it. */
function lineKey(path: readonly string[]): string {
  return JSON.stringify(path);
}

function tomlFile(
  path: string,
  shownPath: string,
  table: Readonly<Record<string, unknown>>,
  lines: ReadonlyMap<string, number>,
): TomlFile {
  return {
    path,
    table,
    where: (keyPath) => {
      const line = lines.get(lineKey(keyPath));
      return line === undefined ? shownPath : `${shownPath}:${line}`;
    },
  };
}

/** The parser's message goes on with lines of the file, which may hold what no log should. */
function reasonOf(error: Error): string {
  return oneLine((error.message.split('\n', 1)[0] ?? '').replace('Invalid TOML document: ', ''));
}

type SmallFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly message: string }
  | { readonly kind: 'text'; readonly text: string };

function readSmallFile(path: string, options: TomlReadOptions): SmallFile {
  const noFollow = options.links === 'refuse' ? constants.O_NOFOLLOW : 0;
  let descriptor: number;
  try {
    // Non-blocking: a FIFO in this place must not hang the start.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow);
  } catch (error) {
    return openFailure(error);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { kind: 'unreadable', message: 'not a regular file' };
    if (stats.size > MAX_BYTES) {
      return {
        kind: 'unreadable',
        message: `${stats.size} bytes; a configuration file has at most ${MAX_BYTES}`,
      };
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor));
    return { kind: 'text', text };
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'unreadable', message: 'not UTF-8 text' };
    return { kind: 'unreadable', message: `cannot be read: ${errorMessage(error)}` };
  } finally {
    closeSync(descriptor);
  }
}

function openFailure(error: unknown): SmallFile {
  const code = systemErrorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
  if (code === 'ELOOP')
    return { kind: 'unreadable', message: 'a symbolic link, which is not followed here' };
  return { kind: 'unreadable', message: `cannot be opened (${code ?? errorMessage(error)})` };
}
