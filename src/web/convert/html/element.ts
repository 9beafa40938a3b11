/** A piece of a page: an element, or a text. */
export type PageNode = PageElement | string;

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/** An element of a page, with the attributes that the conversion reads. */
export class PageElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  parent: PageElement | null = null;
  children: PageNode[] = [];
  /** True if the element contains an element that begins a new line. */
  hasBlocks = false;

  constructor(name: string, attributes: ReadonlyMap<string, string> = NO_ATTRIBUTES) {
    this.name = name;
    this.attributes = attributes;
  }

  /** Returns the value of an attribute, or an empty text. */
  attribute(name: string): string {
    return this.attributes.get(name) ?? '';
  }

  /** Appends a node. A text is joined with the text before it. */
  append(node: PageNode): void {
    const last = this.children.length - 1;
    if (typeof node === 'string') {
      const before = this.children[last];
      if (typeof before === 'string') this.children[last] = before + node;
      else this.children.push(node);
      return;
    }
    node.parent = this;
    this.children.push(node);
    if (node.isBlock || node.hasBlocks) markBlocks(this);
  }

  /** True if the element begins a new line. */
  get isBlock(): boolean {
    return BLOCKS.has(this.name);
  }

  /** The child elements. */
  get elements(): readonly PageElement[] {
    return this.children.filter((child) => typeof child !== 'string');
  }

  /** The words of the class attribute. */
  get classNames(): readonly string[] {
    return this.attribute('class').split(/\s+/).filter(Boolean);
  }
}

function markBlocks(element: PageElement): void {
  let above: PageElement | null = element;
  while (above !== null && !above.hasBlocks) {
    above.hasBlocks = true;
    above = above.parent;
  }
}

/** Yields the elements below an element in the order of the page. */
export function* descendants(element: PageElement): Generator<PageElement, void, void> {
  const waiting = element.elements.toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    for (let index = next.children.length - 1; index >= 0; index -= 1) {
      const child = next.children[index];
      if (typeof child === 'object') waiting.push(child);
    }
  }
}

/** Returns the first element below an element that passes a test. */
export function findElement(
  element: PageElement,
  test: (candidate: PageElement) => boolean,
): PageElement | null {
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    if (test(child)) return child;
    const found = findElement(child, test);
    if (found !== null) return found;
  }
  return null;
}

/** Returns all elements below an element that pass a test, without those inside of another one that passes. */
export function findOutermost(
  element: PageElement,
  test: (candidate: PageElement) => boolean,
): readonly PageElement[] {
  const found: PageElement[] = [];
  const visit = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (typeof child === 'string') continue;
      if (test(child)) found.push(child);
      else visit(child);
    }
  };
  visit(element);
  return found;
}

/** Returns the text of a node as it is in the source, with line feeds for `br`. */
export function rawText(node: PageNode): string {
  const pieces: string[] = [];
  const visit = (each: PageNode): void => {
    if (typeof each === 'string') pieces.push(each);
    else if (each.name === 'br') pieces.push('\n');
    else for (const child of each.children) visit(child);
  };
  visit(node);
  return pieces.join('');
}

/** Returns the text of a node on one line. */
export function lineText(node: PageNode): string {
  return rawText(node).replaceAll(/\s+/g, ' ').trim();
}

/** Returns the text of a node on one line, or only its beginning if it is longer than a limit. */
export function shortText(node: PageNode, limit: number): string {
  let text = '';
  const visit = (each: PageNode): void => {
    if (text.length > limit) return;
    if (typeof each === 'string') text += each.slice(0, limit + 1).replaceAll(/\s+/g, ' ');
    else for (const child of each.children) visit(child);
  };
  visit(node);
  return text.trim();
}

/** The elements that begin a new line. */
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
    'footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol p pre search section summary ' +
    'table tbody td tfoot th thead tr ul'
  ).split(' '),
);

/** Tests whether a name is that of a heading. */
export function isHeading({ name }: PageElement): boolean {
  return name.length === 2 && name >= 'h1' && name <= 'h6';
}
