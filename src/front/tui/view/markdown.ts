import { Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { fitLine, visibleWidth, wrapText } from './fit.ts';
import { inlineText, type InlineStyle } from './markdown-inline.ts';
import { tableLines } from './markdown-table.ts';
import type { Pen } from './pen.ts';

const parser = new Marked();

export interface MarkdownStyle {
  readonly width: number;
  /** Whether the text is still being written. */
  readonly isOpen: boolean;
  /** Whether links may hide their targets behind their texts, if the terminal can open them. Default: false. */
  readonly hidesTargets?: boolean;
}

/** The room for a block, and the style of its text. `isOpen` says whether the last block still grows. */
interface BlockStyle extends InlineStyle {
  readonly width: number;
  readonly isOpen: boolean;
}

/** Draws a text as markdown. `plain` is text without control characters. Images stay text. */
export function markdownLines(
  plain: string,
  { width, isOpen, hidesTargets = false }: MarkdownStyle,
  pen: Pen,
): readonly string[] {
  const style: BlockStyle = { pen, width, isOpen, role: 'text', hidesTargets };
  const tokens = isOpen ? lexOpenText(plain, pen) : parser.lexer(plain);
  return blockLines(tokens, style, isOpen ? pen : null).map((line) => line.trimEnd());
}

/** The blocks at the beginning of a text that is being written, which do not change any more, and their source. */
interface FinishedBlocks {
  readonly source: string;
  readonly tokens: readonly Token[];
}

const finished = new WeakMap<Pen, FinishedBlocks>();

/** Parses a text that grows. Only the part behind the blocks that were finished before is parsed again. */
function lexOpenText(plain: string, pen: Pen): readonly Token[] {
  const known = finished.get(pen);
  const before = known !== undefined && plain.startsWith(known.source) ? known : NO_BLOCKS;
  const tokens: readonly Token[] = parser.lexer(plain.slice(before.source.length));
  const all = [...before.tokens, ...tokens];
  // A block is finished if an empty line and another block follow it. The last block may still become another one.
  const end = tokens.findLastIndex(
    ({ type }, index) => type === 'space' && index < tokens.length - 1,
  );
  if (end > 0) {
    const added = tokens.slice(0, end + 1);
    const source = before.source + added.map(({ raw }) => raw).join('');
    finished.set(pen, { source, tokens: [...before.tokens, ...added] });
  }
  return all;
}

const NO_BLOCKS: FinishedBlocks = { source: '', tokens: [] };

/**
 * Draws blocks with an empty line between them, except after a heading or before a list that the text does not
 * separate. `keeper` keeps the lines of all blocks but the last, because a text that is being written is drawn again and again.
 */
function blockLines(
  tokens: readonly Token[],
  style: BlockStyle,
  keeper: Pen | null = null,
): readonly string[] {
  const lines: string[] = [];
  let previous: Token | null = null;
  let isSpaced = false;
  const last = tokens.findLast(({ type }) => type !== 'space');
  for (const token of tokens) {
    if (token.type === 'space') {
      isSpaced = true;
      continue;
    }
    const isOpen = style.isOpen && token === last;
    const draw = () => drawBlock(asMarked(token), { ...style, isOpen });
    const how = `${style.width} ${style.hidesTargets}`;
    const drawn =
      keeper === null || token === last ? draw() : keeper.keepText(token.raw, how, draw);
    if (drawn.length === 0) continue;
    if (previous !== null && (isSpaced || needsGap(previous, token))) lines.push('');
    lines.push(...drawn);
    previous = token;
    isSpaced = false;
  }
  return lines;
}

/** The parser has no extensions, so it returns only its own tokens. */
function asMarked(token: Token): MarkedToken {
  return token as MarkedToken;
}

function needsGap({ type }: Token, next: Token): boolean {
  if (type === 'list' || type === 'text' || type === 'heading') return false;
  return !(type === 'paragraph' && next.type === 'list');
}

function drawBlock(token: MarkedToken, style: BlockStyle): readonly string[] {
  const { pen, width, role } = style;
  switch (token.type) {
    case 'heading':
      return headingLines(token, style);
    case 'paragraph':
      return wrapText(inlineText(token.tokens, style), width, '');
    case 'text':
      return wrapText(inlineText(token.tokens ?? [token], style), width, '');
    case 'code':
      return codeLines(token, style);
    case 'list':
      return listLines(token, style);
    case 'table':
      return tableLines(token, style);
    case 'blockquote': {
      const inner = { ...style, width: Math.max(1, width - 2), role: 'dim' } as const;
      return blockLines(token.tokens, inner).map((line) => `${pen.paint('dim', '│')} ${line}`);
    }
    case 'hr':
      return [pen.paint('dim', '─'.repeat(Math.min(width, 80)))];
    case 'html':
      return token.raw
        .trimEnd()
        .split('\n')
        .flatMap((line) => wrapText(pen.paint(role, line), width, ''));
    default:
      return [];
  }
}

const UNDERLINES = new Map([
  [1, '═'],
  [2, '─'],
]);

/** Draws a heading. The first two levels are underlined. */
function headingLines({ depth, tokens }: Tokens.Heading, style: BlockStyle): readonly string[] {
  const { pen, width } = style;
  const underline = UNDERLINES.get(depth);
  const lines = wrapText(inlineText(tokens, { ...style, role: 'strong' }), width, '');
  if (underline === undefined) return lines;
  const widest = Math.max(...lines.map((line) => visibleWidth(line)));
  return [...lines, pen.paint('dim', underline.repeat(widest))];
}

const CODE_INDENT = '  ';

/** Draws a block of code. The rest of a line that is too long is indented a little further than the line. */
function codeLines({ text, lang = '' }: Tokens.Code, style: BlockStyle): readonly string[] {
  const { pen, isOpen } = style;
  const code = isOpen ? text.replace(/\n?(?:`{1,2}|~{1,2})$/, '') : text;
  const plain = code.split('\n');
  const room = Math.max(1, style.width - CODE_INDENT.length);
  const drawn = pen.code(code, fenceLanguage(lang), { isOpen });
  return [
    fitLine(pen.paint('dim', `\`\`\`${lang}`), style.width),
    ...drawn.flatMap((line, index) => codeRows(line, plain[index] ?? '', room)),
    pen.paint('dim', '```'),
  ];
}

