import { findElement, isHeading, PageElement, rawText, type PageNode } from './element.ts';
import { readFormula } from './math.ts';
import type { Links } from './links.ts';

/** The way in which a line of text is written. */
export interface MarkStyle {
  readonly links: Links;
  /** False within headings, links and signatures, where marks would only be noise. */
  readonly emphasis: boolean;
  /** False within a link. */
  readonly linked: boolean;
}

/** Writes the content of elements as text of markdown. White space is not yet collapsed. */
export function writeInline(nodes: readonly PageNode[], style: MarkStyle): string {
  let text = '';
  for (const node of nodes) text += writeNode(node, style);
  return text;
}

function writeNode(node: PageNode, style: MarkStyle): string {
  if (typeof node === 'string') return node.replaceAll(/\s+/g, ' ');
  const formula = readFormula(node);
  if (formula !== null) return formula.display ? `\n$$${formula.tex}$$\n` : `$${formula.tex}$`;
  const { name } = node;
  switch (name) {
    case 'br':
      return '\n';
    case 'wbr':
    case 'rp':
    case 'svg':
      return '';
    case 'img':
      return writeImage(node, style);
    case 'a':
      return writeLink(node, style);
    case 'code':
    case 'kbd':
    case 'samp':
    case 'tt':
      return writeCode(node, style);
    case 'b':
    case 'strong':
      return style.emphasis
        ? mark('**', writeInline(node.children, style))
        : writeInline(node.children, style);
    case 'i':
    case 'em':
      return style.emphasis
        ? mark('*', writeInline(node.children, style))
        : writeInline(node.children, style);
    case 'del':
    case 's':
    case 'strike':
      return mark('~~', writeInline(node.children, style));
    case 'q':
      return `“${writeInline(node.children, style)}”`;
    case 'sup':
      return writeRaised(node, '^', style);
    case 'sub':
      return writeRaised(node, '_', style);
    case 'rt':
      return `(${writeInline(node.children, style)})`;
    case 'input':
      return writeInput(node);
    case 'pre':
      return `\`${rawText(node).trim()}\``;
    default: {
      const text = writeInline(node.children, style);
      return node.isBlock || isHeading(node) ? ` ${text} ` : text;
    }
  }
}

/** Puts marks around a text, but not around the white space at its ends, where they would have no effect. */
function mark(sign: string, text: string): string {
  const inner = text.trim();
  if (inner === '' || inner.startsWith(sign)) return text;
  const start = text.length - text.trimStart().length;
  return `${text.slice(0, start)}${sign}${inner}${sign}${text.slice(start + inner.length)}`;
}

function writeInput(input: PageElement): string {
  if (input.attribute('type') !== 'checkbox' || input.parent?.name !== 'li') return '';
  return input.attributes.has('checked') ? '[x] ' : '[ ] ';
}

/** Writes inline code with marks that the text does not contain. A link around all of the code is kept. */
function writeCode(element: PageElement, style: MarkStyle): string {
  const only = element.children.length === 1 ? element.children[0] : undefined;
  if (typeof only === 'object' && only.name === 'a' && style.linked) {
    const text = writeCodeText(rawText(only));
    return style.links.write(text, only.attribute('href'));
  }
  return writeCodeText(rawText(element));
}

function writeCodeText(source: string): string {
  const text = source.replaceAll(/\s+/g, ' ').trim();
  if (text === '') return source === '' ? '' : ' ';
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  if (longest === 0) return `\`${text}\``;
  const fence = '`'.repeat(longest + 1);
  return `${fence} ${text} ${fence}`;
}

const BACK_LINK =
  /(?:^|[\s_-])(?:footnote-?back(?:ref|link)?|reversefootnote|data-footnote-backref|mw-cite-backlink|fn-backref|backlink)(?:$|[\s_-])/i;

/** Tests whether a link only leads back to the start of the page. */
function isWayUp(link: PageElement, label: string): boolean {
  if (/^(?:\^|↑|▲|⬆|(?:back to |go to )?top(?: of (?:the )?page)?|page top)[\s↑▲^]*$/i.test(label))
    return true;
  return rawText(link).trim() === '' && findElement(link, ({ name }) => name === 'img') !== null;
}

const NOTE_LINK = /(?:^|[\s_-])(?:footnote-?ref(?:erence)?|noteref)(?:$|[\s_-])/i;

function writeLink(link: PageElement, style: MarkStyle): string {
  const text = writeInline(link.children, { ...style, linked: false });
  if (BACK_LINK.test(link.attribute('class')) || link.attribute('role') === 'doc-backlink')
    return '';
  const label = text.trim();
  if (NOTE_LINK.test(link.attribute('class')) || link.attribute('role') === 'doc-noteref') {
    const note = writeNote(link, label, style);
    if (note !== null) return note;
  }
  if (/^(?:[↩⤴↑⏎]|\ufe0e|\ufe0f)+$/.test(label)) return '';
  if (style.links.isSamePage(link.attribute('href')) && isWayUp(link, label)) return '';
  if (!style.linked || label === '') return text;
  const start = text.length - text.trimStart().length;
  const written = style.links.write(label, link.attribute('href'));
  return `${text.slice(0, start)}${written}${text.slice(start + label.length)}`;
}

/** Writes the sign of a footnote, if a link leads to one. */
function writeNote(link: PageElement, text: string, { links }: MarkStyle): string | null {
  const href = link.attribute('href');
  const sign = /^[[(]?(\d{1,4}|[*†‡a-z])[\])]?$/i.exec(text)?.[1];
  if (sign === undefined || !href.includes('#') || !links.isSamePage(href)) return null;
  links.addNote(href, sign);
  return `[^${sign}]`;
}

/** Signs of units and ordinal numbers, which are read without a mark. */
const PLAIN_RAISED = /^(?:st|nd|rd|th|er|re|e|ème|o|a|tm|sm|®|™|©|[\s*†‡§]*)$/i;

/** Writes raised or lowered text. A number that is a link to a footnote becomes the sign of a footnote. */
function writeRaised(element: PageElement, sign: string, style: MarkStyle): string {
  const inner = writeInline(element.children, { ...style, emphasis: false });
  const text = inner.trim();
  const plain = rawText(element).trim();
  const link =
    element.parent?.name === 'a'
      ? element.parent
      : findElement(element, ({ name }) => name === 'a');
  const note = link === null ? null : writeNote(link, plain, style);
  if (note !== null) return note;
  if (PLAIN_RAISED.test(plain) || text.includes('\n') || text.startsWith('[')) return inner;
  if (/^[\p{L}\p{N}]$/u.test(text) || /^-?\d+$/.test(text)) return sign + text;
  return text.length > 40 ? inner : `${sign}{${text}}`;
}

function writeImage(image: PageElement, style: MarkStyle): string {
  const alt = image.attribute('alt').replaceAll(/\s+/g, ' ').trim();
  if (alt === '' || alt.length > 2000) return '';
  const isSign =
    /emoji|emoticon|wp-smiley/i.test(image.attribute('class')) || !/[\p{L}\p{N}]/u.test(alt);
  if (isSign) return alt;
  const src = [
    image.attribute('src'),
    image.attribute('data-src'),
    image.attribute('data-original'),
  ].find((each) => each !== '' && !each.startsWith('data:'));
  const url = src === undefined ? null : style.links.resolve(src);
  return url === null ? alt : `![${alt.replaceAll(/[[\]]/g, String.raw`\$&`)}](${url})`;
}
