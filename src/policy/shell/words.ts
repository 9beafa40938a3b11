import type { Word, WordPart } from 'unbash';
import type { ShellWord, WordForm } from './parsed-line.ts';

/** What the running shell will make of a word of the source, as far as the source tells. */
export function toShellWord(word: Word): ShellWord {
  const { text, value } = word;
  const form = wordForm(word);
  switch (form) {
    case 'literal':
      // A quoted tilde is a plain character.
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
 * Whether what unbash takes for plain characters would be syntax to bash. It reads `{x}<(y)` as one plain
 * word, while bash runs y.
 */
export function hasHiddenSyntax({ text, parts }: Word): boolean {
  const plain =
    parts === undefined
      ? [text]
      : parts.flatMap((part) => (part.type === 'Literal' ? [part.text] : []));
  return plain.some((each) => SYNTAX.test(each.replace(QUOTED, '')));
}

/** A word of which nothing is known. */
export function createUnknownWord(text: string): ShellWord {
  return { text, value: null, form: 'open', path: null };
}

/** Text that the shell may still expand, and never splits: of a here-document. */
export function toHereDocumentWord(text: string, parts: readonly WordPart[]): ShellWord {
  const isLiteral = parts.every(isLiteralPart);
  return { text, value: isLiteral ? text : null, form: isLiteral ? 'literal' : 'text', path: null };
}

/** Bash expands a tilde also behind the `=` of an argument that looks like an assignment. */
const ASSIGNMENT_WITH_TILDE = /^[A-Za-z_]\w*(?:\[.*\])?\+?=.*~/s;

function wordForm({ text, parts = [] }: Word): WordForm {
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
      // The rarer escapes depend on the locale, or end the word early.
      return /^(?:[^\\]|\\[nt\\'"])*$/.test(part.text.slice(2, -1));
    case 'DoubleQuoted':
      return part.parts.every(isLiteralPart);
    default:
      return false;
  }
}

/** Whatever it expands to stays in one word, and is no pattern for names on disk. */
function isOneWord(part: WordPart): boolean {
  if (isLiteralPart(part)) return true;
  if (part.type === 'SimpleExpansion') return /^\$[?#$]$/.test(part.text);
  // `"$@"` and `"${x[@]}"` are as many words as there are.
  return part.type === 'DoubleQuoted' && !/\$(?:@|\{[^}]*@)/.test(part.text);
}
