import type { MarkedToken, Token, Tokens } from 'marked';
import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import type { Pen } from './pen.ts';
import type { TextRole } from './theme.ts';

export interface InlineStyle {
  readonly pen: Pen;
  /** The role of text that has no role of its own. */
  readonly role: TextRole;
  /** Whether links may hide their targets behind their texts, if the terminal can open them. */
  readonly hidesTargets: boolean;
}

/** Draws the text of a block. The ends of its lines are kept. */
export function inlineText(tokens: readonly Token[], style: InlineStyle): string {
  // The parser has no extensions, so it returns only its own tokens.
  return tokens.map((token) => inlinePart(token as MarkedToken, style)).join('');
}

function inlinePart(token: MarkedToken, style: InlineStyle): string {
  const { pen, role } = style;
  switch (token.type) {
    case 'text':
      if (token.tokens !== undefined) return inlineText(token.tokens, style);
      return paintLines(decodeEntities(token.text), style);
    case 'escape':
      // These mark formulas, which are shown as they are written.
      return pen.paint(role, /^\\[()[\]]$/.test(token.raw) ? token.raw : token.text);
    case 'strong':
      return inlineText(token.tokens, { ...style, role: 'strong' });
    case 'em':
    case 'paragraph':
      return inlineText(token.tokens, style);
    case 'codespan':
      return paintLines(token.text, { ...style, role: 'code' });
    case 'link':
      return linkText(token, style);
    case 'image':
      return pen.paint(role, `${decodeEntities(token.text)} (${token.href})`);
    case 'br':
      return '\n';
    case 'del':
      return paintLines(token.raw, style);
    default:
      return paintLines(token.raw, style);
  }
}

/** Paints each line by itself, because a color must not continue on the next line. */
function paintLines(text: string, { pen, role }: InlineStyle): string {
  return text
    .split('\n')
    .map((line) => pen.paint(role, line))
    .join('\n');
}

/** Draws a link: its text, and its target unless the terminal opens it or the text is the target. */
function linkText({ href, text, tokens }: Tokens.Link, style: InlineStyle): string {
  const { pen, hidesTargets } = style;
  const shown = inlineText(tokens, { ...style, role: 'accent' });
  const target = linkTarget(href);
  const isSame = text === href || `mailto:${text}` === href;
  const drawn =
    hidesTargets && target !== null && pen.hasHyperlinks ? pen.link(target, shown) : null;
  // A text that looks like another address would deceive the user.
  const isHidden = drawn !== null && !/^\S+\.\S+$/.test(text);
  return isSame || isHidden
    ? (drawn ?? shown)
    : `${drawn ?? shown}${pen.paint('dim', ` (${href})`)}`;
}

const LINK_PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:', 'file:', 'mailto:']);
const MAX_TARGET = 2_000;

/** Returns the address that a terminal may open for a link; null if it may open none. It has only visible ASCII characters. */
export function linkTarget(href: string): string | null {
  if (!URL.canParse(href)) return null;
  const { href: target, protocol } = new URL(href);
  const isSafe = /^[!-~]+$/.test(target) && target.length <= MAX_TARGET;
  return isSafe && LINK_PROTOCOLS.has(protocol) ? target : null;
}

const ENTITIES = new Map([
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', hellip: '…' }),
  ...Object.entries({ mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”' }),
  ...Object.entries({ laquo: '«', raquo: '»', bull: '•', middot: '·', times: '×', divide: '÷' }),
  ...Object.entries({ larr: '←', uarr: '↑', rarr: '→', darr: '↓', harr: '↔', plusmn: '±' }),
  ...Object.entries({ le: '≤', ge: '≥', ne: '≠', asymp: '≈', infin: '∞', deg: '°', micro: 'µ' }),
  ...Object.entries({
    copy: '©',
    reg: '®',
    trade: '™',
    euro: '€',
    pound: '£',
    yen: '¥',
    cent: '¢',
  }),
  ...Object.entries({ sect: '§', para: '¶', szlig: 'ß', frac12: '½', check: '✓', cross: '✗' }),
]);
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]\w{1,10}));/g;
const MAX_CODE_POINT = 0x10_ff_ff;

/** Replaces the entities of HTML. One that would control the terminal or be invisible stays as it is written. */
export function decodeEntities(text: string): string {
  return text.replaceAll(
    ENTITY,
    (written: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES.get(name) ?? written;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      if (code > MAX_CODE_POINT) return written;
      const character = String.fromCodePoint(code);
      const isSafe = !/\s/.test(character) && sanitizeForTerminal(character, 'prose') === character;
      return isSafe ? character : written;
    },
  );
}
