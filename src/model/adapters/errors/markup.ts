/** Matches the beginning of a web page inside a text: gateways put the page of the server behind them into their message. */
const EMBEDDED_PAGE = /<(?:!doctype\s+html|html)(?:\s[^<>]{0,500})?>/i;
const PAGE_END = /<\/html\s*>/i;

/** Matches tags of HTML elements that format a message inside an error body. */
const TAG =
  /<\/?(?:a|b|blockquote|br|center|code|div|em|font|h[1-6]|hr|i|li|ol|p|pre|small|span|strong|table|tbody|td|th|tr|u|ul)(?:\s[^<>]{0,500})?\s?\/?>/gi;
/** Matches tags that occur only in formatted messages. Only such messages are stripped of their tags. */
const MARKUP =
  /<\/(?:a|b|center|code|div|em|font|h[1-6]|i|li|p|pre|small|span|strong|td|u|ul)>|<br\s?\/?>/i;

/** Matches the element with the message of an XML error (Amazon, Azure, SOAP). */
const XML_MESSAGE =
  /<(?:\w{1,20}:)?(?:message|faultstring|description|reason|detail)(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?([^<\]]{1,500})/i;
const XML_CODE = /<(?:\w{1,20}:)?(?:code|faultcode)(?:\s[^<>]{0,200})?>([^<]{1,100})</i;

/**
 * Removes the markup from a message. A web page inside the message is replaced by its title, and an XML error by its
 * message and code.
 */
export function stripMarkup(text: string): string {
  const xml = findXmlError(text);
  if (xml !== null) return xml;
  const start = text.search(EMBEDDED_PAGE);
  if (start === -1) return MARKUP.test(text) ? removeTags(text) : text;
  const page = text.slice(start);
  const end = PAGE_END.exec(page);
  const after = end === null ? '' : page.slice(end.index + end[0].length);
  const title = findPageTitle(page);
  const replacement = title === null ? 'a web page without a title' : `a web page: "${title}"`;
  return `${text.slice(0, start)}${replacement}${after}`;
}

/** Finds the message and code of an XML error; null: the text is not an XML error. */
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
  return decodeEntities(code === undefined ? message : `${message} (${code})`);
}

function removeTags(text: string): string {
  return decodeEntities(text.replace(TAG, ' ')).trim();
}

/** Matches the elements that can serve as the title of a page, in order of preference. */
const HEADINGS = ['title', 'h1', 'h2', 'p'].map(
  (name) => new RegExp(`<${name}(?:\\s[^<>]{0,500})?>([^<]{1,300})<`, 'i'),
);

/** Returns true if a body begins like a web page. */
export function isWebPage(body: string): boolean {
  return /^\uFEFF?\s*<(?:!doctype|html|head|body|title|h1|center|\?xml|!--)/i.test(body);
}

/** Finds the title of a web page, or else its first heading or paragraph; null: the page has none of these. */
export function findPageTitle(page: string): string | null {
  for (const heading of HEADINGS) {
    const text = heading.exec(page)?.[1]?.replace(/\s+/g, ' ').trim();
    if (text !== undefined && text !== '') return decodeEntities(text);
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

const MAX_CODE_POINT = 0x10_ff_ff;

/** Replaces the character references in a text by their characters. */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|([a-z]{2,5}));/gi, (match, code?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? match;
    const point = Number(code);
    return point > 0 && point <= MAX_CODE_POINT ? String.fromCodePoint(point) : match;
  });
}
