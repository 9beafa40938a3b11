import type { FileLook, Looked } from './image-formats.ts';

/** Where the end mark is looked for: some programs leave bytes behind it. */
const TAIL_BYTES = 2048;

/** https://opensource.adobe.com/dc-acrobat-sdk-docs/pdfstandards/PDF32000_2008.pdf, 7.5 */
export const pdf: FileLook = {
  begins: (head) => head.toString('latin1', 0, 5) === '%PDF-',
  size: () => null,
  look,
};

function look(bytes: Buffer): Looked {
  const text = bytes.toString('latin1');
  if (!text.includes('%%EOF', Math.max(0, text.length - TAIL_BYTES))) {
    return { flaw: 'it breaks off' };
  }
  if (/\/Encrypt[\s<]/.test(text)) return { flaw: 'it is encrypted' };
  const pages = pagesIn(text);
  return pages === 0 ? {} : { pages };
}

/**
 * What stands in the open: the pages themselves, and what the document and the nodes of its page tree say
 * of their number. 0: all of that is compressed.
 */
function pagesIn(text: string): number {
  const pages = [...text.matchAll(/\/Type\s?\/Page(?![A-Za-z])/g)].length;
  const said = [
    ...text.slice(0, TAIL_BYTES).matchAll(/\/Linearized[^>]{0,200}?\/N\s(\d{1,6})/g),
    ...text.matchAll(/\/Type\s?\/Pages\b[^<>]{0,400}?\/Count\s(\d{1,6})/g),
    ...text.matchAll(/\/Count\s(\d{1,6})[^<>]{0,400}?\/Type\s?\/Pages\b/g),
  ];
  return said.reduce((most, [, count]) => Math.max(most, Number(count)), pages);
}
