import { isJsonObject } from '../../base/json.ts';
import { findElement, findOutermost, lineText, rawText, type PageElement } from './html/element.ts';
import { removeHidden } from './html/hidden.ts';
import { Links } from './html/links.ts';
import { parseHtml } from './html/parse-html.ts';
import { writeMarkdown } from './html/write-markdown.ts';
import { parseXml } from './parse-xml.ts';

/** A longer summary of an entry is cut off: the page of the entry has all of it. */
const MAX_SUMMARY = 2000;

/** A feed as markdown. */
export interface FeedText {
  readonly title: string | null;
  readonly text: string;
}

interface Entry {
  readonly title: string;
  /** The address of the entry, relative or absolute; empty if there is none. */
  readonly link: string;
  readonly date: string;
  /** HTML or text. */
  readonly summary: string;
}

/** Converts a feed in RSS or Atom to a list of its entries. Returns null for other XML. */
export function convertXmlFeed(xml: string, url: URL): FeedText | null {
  if (!/<(?:\w+:)?(?:rss|feed|rdf)[\s>]/i.test(xml.slice(0, 10_000))) return null;
  const root = parseXml(xml).elements.find(({ name }) => /^(?:rss|feed|rdf:rdf)$/.test(name));
  if (root === undefined) return null;
  const isAtom = root.name === 'feed';
  const channel = isAtom ? root : (findElement(root, ({ name }) => name === 'channel') ?? root);
  const items = findOutermost(root, ({ name }) => name === (isAtom ? 'entry' : 'item'));
  const about = textOf(channel, ['description', 'subtitle']);
  return format(textOf(channel, ['title']), about, items.map(readItem), url);
}

function readItem(item: PageElement): Entry {
  return {
    title: textOf(item, ['title']),
    link: linkOf(item),
    date: textOf(item, ['pubdate', 'published', 'dc:date', 'updated']),
    summary: contentOf(item, ['description', 'summary', 'content:encoded', 'content']),
  };
}

function childNamed(parent: PageElement, names: readonly string[]): PageElement | undefined {
  for (const name of names) {
    const child = parent.elements.find((each) => each.name === name);
    if (child !== undefined) return child;
  }
  return undefined;
}

/** Returns the text of a child on one line. Titles may contain markup, escaped or not. */
function textOf(parent: PageElement, names: readonly string[]): string {
  const child = childNamed(parent, names);
  if (child === undefined) return '';
  const text = lineText(child);
  return text.includes('<') || text.includes('&') ? lineText(parseHtml(text).body) : text;
}

/** Returns the content of a child as HTML. */
function contentOf(parent: PageElement, names: readonly string[]): string {
  const child = childNamed(parent, names);
  if (child === undefined) return '';
  if (child.attribute('type') === 'xhtml') return lineText(child);
  return rawText(child);
}

function linkOf(item: PageElement): string {
  const links = item.elements.filter(({ name }) => name === 'link');
  const link = links.find((each) => /^(?:alternate)?$/.test(each.attribute('rel'))) ?? links[0];
  const address = link === undefined ? '' : link.attribute('href') || lineText(link);
  if (address !== '') return address;
  const guid = childNamed(item, ['guid']);
  return guid === undefined || guid.attribute('ispermalink') === 'false' ? '' : lineText(guid);
}

/** Converts a JSON feed (https://www.jsonfeed.org/version/1.1/). Returns null for other JSON. */
export function convertJsonFeed(text: string, url: URL): FeedText | null {
  if (!text.includes('jsonfeed.org/version')) return null;
  const feed = parseJson(text);
  if (!isJsonObject(feed) || !stringOf(feed['version']).includes('jsonfeed.org')) return null;
  const items = Array.isArray(feed['items']) ? feed['items'].filter(isJsonObject) : [];
  const entries = items.map((item) => ({
    title: stringOf(item['title']),
    link: stringOf(item['url']) || stringOf(item['external_url']),
    date: stringOf(item['date_published']),
    summary:
      stringOf(item['summary']) || stringOf(item['content_html']) || stringOf(item['content_text']),
  }));
  return format(stringOf(feed['title']), stringOf(feed['description']), entries, url);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function format(title: string, about: string, entries: readonly Entry[], url: URL): FeedText {
  const links = new Links(url, null);
  const head = [title === '' ? '' : `# ${title}`, about === title ? '' : about].filter(Boolean);
  const parts = entries.map((entry) => formatEntry(entry, links));
  const body = parts.length === 0 ? ['(The feed has no entries.)'] : parts;
  return { title: title === '' ? null : title, text: [...head, ...body].join('\n\n') };
}

function formatEntry({ title, link, date, summary }: Entry, links: Links): string {
  const name = title === '' ? link || '(no title)' : title;
  const lines = [`## ${link === '' ? name : links.write(name, link)}`];
  if (date !== '') lines.push(isoDate(date));
  const text = markdownOf(summary, links);
  if (text !== '' && text !== title) lines.push('', text);
  return lines.join('\n');
}

/** Returns a date in the form of ISO 8601, or unchanged if it cannot be read. */
function isoDate(date: string): string {
  const time = Date.parse(date);
  return Number.isNaN(time)
    ? date
    : new Date(time)
        .toISOString()
        .replace(/:\d\d\.\d+Z$/, 'Z')
        .replace('T00:00Z', '');
}

function markdownOf(summary: string, links: Links): string {
  if (!summary.includes('<') && !summary.includes('&')) return cut(summary.trim());
  const { body } = parseHtml(summary);
  removeHidden(body);
  return cut(writeMarkdown(body, links));
}

function cut(text: string): string {
  if (text.length <= MAX_SUMMARY) return text;
  const end = text.lastIndexOf(' ', MAX_SUMMARY);
  return `${text.slice(0, end > MAX_SUMMARY / 2 ? end : MAX_SUMMARY)} …`;
}
