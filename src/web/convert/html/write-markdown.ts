import { findCodeInTable, formatCode, readCode } from './code.ts';
import {
  findElement,
  isHeading,
  lineText,
  shortText,
  PageElement,
  type PageNode,
} from './element.ts';
import { writeInline, type MarkStyle } from './inline.ts';
import type { Links } from './links.ts';
import { readFormula } from './math.ts';
import { isLayout, readGrid } from './table.ts';
import { indent, writeTableText } from './write-table.ts';

/** Lists and quotes nested deeper than this are written at this depth, so that the indent stays in proportion. */
const MAX_NESTING = 10;

interface Context extends MarkStyle {
  /** The number of lists, quotes and tables around the text. */
  readonly nesting: number;
  /** The address of a link around several blocks. The first of them becomes the link. */
  readonly blockLink: { href: string } | null;
}

/** Writes the content of an element as markdown. */
export function writeMarkdown(element: PageElement, links: Links): string {
  const context: Context = { links, emphasis: true, linked: true, nesting: 0, blockLink: null };
  return writeContent(element.children, context).join('\n\n');
}

/** Collects the blocks of a text. Pieces of text between blocks become paragraphs. */
class BlockList {
  readonly blocks: string[] = [];
  private line = '';

  addInline(text: string): void {
    this.line += text;
  }

  addBlock(text: string): void {
    this.flush();
    if (text !== '') this.blocks.push(text);
  }

  flush(): void {
    const paragraphs = collapse(this.line);
    this.line = '';
    for (const paragraph of paragraphs) if (!isNoise(paragraph)) this.blocks.push(paragraph);
  }
}

/** Collapses the white space of a text, and splits it where two line breaks separate paragraphs. */
function collapse(text: string): readonly string[] {
  if (text.trim() === '') return [];
  return text
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter(Boolean);
}

/** Tests whether a paragraph is only a remnant of a menu, such as a separator. */
function isNoise(paragraph: string): boolean {
  return /^[|·•»«›‹>/,;:*^\s-]+$/.test(paragraph) && paragraph.length < 20;
}

function writeContent(nodes: readonly PageNode[], context: Context): string[] {
  const list = new BlockList();
  addContent(nodes, context, list);
  list.flush();
  return list.blocks;
}

function addContent(nodes: readonly PageNode[], context: Context, list: BlockList): void {
  for (const node of nodes) {
    if (typeof node === 'string' || !(node.isBlock || node.hasBlocks)) {
      list.addInline(linkInline(node, context));
      continue;
    }
    addElement(node, context, list);
  }
}

function linkInline(node: PageNode, context: Context): string {
  const text = writeInline([node], context);
  const { blockLink } = context;
  if (blockLink === null || blockLink.href === '' || text.trim() === '') return text;
  const { href } = blockLink;
  blockLink.href = '';
  return context.links.write(text.trim(), href);
}

function addElement(element: PageElement, context: Context, list: BlockList): void {
  const formula = readFormula(element);
  if (formula !== null) {
    list.addBlock(`$$${formula.tex}$$`);
    return;
  }
  if (isHeading(element)) {
    addHeading(element, context, list);
    return;
  }
  switch (element.name) {
    case 'pre':
      list.addBlock(writePre(element));
      return;
    case 'hr':
      if (list.blocks.at(-1) !== '---') list.addBlock('---');
      return;
    case 'ul':
    case 'ol':
    case 'menu':
    case 'dir':
      list.addBlock(writeList(element, context));
      return;
    case 'li':
      list.addBlock(writeItem(element, '- ', context));
      return;
    case 'dl':
      list.addBlock(writeDefinitions(element, context));
      return;
    case 'blockquote':
      list.addBlock(writeQuote(element, context));
      return;
    case 'table':
      list.addBlock(writeTable(element, context));
      return;
    case 'summary':
    case 'legend':
    case 'caption':
      list.addBlock(writeTitle(element, context));
      return;
    case 'a': {
      const blockLink = context.linked ? { href: element.attribute('href') } : null;
      list.flush();
      addContent(element.children, { ...context, linked: false, blockLink }, list);
      list.flush();
      return;
    }
    default:
      addContainer(element, context, list);
  }
}

function addContainer(element: PageElement, context: Context, list: BlockList): void {
  if (!element.isBlock) {
    addContent(element.children, context, list);
    return;
  }
  list.flush();
  const code = readCodeOfBlocks(element);
  if (code === null) addContent(element.children, context, list);
  else list.addBlock(code);
  list.flush();
}

/** Reads code that a page shows without `pre`, with an element for each line. */
function readCodeOfBlocks(element: PageElement): string | null {
  const isCode =
    element.children.length === 1 &&
    element.elements[0]?.name === 'code' &&
    element.elements[0].hasBlocks;
  return isCode ? formatCode(readCode(element)) : null;
}

/** Writes a text as a single line. */
function writeLine(nodes: readonly PageNode[], context: Context): string {
  return writeInline(nodes, context).replaceAll(/\s+/g, ' ').trim();
}

/** Adds a heading. If its end tag is missing, the blocks in it are the content after it. */
function addHeading(heading: PageElement, context: Context, list: BlockList): void {
  const { children } = heading;
  const isRest = (node: PageNode): boolean =>
    typeof node !== 'string' && (node.isBlock || node.hasBlocks);
  const index = heading.hasBlocks ? children.findIndex(isRest) : -1;
  const title = index > 0 ? children.slice(0, index) : children;
  const isUnclosed =
    index > 0 &&
    title.some((node) => shortText(node, 10) !== '') &&
    shortText(heading, 100).length > 100;
  list.addBlock(writeHeading(heading, isUnclosed ? title : children, context));
  if (isUnclosed) addContent(children.slice(index), context, list);
}

