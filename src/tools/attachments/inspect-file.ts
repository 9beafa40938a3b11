import type { AttachmentDetails, AttachmentType } from '../../protocol/attachment.ts';
import {
  type AttachmentFormat,
  type PixelSize,
  png,
  jpeg,
  gif,
  webp,
  type Inspection,
} from './image-formats.ts';

/** The bytes at the end of a file in which the end mark is searched for, because some programs add bytes after it. */
const TAIL_BYTES = 2048;

/** The PDF format: https://opensource.adobe.com/dc-acrobat-sdk-docs/pdfstandards/PDF32000_2008.pdf, 7.5 */
const pdf: AttachmentFormat = {
  matches: (head) => head.toString('latin1', 0, 5) === '%PDF-',
  size: () => null,
  inspect: inspectPdf,
};

function inspectPdf(bytes: Buffer): Inspection {
  const text = bytes.toString('latin1');
  if (!text.includes('%%EOF', Math.max(0, text.length - TAIL_BYTES))) {
    return { flaw: 'it is cut off' };
  }
  if (/\/Encrypt[\s<]/.test(text)) return { flaw: 'it is encrypted' };
  const pages = pagesIn(text);
  return pages === 0 ? {} : { pages };
}

/**
 * Counts the pages from what is not compressed: the pages themselves, and the counts that the document and the nodes
 * of its page tree give. Returns 0 where all of that is compressed.
 */
function pagesIn(text: string): number {
  const pages = [...text.matchAll(/\/Type\s?\/Page(?![A-Za-z])/g)].length;
  const counts = [
    ...text.slice(0, TAIL_BYTES).matchAll(/\/Linearized[^>]{0,200}?\/N\s(\d{1,6})/g),
    ...text.matchAll(/\/Type\s?\/Pages\b[^<>]{0,400}?\/Count\s(\d{1,6})/g),
    ...text.matchAll(/\/Count\s(\d{1,6})[^<>]{0,400}?\/Type\s?\/Pages\b/g),
  ];
  return counts.reduce((most, [, count]) => Math.max(most, Number(count)), pages);
}

const FORMATS: readonly (readonly [AttachmentType, AttachmentFormat])[] = [
  ['image/png', png],
  ['image/jpeg', jpeg],
  ['image/gif', gif],
  ['image/webp', webp],
  ['application/pdf', pdf],
];

/** Detects an attachment by the first bytes and the length of its file; null for a file of any other kind. */
export function detectAttachment(head: Buffer, bytes: number): AttachmentDetails | null {
  const found = FORMATS.find(([, { matches }]) => matches(head));
  if (found === undefined) return null;
  const [type, { size }] = found;
  return { type, bytes, ...validSize(size(head)) };
}

/** Inspects a complete file. Returns a phrase that says what is wrong with it when it cannot be attached. */
export function inspectAttachment(bytes: Buffer): AttachmentDetails | string {
  const found = FORMATS.find(([, { matches }]) => matches(bytes));
  if (found === undefined) return 'it changed while it was read';
  const [type, { size, inspect }] = found;
  const inspection = inspect(bytes);
  if ('flaw' in inspection) return inspection.flaw;
  const pixels = validSize(size(bytes));
  if (pixels === null && type !== 'application/pdf') return 'it does not give its size';
  return { type, bytes: bytes.length, ...pixels, ...inspection };
}

function validSize(size: PixelSize | null): PixelSize | null {
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}
