import type { Word, WordPart } from 'unbash';
import type { ShellWord, WordForm } from './parsed-line.ts';

/** Converts a word of the parser, with its value as far as it can be known before the shell runs. */
export function toShellWord(word: Word): ShellWord {
  const { text, value } = word;
  const form = findForm(word);
  switch (form) {
    case 'literal':
      // A quoted tilde is an ordinary character.
      return { text, value, form, path: value.startsWith('~') ? `./${value}` : value };
    case 'home':
      return { text, value: null, form, path: value };
    default:
      return { text, value: null, form, path: null };
  }
}

const QUOTED = /\\[\s\S]|'[^']*'|\$'(?:[^\\']|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/g;
const SYNTAX = /[()<>|&;`]|\$[\w({['"@*#?!$-]/;

/**
 * Tells whether bash would find syntax in characters that unbash takes for plain text: unbash reads `{x}<(y)` as one plain
 * word, while bash runs y.
 */
export function hasHiddenSyntax({ text, parts }: Word): boolean {
  const plain =
    parts === undefined
      ? [text]
      : parts.flatMap((part) => (part.type === 'Literal' ? [part.text] : []));
  return plain.some((each) => SYNTAX.test(each.replace(QUOTED, '')));
}

/** Creates a word about which nothing is known. */
export function createUnknownWord(text: string): ShellWord {
  return { text, value: null, form: 'open', path: null };
}

/** Converts the text of a here-document, which the shell may expand and never splits into words. */
export function toHereDocumentWord(text: string, parts: readonly WordPart[]): ShellWord {
  const isLiteral = parts.every(isLiteralPart);
  return { text, value: isLiteral ? text : null, form: isLiteral ? 'literal' : 'text', path: null };
}

/** Bash also expands a tilde after the `=` of an argument that looks like an assignment. */
const ASSIGNMENT_WITH_TILDE = /^[A-Za-z_]\w*(?:\[.*\])?\+?=.*~/s;

function findForm({ text, parts = [] }: Word): WordForm {
  if (ASSIGNMENT_WITH_TILDE.test(text)) return 'open';
  const isLiteral = parts.every(isLiteralPart);
  if (text.startsWith('~')) return isLiteral && /^~(?:\/|$)/.test(text) ? 'home' : 'open';
  if (isLiteral) return 'literal';
  const [only, ...others] = parts;
  if (only?.type === 'ProcessSubstitution' && only.operator === '<' && others.length === 0) {
    return 'pipe';
  }
  if (parts.every(isOneWord)) return 'text';
  return parts.every((part) => part.type === 'Glob' || isLiteralPart(part)) ? 'glob' : 'open';
}

function isLiteralPart(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return true;
    case 'AnsiCQuoted':
      // Rarer escapes depend on the locale, or end the word early.
      return /^(?:[^\\]|\\[nt\\'"])*$/.test(part.text.slice(2, -1));
    case 'DoubleQuoted':
      return part.parts.every(isLiteralPart);
    default:
      return false;
  }
}

/** Tells whether everything that the part expands to stays in one word and is not a pattern for names on the disk. */
function isOneWord(part: WordPart): boolean {
  if (isLiteralPart(part)) return true;
  if (part.type === 'SimpleExpansion') return /^\$[?#$]$/.test(part.text);
  // `"$@"` and `"${x[@]}"` can be any number of words.
  return part.type === 'DoubleQuoted' && !/\$(?:@|\{[^}]*@)/.test(part.text);
}
