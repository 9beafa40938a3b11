import { findElement, isHeading, lineText, shortText, PageElement } from './element.ts';
import type { Measures } from './measure.ts';

const RELATED_TITLE =
  /^(?:related(?! (?:work|functions?|commands?|options?|projects?|tools))|recommended|more (?:from|on|in|stories|news|videos)\b|read (?:more|next|also)|what to read next|you (?:may|might) also|popular|most (?:read|popular|viewed)|trending|latest (?:news|posts|stories)|top stories|share (?:this|on)|follow us|like this|newsletter|sign up|subscribe|advertisement|sponsored|elsewhere on|leave a (?:reply|comment)|las más leídas|meistgelesen|features & analysis)/i;
const PAGER_WORDS = /\b(?:next|prev(?:ious)?|up|home|top|contents|index)\b|[«»‹›←→]/gi;

/** Tests whether a part only leads to other places of the page or to other pages. */
export function isLinkPart(
  element: PageElement,
  measures: Measures,
  isBeforeTitle: boolean,
): boolean {
  return (
    isTableOfContents(element, measures) ||
    isRelatedPart(element, measures) ||
    isPager(element, measures) ||
    (isBeforeTitle && isBreadcrumb(element, measures))
  );
}

/** Tests whether a part lists the headings of the page itself. */
function isTableOfContents(element: PageElement, measures: Measures): boolean {
  if (!/^(?:div|ul|ol|dl|table|details|section|p)$/.test(element.name)) return false;
  const { text, links, localLinks } = measures.of(element);
  if (links < 3 || text === 0) return false;
  return localLinks >= links * 0.8 && measures.linkDensity(element) > 0.75;
}

/** Tests whether a part is a list of other pages, by its title. */
function isRelatedPart(element: PageElement, measures: Measures): boolean {
  if (
    !/^(?:div|section|aside|ul|table|tr|td)$/.test(element.name) ||
    measures.of(element).links < 2
  )
    return false;
  const first = firstText(element);
  if (first === null || !RELATED_TITLE.test(shortText(first, 60))) return false;
  return measures.linkDensity(element) > 0.3 || measures.prose(element) < 150;
}

/** Returns the first child that has a text, as deep as there is only one. */
function firstText(element: PageElement): PageElement | null {
  let current = element;
  for (let depth = 0; depth < 4; depth += 1) {
    const first = current.children.find((child) =>
      typeof child === 'string'
        ? child.trim() !== ''
        : child.children.length > 0 && shortText(child, 10) !== '',
    );
    if (first === undefined || typeof first === 'string') return null;
    if (isHeading(first) || /^(?:strong|b|p|span|summary)$/.test(first.name)) return first;
    current = first;
  }
  return null;
}

/** Tests whether a part only leads to the pages before and after this one. */
function isPager(element: PageElement, measures: Measures): boolean {
  if (!/^(?:div|p|table|ul|center|section|h3|h2)$/.test(element.name)) return false;
  const { text, links } = measures.of(element);
  if (links < 2 || links > 12 || text > 300) return false;
  const line = lineText(element);
  const hits = line.match(PAGER_WORDS)?.length ?? 0;
  if (hits >= 2 && measures.linkDensity(element) > 0.4) return true;
  return isRelatedByLink(element) && measures.linkDensity(element) > 0.5;
}

/** Tests whether a line leads to the pages above this one. */
function isBreadcrumb(element: PageElement, measures: Measures): boolean {
  if (!/^(?:div|p|ul|ol|span|td|center)$/.test(element.name)) return false;
  const { text, links } = measures.of(element);
  if (links < 2 || text > 200 || measures.linkDensity(element) < 0.3) return false;
  const separators = lineText(element).match(/[|>»›→·/]/g)?.length ?? 0;
  return separators >= Math.max(2, links - 1);
}

/** Tests whether a part is a column of links beside a part with most of the prose. */
export function isSideColumn(element: PageElement, measures: Measures): boolean {
  const isCell = element.name === 'td';
  if (!(isCell || element.name === 'div' || element.name === 'ul') || element.parent === null)
    return false;
  if (measures.of(element).links < (isCell ? 5 : 10)) return false;
  if (measures.linkDensity(element) < (isCell ? 0.5 : 0.8)) return false;
  // On a page that is an index, all columns are links.
  const enough = Math.max(measures.prose(element.parent) * 0.5, isCell ? 150 : 1000);
  return element.parent.elements.some(
    (other) =>
      other !== element &&
      other.name === element.name &&
      measures.prose(other) > enough &&
      measures.linkDensity(other) < 0.4,
  );
}

function isRelatedByLink(element: PageElement): boolean {
  return (
    findElement(
      element,
      ({ name, attributes }) => name === 'a' && /^(?:next|prev)$/.test(attributes.get('rel') ?? ''),
    ) !== null
  );
}
