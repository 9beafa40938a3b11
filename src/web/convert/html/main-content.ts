import { findElement, findOutermost, isHeading, lineText, PageElement } from './element.ts';
import { Measures } from './measure.ts';

/** The share of the page's prose that the main part must have, if nothing else says that it is the main part. */
const MOST = 0.9;

/**
 * Finds the part of a page that holds its content. Documentation loses more by a part too small than by one too
 * large, so a part without a clear sign must hold nearly all of the prose.
 */
export function findMainContent(body: PageElement, isArticle: boolean): PageElement {
  const measures = new Measures(body);
  const marked = findMarked(body, measures, isArticle);
  return descend(marked === null ? body : includeTitle(body, marked, measures), measures);
}

/** Finds the part that the page itself marks as its content. */
function findMarked(body: PageElement, measures: Measures, isArticle: boolean): PageElement | null {
  const main = largest(findOutermost(body, isMain), measures);
  const total = measures.prose(body);
  const scope = main !== null && measures.prose(main) > Math.min(250, total * 0.5) ? main : null;
  const articles = findOutermost(scope ?? body, ({ name }) => name === 'article');
  const article = largest(articles, measures);
  if (article === null) return scope ?? findArticleBody(body, measures, isArticle);
  const prose = measures.prose(article);
  const others = measures.prose(scope ?? body);
  const needed = articles.length === 1 || isArticle ? 0.3 : 0.8;
  if (
    prose > others * (scope === null ? needed : Math.max(needed, isArticle ? 0.3 : 0.7)) &&
    prose > 250
  )
    return article;
  return scope;
}

function isMain({ name, attributes }: PageElement): boolean {
  return name === 'main' || attributes.get('role')?.toLowerCase() === 'main';
}

function largest(elements: readonly PageElement[], measures: Measures): PageElement | null {
  let best: PageElement | null = null;
  for (const element of elements) {
    if (best === null || measures.prose(element) > measures.prose(best)) best = element;
  }
  return best;
}

const BODY_NAMES =
  /^(?:article-?body|article__body|story-?body|post-?(?:content|body)|entry-?content|mw-content-text|bodycontent|article-?content|main-?content|content-main)$/i;

/** Finds the body of an article by names that many publishing systems use. */
function findArticleBody(
  body: PageElement,
  measures: Measures,
  isArticle: boolean,
): PageElement | null {
  const isBody = (element: PageElement): boolean =>
    element.attribute('itemprop') === 'articleBody' ||
    BODY_NAMES.test(element.attribute('id')) ||
    element.classNames.some((name) => BODY_NAMES.test(name));
  const found = findOutermost(body, isBody);
  const best = largest(found, measures);
  if (best === null || measures.prose(best) < 250) return null;
  const needed = isArticle && found.length <= 3 ? 0.25 : 0.6;
  return measures.prose(best) > measures.prose(body) * needed ? best : null;
}

/** Descends while one child holds nearly all of the prose, and the others are only links. */
function descend(scope: PageElement, measures: Measures): PageElement {
  const enough = measures.prose(scope) * MOST;
  let current = scope;
  for (;;) {
    const next = current.elements.find((child) => measures.prose(child) > enough);
    if (
      next === undefined ||
      !/^(?:div|section|article|main|center|form|td|tr|tbody|table)$/.test(next.name)
    )
      return current;
    const hasMore = current.children.some(
      (child) =>
        child !== next &&
        (typeof child === 'string' ? child.trim() !== '' : hasContent(child, measures)),
    );
    if (hasMore) return current;
    current = next;
  }
}

/** Tests whether an element has text that is not only links. */
function hasContent(element: PageElement, measures: Measures): boolean {
  const { text } = measures.of(element);
  return text > 0 && (isHeading(element) || measures.linkDensity(element) < 0.6);
}

/** Widens the content to the part that also contains the title, unless much else comes with it. */
function includeTitle(body: PageElement, content: PageElement, measures: Measures): PageElement {
  if (findElement(content, ({ name }) => name === 'h1') !== null) return content;
  for (let { parent } = content; parent !== null && parent !== body; { parent } = parent) {
    if (measures.prose(parent) > measures.prose(content) * 1.25 + 300) return content;
    if (findElement(parent, ({ name }) => name === 'h1') !== null) return parent;
  }
  return content;
}

/** Returns the heading that names the page, if it stands before its content; otherwise null. */
export function findTitleHeading(
  body: PageElement,
  content: PageElement,
  title: string,
): PageElement | null {
  if (findElement(content, ({ name }) => name === 'h1') !== null || content === body) return null;
  const headings = findOutermost(body, isHeading).filter(
    ({ name }) => name === 'h1' || name === 'h2',
  );
  const contentHeadings = new Set(findOutermost(content, isHeading));
  return (
    headings.find((heading) => {
      const text = lineText(heading);
      return (
        !contentHeadings.has(heading) &&
        text.length > 3 &&
        (title.includes(text) || heading.name === 'h1')
      );
    }) ?? null
  );
}
