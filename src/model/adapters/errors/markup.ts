/** A web page anywhere in a text: gateways put the page of the server behind them into their own message. */
const EMBEDDED_PAGE = /<(?:!doctype\s+html|html)(?:\s[^<>]{0,500})?>/i;
const PAGE_END = /<\/html\s*>/i;

/** Elements of HTML that mark up a message without being a page. */
const TAG =
  /<\/?(?:a|b|blockquote|br|center|code|div|em|font|h[1-6]|hr|i|li|ol|p|pre|small|span|strong|table|tbody|td|th|tr|u|ul)(?:\s[^<>]{0,500})?\s?\/?>/gi;
const HAS_MARKUP =
  /<\/(?:a|b|center|code|div|em|font|h[1-6]|i|li|p|pre|small|span|strong|td|u|ul)>|<br\s?\/?>/i;

/** Elements in which XML errors (Amazon's, Azure's, SOAP's) have their message. */
const XML_MESSAGE =
  /<(?:\w{1,20}:)?(?:message|faultstring|description|reason|detail)(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?([^<\]]{1,500})/i;
const XML_CODE = /<(?:\w{1,20}:)?(?:code|faultcode)(?:\s[^<>]{0,200})?>([^<]{1,100})</i;

/**
 * Returns a message without the markup that only a browser can show. Of a web page inside it the title is left,
 * of an XML error its message and code.
 */
export function stripMarkup(text: string): string {
  const xml = findXmlError(text);
  if (xml !== null) return xml;
  const start = text.search(EMBEDDED_PAGE);
  if (start === -1) return HAS_MARKUP.test(text) ? withoutTags(text) : text;
  const page = text.slice(start);
  const end = PAGE_END.exec(page);
  const after = end === null ? '' : page.slice(end.index + end[0].length);
  const title = findPageTitle(page);
  const shown = title === null ? 'a web page without a title' : `a web page: "${title}"`;
  return `${text.slice(0, start)}${shown}${after}`;
}

/** Returns the message of an error in XML; null: the text is no such error. */
export function findXmlError(text: string): string | null {
  if (
    !/^\uFEFF?\s*<(?:\?xml|(?:\w{1,20}:)?(?:error|fault|envelope|exception|response)\w{0,20}[\s>])/i.test(
      text,
    )
  )
    return null;
  if (EMBEDDED_PAGE.test(text)) return null;
  const message = XML_MESSAGE.exec(text)?.[1]?.trim();
  const code = XML_CODE.exec(text)?.[1]?.trim();
  if (message === undefined || message === '') return code ?? null;
  return withoutEntities(code === undefined ? message : `${message} (${code})`);
}

function withoutTags(text: string): string {
  return withoutEntities(text.replace(TAG, ' ')).trim();
}

/** Elements whose text says what a page is about, the most telling first. */
const HEADINGS = ['title', 'h1', 'h2', 'p'].map(
  (name) => new RegExp(`<${name}(?:\\s[^<>]{0,500})?>([^<]{1,300})<`, 'i'),
);

export function isWebPage(body: string): boolean {
  return /^\uFEFF?\s*<(?:!doctype|html|head|body|title|h1|center|\?xml|!--)/i.test(body);
}

/** Returns what a web page is about, in the words of its title; null: it has neither a title nor a heading. */
export function findPageTitle(page: string): string | null {
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
function withoutEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|([a-z]{2,5}));/gi, (whole, code?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const point = Number(code);
    return point > 0 && point <= HIGHEST_CODE_POINT ? String.fromCodePoint(point) : whole;
  });
}
