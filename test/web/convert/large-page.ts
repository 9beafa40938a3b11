import { convertPage } from '../../../src/web/convert/convert-page.ts';
import type { ConvertedPage } from '../../../src/web/convert/page.ts';

const SIZE = 5_000_000;

/** A time that is long enough on a machine that is busy with other tests. */
const LONG_MS = 200_000;

/** Converts a page in the worker, with its limits except the one on its time. */
export function convertHtml(
  html: string,
  signal = new AbortController().signal,
): Promise<ConvertedPage> {
  const page = {
    bytes: Buffer.from(html),
    contentType: 'text/html',
    url: new URL('https://e.org/'),
  };
  return convertPage(page, { signal, timeMs: LONG_MS });
}

/** Returns a piece as often as it fits into a page of 5 MB. */
export function fillPage(piece: string): string {
  return piece.repeat(SIZE / piece.length);
}
