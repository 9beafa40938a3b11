/** Elements whose text says what a page is about, the most telling first. */
const HEADINGS = ['title', 'h1', 'h2', 'p'].map(
  (name) => new RegExp(`<${name}(?:\\s[^<>]{0,500})?>([^<]{1,300})<`, 'i'),
);

export function isWebPage(body: string): boolean {
  return /^\uFEFF?\s*<(?:!doctype|html|head|body|title|h1|center|\?xml|!--)/i.test(body);
}

/** Returns what a web page is about, in the words of its title; null: it has neither a title nor a heading. */
export function titleOf(page: string): string | null {
  for (const heading of HEADINGS) {
    const text = heading.exec(page)?.[1]?.replace(/\s+/g, ' ').trim();
    if (text !== undefined && text !== '') return withoutEntities(text);
  }
  return null;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
};

const HIGHEST_CODE_POINT = 0x10_ff_ff;

/** Returns a text with its character references as the characters that they stand for. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|([a-z]{2,5}));/gi, (whole, code?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const point = Number(code);
    return point > 0 && point <= HIGHEST_CODE_POINT ? String.fromCodePoint(point) : whole;
  });
}
