import { descendants, PageElement } from './element.ts';

/** Classes of texts that only screen readers read. A person who looks at the page does not see them. */
const SCREEN_READER =
  /^(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?|a11y-hidden|offscreen|assistive-text)$/i;

/** Declarations that make an element invisible. */
const INVISIBLE: readonly RegExp[] = [
  /(?:^|;)\s*display\s*:\s*none\b/,
  /(?:^|;)\s*visibility\s*:\s*(?:hidden|collapse)\b/,
  /(?:^|;)\s*opacity\s*:\s*0*(?:\.0*)?%?\s*(?:!|;|$)/,
  /(?:^|;)\s*font-size\s*:\s*0*(?:\.0*)?(?:px|pt|r?em|%|vw|vh)?\s*(?:!|;|$)/,
  /(?:^|;)\s*(?:left|right|top|text-indent|margin-left|margin-top)\s*:\s*-\d{4,}/,
  /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*;(?:[^]*;)?\s*overflow\s*:\s*hidden/,
  /(?:^|;)\s*clip\s*:\s*rect\(\s*0/,
  /(?:^|;)\s*transform\s*:\s*scale\(\s*0\s*\)/,
];

const COLOR = /(?:^|;)\s*color\s*:\s*([^;!]+)/;
const BACKGROUND = /(?:^|;)\s*background(?:-color)?\s*:\s*([^;!]+)/;
const WHITE =
  /^(?:white|#f{3,8}|rgba?\(\s*255\s*,\s*255\s*,\s*255\b.*\)|transparent|rgba\(.*,\s*0\s*\))$/;

/** Tests whether a page hides an element: its text could give a model instructions that no person sees. */
function isHidden(element: PageElement): boolean {
  const { attributes } = element;
  if (attributes.size === 0) return false;
  if (attributes.has('hidden') || attributes.get('aria-hidden')?.toLowerCase() === 'true')
    return true;
  const style = attributes.get('style')?.toLowerCase();
  if (style !== undefined && INVISIBLE.some((pattern) => pattern.test(style))) return true;
  if (hasInvisibleColor(element, style ?? '')) return true;
  return element.classNames.some((name) => SCREEN_READER.test(name));
}

/** Tests whether a text has the color of its ground, or is white on a page that says nothing about its ground. */
function hasInvisibleColor(element: PageElement, style: string): boolean {
  const color = (COLOR.exec(style)?.[1] ?? element.attribute('color')).trim().toLowerCase();
  if (color === '') return false;
  if (/^(?:transparent|rgba\(.*,\s*0\s*\))$/.test(color)) return true;
  const ground = BACKGROUND.exec(style)?.[1]?.trim() ?? element.attribute('bgcolor').toLowerCase();
  if (ground !== '') return ground === color || (WHITE.test(ground) && WHITE.test(color));
  return WHITE.test(color) && !hasGround(element);
}

/** Tests whether an element above has a ground of its own, on which white text can be read. */
function hasGround({ parent }: PageElement): boolean {
  for (let above = parent; above !== null; above = above.parent) {
    if (/background/i.test(above.attribute('style')) || above.attributes.has('bgcolor'))
      return true;
    // The ground may come from a style sheet.
    if (above.attributes.has('class')) return true;
  }
  return false;
}

/**
 * Removes the hidden elements of a page. A panel that a visible tab shows is kept, and so is the content of `details`,
 * since a person sees them with a click.
 */
export function removeHidden(body: PageElement): void {
  const panels = new Set<string>();
  for (const element of descendants(body)) {
    if (element.attribute('role') === 'tab') panels.add(element.attribute('aria-controls'));
  }
  panels.delete('');
  const clean = (element: PageElement): void => {
    element.children = element.children.filter((child) => {
      if (typeof child === 'string') return true;
      if (isHidden(child) && !panels.has(child.attribute('id'))) return false;
      clean(child);
      return true;
    });
  };
  clean(body);
}
