import { isImage, type AttachmentDetails } from '../../protocol/attachment.ts';

/**
 * The largest file that every provider accepts. A file that one provider refuses would stay in the conversation, and
 * that provider would refuse each later request, too. So the lowest limit holds for all.
 *
 * Anthropic: 5 MB for an image, measured in base64, and 8000 pixels a side; 100 pages a document for models with
 * a window of 200,000 tokens (https://platform.claude.com/docs/en/build-with-claude/vision and
 * …/pdf-support, as of 2026-11-22). Google: 20 MB for a request with everything in it
 * (https://firebase.google.com/docs/ai-logic/input-file-requirements), of which a document may take half.
 */
const IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
const IMAGE_PIXELS = 8000;
const PDF_BYTES = 7_500_000;
const PDF_PAGES = 100;

/** Says which limit an attachment exceeds, as a phrase to follow "not shown: "; null when it exceeds none. */
export function describeExcess(facts: AttachmentDetails): string | null {
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
