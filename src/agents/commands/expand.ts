import { splitArguments } from '../../base/split-arguments.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import {
  parseCommandBody,
  type CommandPart,
  type Placeholder,
  type CommandPiece,
} from './parse-body.ts';
import { quoteDirectory, quoteTypedArgument, type QuotedArgument } from './shell-argument.ts';

/** A part of the text of a command in which the arguments have been inserted. */
export interface ExpandedPart {
  readonly kind: CommandPart['kind'];
  /** The text, the shell command, or the path of the file. */
  readonly text: string;
}

/** A command with its arguments, or the reason, as a clause, why they do not fit. */
export type Expansion =
  | { readonly ok: true; readonly parts: readonly ExpandedPart[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Inserts the typed arguments in the text of a command. Each placeholder is replaced once, so nothing in an argument is a
 * placeholder, a shell part or a file. In a shell part, arguments are quoted. Arguments for which the text has no
 * placeholder are appended.
 *
 * @param args the text after the name
 */
export function expandCommand(command: SlashCommandDefinition, args: string): Expansion {
  const parts = parseCommandBody(command);
  const pieces = parts.flatMap((part) => part.pieces);
  const keys = [...new Set(pieces.flatMap((piece) => (isKey(piece) ? piece.name : [])))];
  const bound = bindArguments(args, keys);
  if (!bound.ok) return bound;
  const values: ArgumentValues = { ...bound, args, command };
  const expanded: ExpandedPart[] = [];
  for (const { kind, pieces } of parts) {
    if (kind === 'shell') {
      const shell = expandShell(pieces, values);
      if (!shell.ok) return shell;
      expanded.push({ kind, text: shell.line });
    } else {
      expanded.push({ kind, text: pieces.map((piece) => insertText(piece, values)).join('') });
    }
  }
  const usesArguments = pieces.some(
    (piece) => typeof piece !== 'string' && piece.kind !== 'directory',
  );
  if (args.trim() === '' || usesArguments) return { ok: true, parts: expanded };
  return { ok: true, parts: [...expanded, { kind: 'text', text: appendedText(command, args) }] };
}

function isKey(piece: CommandPiece): piece is Extract<Placeholder, { kind: 'key' }> {
  return typeof piece !== 'string' && piece.kind === 'key';
}

/** Returns the text of arguments for which there is no placeholder, as each product appends them. */
function appendedText({ syntax, name }: SlashCommandDefinition, args: string): string {
  switch (syntax) {
    case 'claude':
    case 'codex':
      return `\n\nARGUMENTS: ${args}`;
    case 'opencode':
      return `\n\n${args}`;
    case 'gemini':
      return `\n\n/${name} ${args}`;
    default:
      return syntax satisfies never;
  }
}

interface ArgumentValues {
  readonly words: readonly string[];
  readonly named: ReadonlyMap<string, string>;
  readonly args: string;
  readonly command: SlashCommandDefinition;
}

/**
 * Splits the arguments into words. If the text has names in capital letters, each word must be `NAME=value`, and every
 * name needs a value.
 */
function bindArguments(
  args: string,
  keys: readonly string[],
):
  | ({ readonly ok: true } & Pick<ArgumentValues, 'words' | 'named'>)
  | Extract<Expansion, { ok: false }> {
  const words = splitArguments(args);
  if (keys.length === 0) return { ok: true, words, named: new Map() };
  const usage = keys.map((key) => `${key}=…`).join(' ');
  const named = new Map<string, string>();
  for (const word of words) {
    const [, key, value = ''] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word) ?? [];
    if (key === undefined || !keys.includes(key)) {
      const problem = `it takes its arguments by name, and ${JSON.stringify(word)} names none of them: ${usage}`;
      return { ok: false, problem };
    }
    named.set(key, value);
  }
  const missing = keys.filter((key) => !named.has(key));
  if (missing.length === 0) return { ok: true, words, named };
  return { ok: false, problem: `it needs ${missing.join(', ')}: type ${usage}` };
}

/** Returns the words that a placeholder stands for. */
function wordsOf(
  placeholder: Placeholder,
  { words, named, args, command }: ArgumentValues,
): readonly string[] {
  switch (placeholder.kind) {
    case 'all':
      // Gemini CLI inserts the typed text as one argument.
      return command.syntax === 'gemini' ? [args] : words;
    case 'position': {
      const { index, takesRest } = placeholder;
      return takesRest ? words.slice(index) : words.slice(index, index + 1);
    }
    case 'key':
      return [named.get(placeholder.name) ?? ''];
    case 'directory':
      return [command.pluginDirectory ?? '${CLAUDE_PLUGIN_ROOT}'];
    default:
      return placeholder satisfies never;
  }
}

function insertText(piece: CommandPiece, values: ArgumentValues): string {
  if (typeof piece === 'string') return piece;
  // Codex joins the words, and the other products keep the text as it was typed.
  const keepsTyped = piece.kind === 'all' && values.command.syntax !== 'codex';
  return keepsTyped ? values.args : wordsOf(piece, values).join(' ');
}

/** Inserts the arguments in a shell command, quoted for their places. */
function expandShell(
  pieces: readonly CommandPiece[],
  values: ArgumentValues,
): { readonly ok: true; readonly line: string } | Extract<Expansion, { ok: false }> {
  const isDirectory = (piece: CommandPiece): boolean =>
    typeof piece !== 'string' && piece.kind === 'directory';
  const command = pieces
    .map((piece) => (typeof piece === 'string' ? piece : isDirectory(piece) ? 'x' : '$ARGUMENT'))
    .join('');
  let line = '';
  let before = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      line += piece;
      before += piece;
      continue;
    }
    const quoted: string[] = [];
    for (const [index, word] of wordsOf(piece, values).entries()) {
      const ahead = before + `${ARGUMENT} `.repeat(index);
      const result = isDirectory(piece)
        ? quoteDirectory(word, before)
        : quoteTypedArgument(word, { before: ahead, command });
      if (!result.ok) return { ok: false, problem: describeUnsafe(pieces, word, result) };
      quoted.push(result.text);
    }
    line += quoted.join(' ');
    before += isDirectory(piece) ? 'x' : ARGUMENT;
  }
  return { ok: true, line };
}

/** Stands for an argument in the command up to a place. */
const ARGUMENT = '\0';

function describeUnsafe(
  pieces: readonly CommandPiece[],
  word: string,
  { refused, place }: Extract<QuotedArgument, { ok: false }>,
): string {
  const written = pieces.map((piece) => (typeof piece === 'string' ? piece : '…')).join('');
  const said = `its shell part ${JSON.stringify(written)} has the argument ${JSON.stringify(word)} ${place}`;
  return refused === 'option'
    ? `${said}. Type an argument that does not begin with -, or write -- right before the placeholder in the file if the program takes that`
    : `${said}, and it cannot be quoted safely there: only letters, digits and _./:@%+,- are accepted, and no - at the beginning. Type such an argument, or change the file`;
}
