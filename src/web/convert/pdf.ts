import { getDocumentProxy } from 'unpdf';
import type { ConvertedPage } from './page.ts';

/** The largest number of pages that are read. */
const MAX_PAGES = 1000;
/** The time in ms after which no further page is begun, so that a large document is at least read in part. */
const READING_TIME_MS = 12_000;

/** Reads the text of a PDF document, with a line before each page. */
export async function convertPdf(bytes: Uint8Array): Promise<ConvertedPage> {
  const document = await openDocument(bytes);
  if (document === null) return { kind: 'unsupported', mediaType: 'application/pdf' };
  const started = performance.now();
  const pages: string[] = [];
  let hasText = false;
  const count = document.numPages;
  while (
    pages.length < Math.min(count, MAX_PAGES) &&
    performance.now() - started < READING_TIME_MS
  ) {
    const page = await document.getPage(pages.length + 1);
    const { items } = await page.getTextContent();
    const text = joinItems(items.filter((item) => 'str' in item));
    page.cleanup();
    hasText ||= text !== '';
    pages.push(`[Page ${pages.length + 1} of ${count}]\n\n${text}`.trim());
  }
  const title = await readTitle(document);
  await document.loadingTask.destroy();
  if (!hasText)
    pages.splice(0, pages.length, `(The document has no text. Its pages may be images: ${count}.)`);
  else if (pages.length < count)
    pages.push(`(The pages after page ${pages.length} were not read.)`);
  return { kind: 'pdf', title, text: pages.join('\n\n') };
}

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Opens a document; null if it is damaged or needs a password. */
async function openDocument(bytes: Uint8Array): Promise<PdfDocument | null> {
  try {
    return await getDocumentProxy(new Uint8Array(bytes), {
      // Nothing is fetched for a document.
      disableAutoFetch: true,
      disableFontFace: true,
      useSystemFonts: false,
      stopAtErrors: false,
      verbosity: 0,
    });
  } catch (thrown) {
    const isUnreadable =
      thrown instanceof Error && /^(?:InvalidPDF|Password|FormatError)/.test(thrown.name);
    if (isUnreadable) return null;
    throw thrown;
  }
}

async function readTitle(document: PdfDocument): Promise<string | null> {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }));
  const title = 'Title' in info && typeof info.Title === 'string' ? info.Title.trim() : '';
  return title === '' ? null : title;
}

/** A piece of text with its place on the page. */
interface TextItem {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly height: number;
  /** The matrix that places the text. Its last number is the height above the bottom of the page. */
  readonly transform: readonly number[];
}

/** Joins the pieces of a page to lines, with a blank line where the distance of two lines is larger than usual. */
function joinItems(items: readonly TextItem[]): string {
  let text = '';
  let line = '';
  let lastY: number | null = null;
  const endLine = (): void => {
    text += `${line.trimEnd()}\n`;
    line = '';
  };
  for (const { str, hasEOL, height, transform } of items) {
    const y = transform[5] ?? 0;
    if (line === '' && str.trim() !== '') {
      if (lastY !== null && height > 0 && Math.abs(lastY - y) > height * 1.8) text += '\n';
      lastY = y;
    }
    line += str;
    if (hasEOL) endLine();
  }
  endLine();
  return text.replaceAll(/\n{3,}/g, '\n\n').trim();
}
