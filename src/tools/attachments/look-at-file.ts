import type { AttachmentDetails, AttachmentType } from '../../protocol/attachment.ts';
import type { FileLook, PixelSize } from './file-look.ts';
import { gif } from './gif.ts';
import { jpeg } from './jpeg.ts';
import { pdf } from './pdf.ts';
import { png } from './png.ts';
import { webp } from './webp.ts';

const LOOKS: readonly (readonly [AttachmentType, FileLook])[] = [
  ['image/png', png],
  ['image/jpeg', jpeg],
  ['image/gif', gif],
  ['image/webp', webp],
  ['application/pdf', pdf],
];

/** What a file is, by its first bytes and its length; null: nothing that could be shown. */
export function announcedFacts(head: Buffer, bytes: number): AttachmentDetails | null {
  const found = LOOKS.find(([, { begins }]) => begins(head));
  if (found === undefined) return null;
  const [type, { size }] = found;
  return { type, bytes, ...possible(size(head)) };
}

/** The same for a whole file; in words what is wrong with it. */
export function wholeFacts(bytes: Buffer): AttachmentDetails | string {
  const found = LOOKS.find(([, { begins }]) => begins(bytes));
  if (found === undefined) return 'it has changed while it was read';
  const [type, { size, look }] = found;
  const looked = look(bytes);
  if ('flaw' in looked) return looked.flaw;
  const pixels = possible(size(bytes));
  if (pixels === null && type !== 'application/pdf') return 'it does not say its size';
  return { type, bytes: bytes.length, ...pixels, ...looked };
}

function possible(size: PixelSize | null): PixelSize | null {
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}
