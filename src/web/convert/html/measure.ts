import { PageElement } from './element.ts';

/** The amount of text in an element, in characters that are not white space. */
export interface Measure {
  readonly text: number;
  /** The part of the text that is in links. */
  readonly linked: number;
  /** The number of links with a text. */
  readonly links: number;
  /** The number of links to places of the same page. */
  readonly localLinks: number;
}

const NOTHING: Measure = { text: 0, linked: 0, links: 0, localLinks: 0 };

/** The measures of all elements of a page at one moment. */
export class Measures {
  private readonly measures = new Map<PageElement, Measure>();

  constructor(root: PageElement) {
    this.measure(root, false);
  }

  /** Returns the measure of an element of the page. */
  of(element: PageElement): Measure {
    return this.measures.get(element) ?? NOTHING;
  }

  /** Returns the number of characters that are not in links. */
  prose(element: PageElement): number {
    const { text, linked } = this.of(element);
    return text - linked;
  }

  /** Returns the share of the text that is in links, from 0 to 1. */
  linkDensity(element: PageElement): number {
    const { text, linked } = this.of(element);
    return text === 0 ? 0 : linked / text;
  }

  private measure(element: PageElement, inLink: boolean): Measure {
    const href = element.name === 'a' ? element.attribute('href') : '';
    const isLinked = inLink || href !== '';
    let text = 0;
    let linked = 0;
    let links = 0;
    let localLinks = 0;
    for (const child of element.children) {
      if (typeof child === 'string') {
        const length = countCharacters(child);
        text += length;
        if (isLinked) linked += length;
        continue;
      }
      const below = this.measure(child, isLinked);
      text += below.text;
      linked += below.linked;
      links += below.links;
      localLinks += below.localLinks;
    }
    if (href !== '' && text > 0) {
      links += 1;
      if (href.startsWith('#')) localLinks += 1;
    }
    const measure = { text, linked, links, localLinks };
    this.measures.set(element, measure);
    return measure;
  }
}

/**
 * Returns the number of characters of a text that are not white space. A character of a script without spaces
 * counts as two, since it says about as much as two letters.
 */
export function countCharacters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x20 && code !== 0xa0) count += code >= 0x2e80 && code < 0xd7a4 ? 2 : 1;
  }
  return count;
}