function codeRows(line: string, plain: string, room: number): readonly string[] {
  if (visibleWidth(plain) <= room) return [CODE_INDENT + line];
  const own = plain.length - plain.trimStart().length + CODE_INDENT.length;
  const indent = Math.min(own, Math.floor(room / 2));
  const [first = '', ...rest] = wrapText(line, room - indent, '');
  return [first, ...rest.map((row) => ' '.repeat(indent) + row)].map((row) => CODE_INDENT + row);
}

/** Returns the first word after a fence: `ts` for `ts` and for `ts title="a.ts"`. */
function fenceLanguage(info: string): string {
  return /^[\w+#.-]{1,30}/.exec(info)?.[0].toLowerCase() ?? '';
}

/** Draws a list. Everything in an item is indented by the width of its mark, also another list. */
function listLines({ items, ordered, loose }: Tokens.List, style: BlockStyle): readonly string[] {
  const { pen, width } = style;
  return items.flatMap((item, index) => {
    const bullet = (ordered ? /^\s*(\d{1,9}[.)])/ : /^\s*([-+*])/).exec(item.raw)?.[1] ?? '-';
    const box = item.task ? ` [${item.checked === true ? 'x' : ' '}]` : '';
    const mark = `${bullet}${box} `;
    const isLast = index === items.length - 1;
    const inner = {
      ...style,
      width: Math.max(1, width - mark.length),
      isOpen: style.isOpen && isLast,
    };
    const content = item.tokens.filter(({ type }) => type !== 'checkbox');
    const drawn = blockLines(content, inner);
    const lines = (drawn.length === 0 ? [''] : drawn).map((line, at) =>
      at === 0 ? pen.paint('accent', mark) + line : ' '.repeat(mark.length) + line,
    );
    return loose && !isLast ? lines.concat('') : lines;
  });
}
