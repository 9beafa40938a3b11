import { findElement, lineText, PageElement, rawText } from './element.ts';

const CLASSES =
  /^(?:katex|mwe-math-element|mathjax|mathjax_(?:display|svg|svg_display|chtml)|temml)$/i;
const TEX_IMAGE =
  /(?:^|[\s_-])(?:tex|latex|math|mwe-math-fallback-image-(?:inline|display))(?:$|[\s_-])/i;
const TEX_SERVICE =
  /(?:latex\.codecogs\.com|chart\.apis\.google\.com\/chart\?cht=tx|\/latex\.(?:php|cgi)|s\d?\.wp\.com\/latex)/;

/** A formula in TeX. */
export interface Formula {
  readonly tex: string;
  /** True if the formula stands on a line of its own. */
  readonly display: boolean;
}

/** Reads the formula that an element shows, or returns null if the element shows none. */
export function readFormula(element: PageElement): Formula | null {
  const { name } = element;
  if (name === 'script') {
    return {
      tex: rawText(element).trim(),
      display: /mode=display/.test(element.attribute('type')),
    };
  }
  if (name === 'img') return readImage(element);
  const attribute = ['data-tex', 'data-latex', 'data-math'].find((each) =>
    element.attributes.has(each),
  );
  const isFormula =
    name === 'math' ||
    name === 'mjx-container' ||
    element.classNames.some((each) => CLASSES.test(each));
  if (!isFormula && attribute === undefined) return null;
  const source = attribute === undefined ? texOf(element) : element.attribute(attribute).trim();
  return source === '' || source === null ? null : { tex: source, display: isDisplay(element) };
}

function readImage(image: PageElement): Formula | null {
  const alt = image.attribute('alt').trim();
  const isTex =
    TEX_IMAGE.test(image.attribute('class')) || TEX_SERVICE.test(image.attribute('src'));
  if (!isTex || alt === '') return null;
  const tex = /^\$+([^]*?)\$+$/.exec(alt)?.[1] ?? alt;
  return { tex: tex.trim(), display: /display/.test(image.attribute('class')) };
}

function isDisplay(element: PageElement): boolean {
  const math =
    element.name === 'math' ? element : findElement(element, ({ name }) => name === 'math');
  if (math?.attribute('display') === 'block' || element.attribute('display') === 'true')
    return true;
  return element.parent?.classNames.includes('katex-display') ?? false;
}

/** Returns the TeX source that stands beside a formula, or else a line of text for its MathML. */
function texOf(element: PageElement): string | null {
  const annotation = findElement(
    element,
    ({ name, attributes }) =>
      name === 'annotation' && /tex/i.test(attributes.get('encoding') ?? ''),
  );
  if (annotation !== null) return withoutStyle(rawText(annotation));
  const math =
    element.name === 'math' ? element : findElement(element, ({ name }) => name === 'math');
  if (math === null) return null;
  const alt = math.attribute('alttext').trim();
  return alt === '' ? lineOf(math).replaceAll(/\s+/g, ' ').trim() : withoutStyle(alt);
}

/** Removes the command that some programs put around each formula. */
function withoutStyle(tex: string): string {
  const inner = /^\s*\{\\displaystyle\s([^]*)\}\s*$/.exec(tex)?.[1];
  return (inner ?? tex).trim();
}

/** Writes MathML in the manner of TeX, so that fractions, roots and indices keep their meaning. */
function lineOf(element: PageElement): string {
  const parts = element.elements;
  const part = (index: number): string => {
    const found = parts[index];
    return found === undefined ? '' : lineOf(found).trim();
  };
  switch (element.name) {
    case 'mfrac':
      return `\\frac{${part(0)}}{${part(1)}}`;
    case 'msqrt':
      return `\\sqrt{${parts.map(lineOf).join(' ')}}`;
    case 'mroot':
      return `\\sqrt[${part(1)}]{${part(0)}}`;
    case 'msup':
    case 'mover':
      return `${part(0)}^{${part(1)}}`;
    case 'msub':
    case 'munder':
      return `${part(0)}_{${part(1)}}`;
    case 'msubsup':
    case 'munderover':
      return `${part(0)}_{${part(1)}}^{${part(2)}}`;
    case 'mtr':
      return `${parts.map((cell) => lineOf(cell).trim()).join(' & ')} \\\\ `;
    case 'annotation':
    case 'annotation-xml':
      return '';
    case 'mo':
      return ` ${lineText(element)} `;
    default:
      return parts.length === 0 ? lineText(element) : parts.map(lineOf).join('');
  }
}
