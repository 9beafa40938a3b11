import type { CommandSyntax, SlashCommandDefinition } from '../../protocol/slash-command.ts';

/** The value that a placeholder stands for. */
export type Placeholder =
  /** All arguments, as they were typed. */
  | { readonly kind: 'all' }
  /** One argument, counted from 0. With `takesRest`, it is this argument and all that follow. */
  | { readonly kind: 'position'; readonly index: number; readonly takesRest: boolean }
  /** An argument that is given as `NAME=value`. */
  | { readonly kind: 'key'; readonly name: string }
  /** The directory of the plugin. */
  | { readonly kind: 'directory' };

/** A piece of a text: fixed text, or a placeholder. */
export type CommandPiece = string | Placeholder;

/** A part of the text of a command. */
export type CommandPart =
  | { readonly kind: 'text'; readonly pieces: readonly CommandPiece[] }
  /** A shell command, whose output belongs to the message. */
  | { readonly kind: 'shell'; readonly pieces: readonly CommandPiece[] }
  /** A file, whose content belongs to the message. */
  | { readonly kind: 'file'; readonly pieces: readonly CommandPiece[] };

type ParsedText = Pick<SlashCommandDefinition, 'body' | 'syntax' | 'argumentNames'>;

/** Parses the text of a command into its parts by the rules of its product. The text is hostile, so nothing throws. */
export function parseCommandBody({
  body,
  syntax,
  argumentNames,
}: ParsedText): readonly CommandPart[] {
  const readPieces = createPieceReader(syntax, body, argumentNames);
  return splitParts(body, syntax)
    .filter(({ text }) => text !== '')
    .map(({ kind, text }) => ({ kind, pieces: readPieces(text) }));
}

/** Returns the shell parts of a text as they stand in the file. */
export function listShellParts({
  body,
  syntax,
}: Pick<ParsedText, 'body' | 'syntax'>): readonly string[] {
  return splitParts(body, syntax).flatMap(({ kind, text }) => (kind === 'shell' ? [text] : []));
}

interface RawPart {
  readonly kind: CommandPart['kind'];
  readonly text: string;
}

