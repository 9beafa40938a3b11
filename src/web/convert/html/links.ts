import type { PageElement } from './element.ts';

/** The longest address that is written; a longer one is left out, since one page could repeat it many times. */
const MAX_URL_LENGTH = 2000;

/** When the addresses of a page have this length together, further links are only text. */
const MAX_TOTAL_LENGTH = 4_000_000;

/** Resolves the links of a page, and knows its footnotes. */
export class Links {
  private readonly page: string;
  private readonly base: string;
  private written = 0;
  /** The signs of footnotes by the `id` of their texts. */
  private readonly notes = new Map<string, string>();

  /** @param base the `href` of the page's `base` element, or null */
  constructor(page: URL, base: string | null) {
    this.page = withoutFragment(page.href);
    const resolved =
      base === null || base.length > MAX_URL_LENGTH ? null : URL.parse(base, page.href);
    this.base = resolved !== null && isWeb(resolved) ? resolved.href : page.href;
  }

  /** Remembers that a sign in the text leads to a footnote. */
  addNote(href: string, sign: string): void {
    const id = href.slice(href.indexOf('#') + 1);
    if (id !== '' && !this.notes.has(id)) this.notes.set(id, sign);
  }

  /** Returns the sign of the footnote whose text an element is; null for any other element. */
  noteOf(element: PageElement): string | null {
    if (this.notes.size === 0) return null;
    return this.notes.get(element.attribute('id')) ?? null;
  }

  /** Returns the absolute address of a link for markdown; null for an address that nobody can fetch. */
  resolve(href: string): string | null {
    if (href.length > MAX_URL_LENGTH) return null;
    const url = URL.parse(href.trim(), this.base);
    if (url === null || !isWeb(url) || url.href.length > MAX_URL_LENGTH) return null;
    this.written += url.href.length;
    if (this.written > MAX_TOTAL_LENGTH) return null;
    return url.href.replaceAll('(', '%28').replaceAll(')', '%29');
  }

  /** Tests whether a link leads to another place of the same page. */
  isSamePage(href: string): boolean {
    if (href.startsWith('#')) return true;
    if (!href.includes('#') || href.length > MAX_URL_LENGTH) return false;
    const url = URL.parse(href, this.base);
    return url !== null && withoutFragment(url.href) === this.page;
  }

  /** Writes a link. Links to places of the same page are only text, since they lead to nothing that is not read yet. */
  write(text: string, href: string): string {
    if (href === '' || this.isSamePage(href)) return text;
    const url = this.resolve(href);
    if (url === null) return text;
    // The text of a link has no line feeds, and its brackets are in pairs.
    const label = text.replaceAll(/\s+/g, ' ');
    if (label === url) return url;
    return `[${hasPairedBrackets(label) ? label : label.replaceAll(/[[\]]/g, String.raw`\$&`)}](${url})`;
  }
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:';
}

function withoutFragment(href: string): string {
  const hash = href.indexOf('#');
  return hash < 0 ? href : href.slice(0, hash);
}

function hasPairedBrackets(text: string): boolean {
  let open = 0;
  for (const sign of text) {
    if (sign === '[') open += 1;
    else if (sign === ']') open -= 1;
    if (open < 0) return false;
  }
  return open === 0;
}
