import { removeBoilerplate } from './boilerplate.ts';
import { findElement, lineText, PageElement } from './element.ts';
import { removeHidden } from './hidden.ts';
import { Links } from './links.ts';
import { findMainContent, findTitleHeading } from './main-content.ts';
import { countCharacters } from './measure.ts';
import { parseHtml, type ParsedPage } from './parse-html.ts';
import { placeTabTitles } from './tabs.ts';
import { writeMarkdown } from './write-markdown.ts';

/** A page with less text than this may have lost it. */
const LITTLE_TEXT = 250;

/** A page with scripts and less text than this gets its content from the scripts. */
const ALMOST_NO_TEXT = 100;

/** Converts a page to markdown: its main content, without navigation, advertisements and hidden text. */
export function convertHtml(
  html: string,
  url: URL,
): { readonly title: string | null; readonly text: string } {
  const page = parseHtml(html);
  removeHidden(page.body);
  const whole = countText(page.body);
  const links = new Links(url, page.base);
  let text = writeMainContent(page, links);
  if (countCharacters(text) < LITTLE_TEXT && countCharacters(text) < whole / 2) {
    // Too much is gone: the whole page is better than a remnant.
    const again = parseHtml(html);
    removeHidden(again.body);
    text = writeMarkdown(again.body, new Links(url, again.base));
  }
  const title = titleOf(page);
  return { title, text: describeLittleText(page, text) };
}

function countText(body: PageElement): number {
  return countCharacters(lineText(body));
}

function writeMainContent(page: ParsedPage, links: Links): string {
  const { body, title } = page;
  placeTabTitles(body);
  const isArticle =
    /^(?:article|blog|news)/i.test(page.meta.get('og:type') ?? '') ||
    page.meta.has('article:published_time');
  removeBoilerplate(body, { title, isArticle });
  const content = findMainContent(body, isArticle);
  const heading = findTitleHeading(body, content, title);
  const text = writeMarkdown(content, links);
  if (heading === null) return text;
  const line = lineText(heading);
  return text.includes(`# ${line}`) ? text : `# ${line}\n\n${text}`;
}

function titleOf({ title, meta, body }: ParsedPage): string | null {
  const heading = findElement(body, ({ name }) => name === 'h1');
  const found = [title, meta.get('og:title') ?? '', heading === null ? '' : lineText(heading)].find(
    (each) => each.trim() !== '',
  );
  return found?.trim() ?? null;
}

/** Adds a line that says why a page has little text, so that nobody takes it for all of the content. */
function describeLittleText({ meta, hasScripts }: ParsedPage, text: string): string {
  if (countCharacters(text) >= LITTLE_TEXT) return text;
  const about = meta.get('description') ?? meta.get('og:description') ?? '';
  const note =
    hasScripts && countCharacters(text) < ALMOST_NO_TEXT
      ? '(This page has little text without JavaScript, which is not run here.)'
      : text === ''
        ? '(The page has no text.)'
        : '';
  return [text, text.includes(about) ? '' : about, note]
    .filter((each) => each.trim() !== '')
    .join('\n\n');
}