const CLAUDE_SHELL = /(?<!\S)!`([^`\n]+)`/g;
const OPENCODE_SHELL = /!`([^`]+)`/g;

function splitParts(body: string, syntax: CommandSyntax): readonly RawPart[] {
  switch (syntax) {
    case 'claude':
      return cutOut(body, [...findShellBlocks(body), ...findMatches(body, CLAUDE_SHELL)]);
    case 'opencode':
      return cutOut(body, findMatches(body, OPENCODE_SHELL));
    case 'gemini':
      return cutOut(body, findBracedParts(body));
    case 'codex':
      return [{ kind: 'text', text: body }];
    default:
      return syntax satisfies never;
  }
}

/** A part that is not text, with its offsets in the text. */
interface Span extends RawPart {
  readonly start: number;
  readonly end: number;
}

/** Splits a text at spans. A span that begins inside an earlier one is left out. */
function cutOut(body: string, spans: readonly Span[]): readonly RawPart[] {
  const parts: RawPart[] = [];
  let end = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (span.start < end) continue;
    parts.push({ kind: 'text', text: body.slice(end, span.start) });
    parts.push({ kind: span.kind, text: span.text.trim() });
    end = span.end;
  }
  return [...parts, { kind: 'text', text: body.slice(end) }];
}

function findMatches(body: string, pattern: RegExp): readonly Span[] {
  return [...body.matchAll(pattern)].map((match) => {
    const end = match.index + match[0].length;
    return { kind: 'shell', text: match[1] ?? '', start: match.index, end };
  });
}

/**
 * Finds the code blocks that begin with three backticks and an exclamation mark. Each line is looked at once, so that a
 * hostile text of many openings takes no longer.
 */
function findShellBlocks(body: string): readonly Span[] {
  const spans: Span[] = [];
  let open: { readonly start: number; readonly inside: number } | null = null;
  for (const match of body.matchAll(/^```(!?)[ \t]*$/gm)) {
    const { index: start } = match;
    const end = start + match[0].length;
    if (match[1] === '!') open ??= { start, inside: end };
    else if (open !== null) {
      spans.push({ kind: 'shell', text: body.slice(open.inside, start), start: open.start, end });
      open = null;
    }
  }
  return spans;
}

/** Finds `!{…}` and `@{…}`. Braces inside must be balanced; without the closing brace, it is text. */
function findBracedParts(body: string): readonly Span[] {
  const spans: Span[] = [];
  const open: number[] = [];
  for (const { 0: brace, index } of body.matchAll(/[{}]/g)) {
    if (brace === '{') {
      open.push(index);
      continue;
    }
    const start = (open.pop() ?? 0) - 1;
    const mark = body[start];
    if (mark !== '!' && mark !== '@') continue;
    const kind = mark === '!' ? 'shell' : 'file';
    spans.push({ kind, text: body.slice(start + 2, index), start, end: index + 1 });
  }
  return spans;
}

/** Matches a text that is kept without its backslash, or a placeholder. The groups are the same in all patterns. */
function createPlaceholderPattern(syntax: CommandSyntax, names: readonly string[]): RegExp {
  // The longest name comes first, so that `$issue` does not match in `$issue-number`.
  const longestFirst = names.toSorted((a, b) => b.length - a.length).join('|');
  const name = longestFirst === '' ? '((?!))' : String.raw`(${longestFirst})(?!\w)`;
  switch (syntax) {
    case 'claude':
      return new RegExp(
        String.raw`\\(\$)|\$(?:(ARGUMENTS)(?![\w\[])|(\d{1,2})(?!\w)|ARGUMENTS\[(\d{1,4})\]|${name}|\{(CLAUDE_PLUGIN_ROOT)\})`,
        'g',
      );
    case 'opencode':
      return /((?!))|\$(?:(ARGUMENTS)|(\d{1,2}))/g;
    case 'gemini':
      return /((?!))|\{\{(args)\}\}/g;
    case 'codex':
      return /(\$\$)|\$(?:(ARGUMENTS)(?!\w)|([1-9])(?!\d)|((?!))|([A-Z][A-Z0-9_]*))/g;
    default:
      return syntax satisfies never;
  }
}

/**
 * Returns the function that finds the placeholders in a part of a text. `$1` is the first argument, unless the text has
 * a `$0`, which only texts have that count from 0.
 */
function createPieceReader(
  syntax: CommandSyntax,
  body: string,
  names: readonly string[],
): (text: string) => readonly CommandPiece[] {
  const pattern = createPlaceholderPattern(syntax, names);
  const numbers = [...body.matchAll(pattern)].flatMap((match) => match[3] ?? []).map(Number);
  const first = syntax === 'claude' && numbers.includes(0) ? 0 : 1;
  const last = syntax === 'opencode' ? Math.max(0, ...numbers) : null;
  const toPlaceholder = (match: RegExpExecArray): CommandPiece => {
    const [whole, kept, all, number, indexFromZero, key, directory] = match;
    if (kept !== undefined) return kept;
    if (all !== undefined) return { kind: 'all' };
    if (directory !== undefined) return { kind: 'directory' };
    if (indexFromZero !== undefined) {
      return { kind: 'position', index: Number(indexFromZero), takesRest: false };
    }
    if (number !== undefined) {
      const index = Number(number) - first;
      return index < 0 ? whole : { kind: 'position', index, takesRest: Number(number) === last };
    }
    if (key === undefined) return whole;
    return syntax === 'codex'
      ? { kind: 'key', name: key }
      : { kind: 'position', index: names.indexOf(key), takesRest: false };
  };
  return (text) => {
    const pieces: CommandPiece[] = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      pieces.push(text.slice(end, match.index), toPlaceholder(match));
      end = match.index + match[0].length;
    }
    return [...pieces, text.slice(end)].filter((piece) => piece !== '');
  };
}
