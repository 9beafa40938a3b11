import { Tokenizer } from 'htmlparser2';
import { PageElement } from './element.ts';

/** A parsed page. Its head is taken apart, and scripts, styles and comments are gone. */
export interface ParsedPage {
  readonly body: PageElement;
  /** The text of `title`; empty if there is none. */
  readonly title: string;
  /** The contents of the `meta` elements by their lower-case `name` or `property`. The first of each counts. */
  readonly meta: ReadonlyMap<string, string>;
  /** The `href` of `base`, or null. */
  readonly base: string | null;
  /** True if the page contains a script that is run. */
  readonly hasScripts: boolean;
}

/** Elements nested deeper than this are treated as if they stood beside each other. */
const MAX_DEPTH = 256;
/** In a page with more elements, tags after this number are ignored. Their text is kept. */
const MAX_ELEMENTS = 300_000;
/** Longer values of attributes are cut off. */
const MAX_VALUE_LENGTH = 16_384;

const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    'align alt alttext aria-controls aria-hidden aria-labelledby bgcolor checked class color colspan content ' +
    'data-code-language data-lang data-language data-latex data-math data-original data-src data-tex datetime ' +
    'dir encoding hidden href id itemprop itemtype lang language name property rel role rowspan size src start ' +
    'style title type value xml:lang http-equiv'
  ).split(' '),
);

const VOID: ReadonlySet<string> = new Set(
  'area base basefont br col embed frame hr img input link meta param source track wbr'.split(' '),
);

/** Elements whose content is not shown, or not text. */
const DROPPED: ReadonlySet<string> = new Set(
  (
    'audio canvas datalist embed frame frameset iframe map noembed noframes noscript object script select ' +
    'source style svg template textarea track video'
  ).split(' '),
);

/** Elements that end an open paragraph. */
const ENDS_PARAGRAPH: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section summary table ul'
  ).split(' '),
);

interface ImpliedEnd {
  readonly ended: readonly string[];
  readonly within: ReadonlySet<string>;
}

/** For elements whose end tag may be missing: the elements that they end, and those within which this holds. */
const IMPLIED_ENDS: ReadonlyMap<string, ImpliedEnd> = new Map(
  [
    ['li', 'li', 'ul ol menu dir table'],
    ['dt', 'dt dd', 'dl table'],
    ['dd', 'dt dd', 'dl table'],
    ['tr', 'tr td th caption colgroup', 'table tbody thead tfoot'],
    ['td', 'td th', 'tr table'],
    ['th', 'td th', 'tr table'],
    ['tbody', 'tbody thead tfoot caption colgroup', 'table'],
    ['thead', 'tbody thead tfoot caption colgroup', 'table'],
    ['tfoot', 'tbody thead tfoot caption colgroup', 'table'],
    ['rt', 'rt rp', 'ruby'],
    ['rp', 'rt rp', 'ruby'],
  ].map(([name = '', ended = '', within = '']) => [
    name,
    { ended: ended.split(' '), within: new Set(within.split(' ')) },
  ]),
);

/** An end tag outside of these has no effect inside of them, except for those of tables. */
const SCOPES: ReadonlySet<string> = new Set(['table', 'td', 'th', 'caption']);
const TABLE_PARTS: ReadonlySet<string> = new Set(
  'table tbody thead tfoot tr td th caption'.split(' '),
);

/** Elements of HTML that cannot be in a picture or formula: the picture's end tag is missing. */
const NOT_FOREIGN: ReadonlySet<string> = new Set(
  (
    'article blockquote body center dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr img li main nav ol p pre ' +
    'section table ul'
  ).split(' '),
);

/** Parses HTML. Every text is a page: what is wrong in it is ignored or mended in about the way of browsers. */
export function parseHtml(html: string): ParsedPage {
  const builder = new TreeBuilder(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, builder);
  tokenizer.write(html);
  tokenizer.end();
  const { body, title, meta, base, hasScripts } = builder;
  return { body, title: title.replaceAll(/\s+/g, ' ').trim(), meta, base, hasScripts };
}

/** Builds the tree of a page from the tokens. */
class TreeBuilder {
  readonly body = new PageElement('body');
  title = '';
  readonly meta = new Map<string, string>();
  base: string | null = null;
  hasScripts = false;

  private readonly html: string;
  private readonly open: PageElement[] = [this.body];
  /** The number of open elements that are not in the tree, because they are nested too deeply. */
  private skipped = 0;
  /** The names of the open elements from a dropped one on; empty outside of dropped elements. */
  private dropped: string[] = [];
  private count = 0;
  private tag = '';
  private attributes: Map<string, string> | undefined;
  private attribute = '';
  private value = '';

  constructor(html: string) {
    this.html = html;
  }

  private get current(): PageElement {
    return this.open.at(-1) ?? this.body;
  }

  ontext(start: number, end: number): void {
    this.addText(this.html.slice(start, end));
  }

  ontextentity(code: number): void {
    this.addText(String.fromCodePoint(code));
  }

  private addText(text: string): void {
    if (this.dropped.length > 0) return;
    const { current } = this;
    if (current.name === 'title' && current.parent === null) this.title += text;
    else current.append(text);
  }

  onopentagname(start: number, end: number): void {
    this.tag = this.html.slice(start, end).toLowerCase();
    this.attributes = undefined;
  }

  onattribname(start: number, end: number): void {
    this.attribute = this.html.slice(start, end).toLowerCase();
    this.value = '';
  }

