import { findElement, isHeading, lineText, PageElement } from './element.ts';
import type { Measures } from './measure.ts';

/** A part with more text than this that is not in links is only removed where its name leaves no doubt. */
export const SOME_PROSE = 400;

/** Words of classes and identifiers of parts that are never content. */
const NEVER_CONTENT = wordSet(
  'cookie-banner cookie-consent cookie-notice cookie-bar cookie-policy cookie-law cookiebanner cookiebar cookieconsent ' +
    'consent gdpr ccpa onetrust truste privacy-manager ' +
    'ad ads adv advert adverts advertisement advertising adsbygoogle adslot adbox adsense dfp sponsor sponsored sponsors ' +
    'outbrain taboola promo promos promotion ' +
    'share sharing sharebar sharethis addthis sharedaddy addtoany social socials social-media social-links social-share ' +
    'jp-relatedposts relatedposts related-posts related-articles related-content related-stories related-links related-news ' +
    'recommended recommendations recirc more-stories trending most-read most-popular popular-posts read-next up-next ' +
    'newsletter newsletters mailing-list subscribe subscription signup sign-up email-signup ' +
    'breadcrumb breadcrumbs crumbs pagination pager prev-next prevnext post-navigation page-navigation nav-links related ' +
    'skip-link skip-links skiplink skip-nav skip-to-content skip ' +
    'editsection mw-editsection mw-jump mw-jump-link jump-link catlinks printfooter sitesub navbox noprint ' +
    'respond reply-form comment-form commentform comment-respond paywall login-form signin sign-in lang-switcher',
);

/** Words of parts that are not content unless they contain much text. */
const SELDOM_CONTENT = wordSet(
  'nav navbar navigation navs topnav subnav sidenav sidenavs top-nav nav-header navheader navfooter nav-panel menu menus ' +
    'menubar footer site-footer page-footer colophon masthead site-header topbar top-bar banner ' +
    'sidebar side-bar sidebars sidecolumn rail right-rail left-rail sphinxsidebar secondary ' +
    'modal popup popover overlay lightbox toast snackbar toolbar widget widgets ' +
    'toplang bottomlang language-switch languages p-lang interlanguage translations ' +
    'meta-nav tagline post-tags tags tag-list byline-social print-only search searchbox search-form quicksearch ' +
    'feedback rating was-this-helpful helpful copyright legal disclaimer quickview page-tools',
);

/** Classes of notes and warnings, which belong to the content. */
export const CONTENT_NOTES =
  /(?:^|[\s_-])(?:note|tip|hint|info|warn(?:ing)?|caution|danger|important|callout|admonition|aside|alert|example|sidenote|footnotes?|marginnote|starlight-aside|topic)(?:$|[\s_-])/i;

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

const NAMED_PARTS = wordSet(
  'div section aside nav ul ol dl form table tr td header footer p span center details figure button fieldset',
);

/** Tests whether the classes or the identifier of a part say that it is not content. */
export function isBoilerplateByName(element: PageElement, measures: Measures): boolean {
  if (!NAMED_PARTS.has(element.name)) return false;
  const names = namesOf(element);
  if (names.length === 0) return false;
  const prose = measures.prose(element);
  if (names.some((name) => NEVER_CONTENT.has(name))) {
    // A class such as "ad" is also a word of other meanings.
    return prose < 1500;
  }
  if (
    !names.some((name) => SELDOM_CONTENT.has(name)) ||
    CONTENT_NOTES.test(element.attribute('class'))
  )
    return false;
  const hasContent = findElement(element, ({ name }) => name === 'pre' || name === 'dl') !== null;
  return measures.linkDensity(element) > 0.5 || (prose < SOME_PROSE && !hasContent);
}

/**
 * Returns the words of the classes and the identifier of an element, alone and in pairs. The identifier of a section
 * is usually made from its heading, and then says nothing about its purpose.
 */
function namesOf(element: PageElement): readonly string[] {
  const id = element.attribute('id');
  const names = [...element.classNames];
  if (id !== '' && /^[\w-]+$/.test(id) && !isNamedAfterHeading(element, id)) names.push(id);
  return names.filter(({ length }) => length <= 60).flatMap(wordsOfName);
}

/** Returns a name, its words, and its pairs of words. */
function wordsOfName(name: string): readonly string[] {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  const pairs = words.slice(1).map((word, index) => `${words[index]}-${word}`);
  // In a name with many words, a single one says little: "menu-item-object-category".
  if (words.length > 3) return [name.toLowerCase(), ...pairs];
  const single = words.filter((word, index) => word !== 'related' || index === 0);
  return [name.toLowerCase(), ...single, ...pairs];
}

function isNamedAfterHeading(element: PageElement, id: string): boolean {
  const heading =
    element.name === 'section' || element.name === 'div' ? findElement(element, isHeading) : null;
  if (heading === null) return false;
  const slug = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
  const title = slug(lineText(heading));
  const name = slug(id);
  return title !== '' && (title.includes(name) || name.includes(title));
}