function writeHeading(
  heading: PageElement,
  children: readonly PageNode[],
  context: Context,
): string {
  const { blockLink } = context;
  let text = writeLine(children, { ...context, emphasis: false });
  if (text === '') return '';
  if (blockLink !== null && blockLink.href !== '') {
    text = context.links.write(text, blockLink.href);
    blockLink.href = '';
  }
  return `${'#'.repeat(Number(heading.name[1]))} ${text}`;
}

function writeTitle(element: PageElement, context: Context): string {
  if (findElement(element, isHeading) !== null)
    return writeContent(element.children, context).join('\n\n');
  const text = writeLine(element.children, { ...context, emphasis: false });
  return text === '' ? '' : `**${text}**`;
}

function writePre(pre: PageElement): string {
  const code = readCode(pre);
  return code.text === '' ? '' : formatCode(code);
}

function nested(context: Context): Context {
  return { ...context, nesting: context.nesting + 1, blockLink: null };
}

function writeList(element: PageElement, context: Context): string {
  const start = /^-?\d{1,9}$/.exec(element.attribute('start').trim())?.[0];
  let number = Number(start ?? 1);
  const items: string[] = [];
  for (const child of element.children) {
    if (typeof child === 'string') {
      if (child.trim() !== '') items.push(child.replaceAll(/\s+/g, ' ').trim());
      continue;
    }
    if (child.name !== 'li') {
      // A list directly in a list belongs to the item before it.
      const blocks = writeContent([child], nested(context)).join('\n');
      if (blocks !== '') items.push(context.nesting < MAX_NESTING ? indent(blocks, '  ') : blocks);
      continue;
    }
    const item = writeItem(child, element.name === 'ol' ? `${number}. ` : '- ', context);
    if (item === '') continue;
    number += 1;
    items.push(item);
  }
  return items.join('\n');
}

function writeItem(item: PageElement, marker: string, context: Context): string {
  const note = context.links.noteOf(item);
  const sign = note === null ? marker : `[^${note}]: `;
  const blocks = writeContent(item.children, nested(context));
  if (blocks.length === 0) return '';
  let text = blocks[0] ?? '';
  for (const block of blocks.slice(1)) text += (isListBlock(block) ? '\n' : '\n\n') + block;
  if (context.nesting >= MAX_NESTING) return sign + text;
  return sign + indent(text, ' '.repeat(note === null ? marker.length : 4)).trimStart();
}

function isListBlock(block: string): boolean {
  return /^(?:[-:] |\d+\. )/.test(block);
}

/** Writes a list of terms. The definition of a term begins with a colon on the next line. */
function writeDefinitions(list: PageElement, context: Context): string {
  const parts: string[] = [];
  const write = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (typeof child === 'string') {
        if (child.trim() !== '') parts.push(child.replaceAll(/\s+/g, ' ').trim());
      } else if (child.name === 'dt') {
        const term = writeTerm(child, context);
        // A blank line separates a term from the definition before it.
        if (term !== '') parts.push(parts.at(-1)?.startsWith(': ') ? `\n${term}` : term);
      } else if (child.name === 'dd') {
        const text = writeContent(child.children, nested(context)).join('\n\n');
        if (text !== '')
          parts.push(
            context.nesting >= MAX_NESTING ? `: ${text}` : `: ${indent(text, '  ').trimStart()}`,
          );
      } else if (child.name === 'div') write(child);
      else parts.push(...writeContent([child], nested(context)));
    }
  };
  write(list);
  return parts.join('\n');
}

function writeTerm(term: PageElement, context: Context): string {
  if (term.classNames.includes('sig')) return `\`${lineText(term).replaceAll('`', "'")}\``;
  const note = context.links.noteOf(term);
  const blocks = writeContent(term.children, nested(context)).join('\n');
  return note === null || blocks === '' ? blocks : `[^${note}]:`;
}

function writeQuote(quote: PageElement, context: Context): string {
  const text = writeContent(quote.children, nested(context)).join('\n\n');
  if (text === '' || context.nesting >= MAX_NESTING) return text;
  return text.replaceAll(/^/gm, '> ').replaceAll(/^> $/gm, '>');
}

function writeTable(table: PageElement, context: Context): string {
  const code = findCodeInTable(table);
  if (code !== null) return code === table ? formatCode({ ...readCode(table) }) : writePre(code);
  const grid = readGrid(table);
  const below = nested(context);
  if (isLayout(table, grid) || context.nesting >= MAX_NESTING) {
    const nodes = grid.rows.flatMap((row) =>
      row.flatMap((place) => (place?.isStart && !place.isBelow ? [place.cell] : [])),
    );
    return writeContent(nodes, { ...below, nesting: context.nesting }).join('\n\n');
  }
  const caption = grid.caption === null ? '' : writeTitle(grid.caption, context);
  const blocks = new Map<PageElement, readonly string[]>();
  for (const row of grid.rows) {
    for (const place of row) {
      if (place?.isStart && !place.isBelow)
        blocks.set(place.cell, writeContent(place.cell.children, below));
    }
  }
  const text = writeTableText(grid, blocks, context.nesting < MAX_NESTING);
  return [caption, text].filter(Boolean).join('\n\n');
}
