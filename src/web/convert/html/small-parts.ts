import {
  descendants,
  findElement,
  isHeading,
  lineText,
  shortText,
  type PageElement,
} from './element.ts';

const SHARE_TARGET =
  /(?:facebook\.com\/(?:sharer|share|dialog)|(?:twitter|x)\.com\/(?:intent|share|home\?status)|linkedin\.com\/(?:sharearticle|shareArticle|cws)|reddit\.com\/submit|pinterest\.[a-z]+\/pin\/create|api\.whatsapp\.com|wa\.me\/\?|t\.me\/share|news\.ycombinator\.com\/submitlink|plus\.google\.com\/share|getpocket\.com\/(?:save|edit))/i;
const PERMALINK_SIGN = /^(?:[\s¶#§∞⚓\u200b\ufeff]|\ufe0e|\ufe0f|🔗)*$/u;
const PERMALINK_CLASS =
  /(?:^|[\s_-])(?:headerlink|header-?anchor|heading-?anchor|heading-?link|anchor-?link|anchorjs-link|hash-link|permalink|copiable-anchor|direct-link|self-?link|section-?link|sectionsign)(?:$|[\s_-])/i;
const CONTENTS_TITLE =
  /^(?:(?:table of )?contents|toc|on this page|in this (?:article|page|section|guide)|► ?table of contents|目次|目录|目錄|차례|inhalt(?:sverzeichnis)?|sommaire|table des matières|índice|indice)$/i;
const CLOSING_LINE =
  /^(?:copyright\b|©|\(c\) ?(?:19|20)\d\d|all rights reserved|created (?:using|with)|generated (?:by|using|with)|powered by|built with|last (?:updated|modified)|this page (?:was )?last|html markup produced by|published by|privacy policy|terms of (?:use|service)|page last)/i;

/** Removes buttons, links to places of the page beside headings, and links that share the page. */
export function removeSmallParts(body: PageElement): void {
  const hasTexScripts = findElement(body, ({ name }) => name === 'script') !== null;
  const clean = (parent: PageElement): void => {
    parent.children = parent.children.filter((child) => {
      if (typeof child === 'string') return true;
      if (isSmallPart(child) || (hasTexScripts && isDrawnFormula(child))) return false;
      clean(child);
      return true;
    });
  };
  clean(body);
}

/** Tests for a formula that a program has drawn beside its source. */
function isDrawnFormula({ name, classNames }: PageElement): boolean {
  return name !== 'script' && classNames.some((each) => each.startsWith('MathJax'));
}

function isSmallPart(element: PageElement): boolean {
  switch (element.name) {
    case 'button':
      return !isTextButton(element);
    case 'input':
      return element.attribute('type') !== 'checkbox';
    case 'a':
      return isPermalink(element) || SHARE_TARGET.test(element.attribute('href'));
    default:
      return false;
  }
}

/** Tests whether a button carries a text of the page: the title of a tab, the heading of a part, or a word of a sentence. */
function isTextButton({ parent, attributes }: PageElement): boolean {
  if (attributes.get('role') === 'tab') return true;
  if (parent === null) return false;
  return (
    isHeading(parent) || parent.name === 'summary' || parent.name === 'dt' || parent.name === 'p'
  );
}

function isPermalink(link: PageElement): boolean {
  const href = link.attribute('href');
  if (!href.includes('#')) return false;
  const text = lineText(link);
  if (text !== '' && PERMALINK_SIGN.test(text)) return true;
  return (
    PERMALINK_CLASS.test(link.attribute('class')) && text.length < 40 && !isWholeHeading(link, text)
  );
}

function isWholeHeading({ parent }: PageElement, text: string): boolean {
  return parent !== null && lineText(parent) === text;
}

/** Removes the titles that stand alone after a table of contents is gone. */
export function removeContentsTitles(body: PageElement): void {
  for (const element of [body, ...descendants(body)]) {
    element.children = element.children.filter((child) => {
      if (typeof child === 'string' || !child.isBlock) return true;
      const { length } = child.children;
      return length > 20 || !CONTENTS_TITLE.test(shortText(child, 60));
    });
  }
}

/** Removes copyright notices and the like at the end of a page. */
export function removeClosingLines(body: PageElement): void {
  let current = body;
  for (let step = 0; step < 200; step += 1) {
    const last = current.children.at(-1);
    if (last === undefined) {
      const { parent } = current;
      if (parent === null || current === body) return;
      current = parent;
      current.children.pop();
    } else if (typeof last === 'string') {
      if (last.trim() !== '' && !(CLOSING_LINE.test(last.trim()) && last.length < 400)) return;
      current.children.pop();
    } else {
      const text = shortText(last, 400);
      if (text === '' || (text.length < 400 && CLOSING_LINE.test(text))) current.children.pop();
      else if (
        last.name === 'div' ||
        last.name === 'center' ||
        last.name === 'section' ||
        last.name === 'article'
      )
        current = last;
      else return;
    }
  }
}
