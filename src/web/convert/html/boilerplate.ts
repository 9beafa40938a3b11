import { descendants, findElement, isHeading, shortText, type PageElement } from './element.ts';
import { isLinkPart, isSideColumn } from './link-parts.ts';
import { Measures } from './measure.ts';
import { CONTENT_NOTES, isBoilerplateByName, SOME_PROSE } from './part-names.ts';
import { removeClosingLines, removeContentsTitles, removeSmallParts } from './small-parts.ts';

/** An element with a larger share of the page's text is content, whatever its name says. */
const MAX_SHARE = 0.4;

/** Facts about a page that say how much of it is content. */
export interface PageFacts {
  /** The title of the page. */
  readonly title: string;
  /** True if the page says that it is an article, as those of newspapers and blogs do. */
  readonly isArticle: boolean;
}

/** Removes navigation, advertisements, forms and the like from a page. */
export function removeBoilerplate(body: PageElement, facts: PageFacts): void {
  removeSmallParts(body);
  const measures = new Measures(body);
  const total = measures.of(body).text;
  const beforeTitle = findBeforeTitle(body);
  const titles = findTitles(body, facts.title);
  const clean = (parent: PageElement): void => {
    parent.children = parent.children.filter((child) => {
      if (typeof child === 'string') return true;
      if (child.name === 'pre' || child.name === 'code' || child.name === 'math') return true;
      if (isBoilerplate(child, { measures, total, facts, titles, beforeTitle })) return false;
      clean(child);
      return true;
    });
  };
  clean(body);
  removeContentsTitles(body);
  removeClosingLines(body);
}

interface Surroundings {
  readonly measures: Measures;
  /** The number of characters of the page. */
  readonly total: number;
  readonly facts: PageFacts;
  /** The headings that are the title of the page, and the elements around them. */
  readonly titles: ReadonlySet<PageElement>;
  /** The elements before the first heading. */
  readonly beforeTitle: ReadonlySet<PageElement>;
}

/** Finds the elements that end before the first heading; none if there is no heading. */
function findBeforeTitle(body: PageElement): ReadonlySet<PageElement> {
  const before = new Set<PageElement>();
  for (const element of descendants(body)) {
    if (isHeading(element)) {
      for (let { parent } = element; parent !== null; { parent } = parent) before.delete(parent);
      return before;
    }
    before.add(element);
  }
  return new Set();
}

function isBoilerplate(element: PageElement, surroundings: Surroundings): boolean {
  const { measures, total, titles, beforeTitle } = surroundings;
  const { text } = measures.of(element);
  if (titles.has(element)) return false;
  if (isSideColumn(element, measures)) return true;
  if (text > total * MAX_SHARE) return false;
  return (
    isBoilerplateByRole(element, measures) ||
    isBoilerplateByName(element, measures) ||
    isLinkPart(element, measures, beforeTitle.has(element)) ||
    isTeaserList(element, surroundings) ||
    isComments(element, surroundings)
  );
}

/** Finds the headings that are the title of the page, and the elements around them. */
function findTitles(body: PageElement, title: string): ReadonlySet<PageElement> {
  const found = new Set<PageElement>();
  for (const element of descendants(body)) {
    if (element.name !== 'h1' && element.name !== 'h2') continue;
    const text = shortText(element, title.length + 10)
      .replace(/[¶#]$/, '')
      .trim();
    if (text.length <= 3 || text.length <= title.length / 4 || !title.includes(text)) continue;
    for (let above: PageElement | null = element; above !== null; above = above.parent)
      found.add(above);
  }
  return found;
}

function isBoilerplateByRole(element: PageElement, measures: Measures): boolean {
  const role = element.attribute('role').toLowerCase();
  if (
    /^(?:navigation|banner|contentinfo|search|menu|menubar|toolbar|tooltip|alertdialog|listbox|option)$/.test(
      role,
    )
  )
    return true;
  switch (element.name) {
    case 'nav':
    case 'search':
      return true;
    case 'footer':
      return isPageFooter(element, measures);
    case 'header':
      return !hasAncestor(element, 'main article section');
    case 'aside':
      return isBesideContent(element, measures);
    case 'dialog':
      return true;
    case 'form':
      return (
        measures.prose(element) < 300 &&
        findElement(element, ({ name }) => name === 'pre' || name === 'table') === null
      );
    default:
      return role === 'complementary' && isBesideContent(element, measures);
  }
}

function isPageFooter(footer: PageElement, measures: Measures): boolean {
  if (hasAncestor(footer, 'blockquote')) return false;
  const hasNotes =
    findElement(footer, ({ attributes }) => /^fn|note/.test(attributes.get('id') ?? '')) !== null;
  return !hasNotes && !(hasAncestor(footer, 'main article') && measures.prose(footer) > SOME_PROSE);
}

function isBesideContent(element: PageElement, measures: Measures): boolean {
  if (CONTENT_NOTES.test(element.attribute('class'))) return false;
  if (!hasAncestor(element, 'main article section')) return true;
  return measures.linkDensity(element) > 0.4 || measures.prose(element) < 20;
}

function hasAncestor({ parent }: PageElement, names: string): boolean {
  const list = names.split(' ');
  for (let above = parent; above !== null; above = above.parent) {
    if (list.includes(above.name) || (above.attribute('role') === 'main' && list.includes('main')))
      return true;
  }
  return false;
}

/** Tests whether a part of an article is a list of other articles. */
function isTeaserList(element: PageElement, { measures, facts }: Surroundings): boolean {
  if (!facts.isArticle || !/^(?:div|section|ul|aside)$/.test(element.name)) return false;
  const { links } = measures.of(element);
  return links >= 3 && measures.linkDensity(element) > 0.5 && measures.prose(element) < 300;
}

/** Tests whether a part contains the comments on an article. On other pages, such as forums, they are the content. */
function isComments(element: PageElement, { measures, total, facts }: Surroundings): boolean {
  if (!facts.isArticle) return false;
  const names = [...element.classNames, element.attribute('id')];
  const isNamed = names.some((name) =>
    /^(?:comments?|comment-?list|comments-area|disqus_thread|comments-section)$/i.test(name),
  );
  return isNamed && total - measures.of(element).text > 1500;
}