  onattribdata(start: number, end: number): void {
    if (this.value.length < MAX_VALUE_LENGTH) {
      this.value += this.html.slice(start, Math.min(end, start + MAX_VALUE_LENGTH));
    }
  }

  onattribentity(code: number): void {
    if (this.value.length < MAX_VALUE_LENGTH) this.value += String.fromCodePoint(code);
  }

  onattribend(): void {
    if (!KEPT_ATTRIBUTES.has(this.attribute)) return;
    this.attributes ??= new Map();
    if (!this.attributes.has(this.attribute)) this.attributes.set(this.attribute, this.value);
  }

  onopentagend(): void {
    this.openTag(false);
  }

  onselfclosingtag(): void {
    this.openTag(true);
  }

  isInForeignContext(): boolean {
    return this.dropped[0] === 'svg' || this.open.some(({ name }) => name === 'math');
  }

  private openTag(selfClosing: boolean): void {
    const element = new PageElement(this.tag === 'image' ? 'img' : this.tag, this.attributes);
    const { name } = element;
    if (name === 'html' || name === 'head' || name === 'body') return;
    if (this.dropped.length > 0 && !this.endsDropped(name)) {
      if (!VOID.has(name) && !selfClosing && this.dropped.length < MAX_DEPTH) {
        this.dropped.push(name);
      }
      return;
    }
    if (name === 'meta') this.readMeta(element);
    if (name === 'base') this.base ??= element.attribute('href') || null;
    if (name === 'meta' || name === 'base' || name === 'link') return;
    const isForeign = this.isInForeignContext();
    const isEmpty = VOID.has(name) || (selfClosing && (isForeign || name === 'svg'));
    if (!isKept(element)) {
      if (name === 'script') this.hasScripts = true;
      if (!isEmpty) this.dropped = [name];
      return;
    }
    if (name === 'title' && !isForeign) {
      // It has no parent: its text is the title of the page.
      this.open.push(element);
      return;
    }
    this.count += 1;
    if (this.count > MAX_ELEMENTS) return;
    this.endBefore(name, isForeign);
    if (this.open.length >= MAX_DEPTH) {
      if (!isEmpty) this.skipped += 1;
      return;
    }
    this.current.append(element);
    if (!isEmpty) this.open.push(element);
  }

  /** Ends a picture whose end tag is missing when an element begins that no picture can contain. */
  private endsDropped(name: string): boolean {
    const ends =
      this.dropped[0] === 'svg' && NOT_FOREIGN.has(name) && !this.dropped.includes('foreignobject');
    if (ends) this.dropped = [];
    return ends;
  }

  private readMeta(element: PageElement): void {
    const name = (element.attribute('name') || element.attribute('property')).toLowerCase();
    if (name !== '' && !this.meta.has(name)) this.meta.set(name, element.attribute('content'));
  }

  /** Ends the open elements that cannot contain a new element of this name. */
  private endBefore(name: string, isForeign: boolean): void {
    if (isForeign && NOT_FOREIGN.has(name)) this.endForeign();
    if (ENDS_PARAGRAPH.has(name)) this.endWithin(['p'], SCOPES);
    if (/^h[1-6]$/.test(name) && /^h[1-6]$/.test(this.current.name)) this.open.pop();
    if (name === 'a') this.endLink();
    const implied = IMPLIED_ENDS.get(name);
    if (implied !== undefined) {
      // A cell ends before its row does.
      while (this.endWithin(implied.ended, implied.within));
    }
  }

  /** Ends the innermost of some elements, unless it is outside of a limit. Tells whether there was one. */
  private endWithin(names: readonly string[], limits: ReadonlySet<string>): boolean {
    for (let index = this.open.length - 1; index > 0; index -= 1) {
      const name = this.open[index]?.name ?? '';
      if (names.includes(name)) {
        this.open.length = index;
        return true;
      }
      if (limits.has(name)) return false;
    }
    return false;
  }

  /** Ends an open link, since links are never nested: its end tag is missing. */
  private endLink(): void {
    for (let index = this.open.length - 1; index > 0; index -= 1) {
      const element = this.open[index];
      if (element === undefined || element.isBlock) return;
      if (element.name === 'a') {
        this.open.length = index;
        return;
      }
    }
  }

  private endForeign(): void {
    const index = this.open.findIndex(({ name }) => name === 'math');
    const hasText = this.open.some(({ name }) => name === 'annotation-xml');
    if (index > 0 && !hasText) this.open.length = index;
  }

  onclosetag(start: number, end: number): void {
    const name = this.html.slice(start, end).toLowerCase();
    if (this.dropped.length > 0) {
      const index = this.dropped.lastIndexOf(name);
      if (index >= 0) this.dropped.length = index;
      if (index >= 0 || !this.open.some((element) => element.name === name)) return;
      // The end tag of the dropped element is missing.
      this.dropped = [];
    }
    if (this.skipped > 0) {
      this.skipped -= 1;
      return;
    }
    if (name === 'br') this.current.append(new PageElement('br'));
    for (let index = this.open.length - 1; index > 0; index -= 1) {
      const element = this.open[index];
      if (element?.name === name) {
        this.open.length = index;
        return;
      }
      if (SCOPES.has(element?.name ?? '') && !TABLE_PARTS.has(name)) return;
    }
  }

  oncdata(start: number, end: number): void {
    if (this.isInForeignContext()) this.addText(this.html.slice(start, end));
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}
}

/** Tests whether the content of an element can be shown. A formula may be in a script. */
function isKept(element: PageElement): boolean {
  if (element.name === 'script') return element.attribute('type').startsWith('math/tex');
  return !DROPPED.has(element.name);
}
