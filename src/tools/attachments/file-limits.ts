import { isImage, type AttachmentDetails } from '../../protocol/attachment.ts';

/**
 * The most that every provider takes of one file. One that is refused would stand in the conversation, and
 * each request after it would be refused, too; so the narrowest holds for all.
 *
 * Anthropic: 5 MB an image, counted in base64, and 8000 pixels a side; 100 pages a document for models with
 * a window of 200,000 tokens (https://platform.claude.com/docs/en/build-with-claude/vision and
 * …/pdf-support, looked up 2026-11-22). Google: 20 MB a request with what stands in it
 * (https://firebase.google.com/docs/ai-logic/input-file-requirements), of which a document may have half.
 */
const IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
const IMAGE_PIXELS = 8000;
const PDF_BYTES = 7_500_000;
const PDF_PAGES = 100;

/** In words that go on after "not shown: "; null: it is not. */
export function whyTooLarge(facts: AttachmentDetails): string | null {
  const { bytes, width = 0, height = 0, pages = 0 } = facts;
  if (isImage(facts)) {
    if (bytes > IMAGE_BYTES) {
      return `it has more than ${IMAGE_BYTES} bytes (limit image_bytes). Make a smaller one of it first`;
    }
    return Math.max(width, height) > IMAGE_PIXELS
      ? `it has more than ${IMAGE_PIXELS} pixels on a side (limit image_pixels). Scale it down first, or cut out what matters`
      : null;
  }
  if (bytes > PDF_BYTES) return `it has more than ${PDF_BYTES} bytes (limit pdf_bytes)`;
  return pages > PDF_PAGES
    ? `it has more than ${PDF_PAGES} pages (limit pdf_pages). Take out those that matter first`
    : null;
}
