import type { AttachmentDetails } from '../protocol/attachment.ts';

/** Whose way of counting images and documents it is. */
export type AttachmentCount = 'anthropic' | 'openai' | 'google' | 'gemini-3';

/** Where the vendors say so, and the day they were looked up: 2026-11-22. They are rules of thumb. */
const COUNTS: Readonly<Record<AttachmentCount, (facts: Sized) => number>> = {
  // https://platform.claude.com/docs/en/build-with-claude/vision: pixels / 750, scaled down to about 1600
  // tokens; …/pdf-support: 1500 to 3000 a page for its text, and an image of it.
  anthropic: ({ pages, width, height }) =>
    pages === null ? Math.min((width * height) / 750, 1600) : pages * 3000,
  // https://developers.openai.com/api/docs/guides/images-vision: tiles; …/pdf-files: a page is its text
  // and an image.
  openai: ({ pages, width, height }) =>
    pages === null ? 85 + 170 * openaiTiles(width, height) : pages * 1500,
  // https://ai.google.dev/gemini-api/docs/tokens: 258 a tile, a page as an image.
  google: ({ pages, width, height }) => 258 * (pages ?? googleTiles(width, height)),
  // https://docs.cloud.google.com/vertex-ai/docs/generative-ai/image/image-captioning: the default
  // resolution takes so many, whatever the size; a page half of it.
  'gemini-3': ({ pages }) => (pages === null ? 1120 : pages * 560),
};

interface Sized {
  /** Null: it is an image. */
  readonly pages: number | null;
  readonly width: number;
  readonly height: number;
}

/** Of a document that does not say how many it has. */
const BYTES_A_PAGE = 50_000;

/** What an image or a document takes in a request, estimated. */
export function attachmentTokens(count: AttachmentCount, facts: AttachmentDetails): number {
  const { type, bytes, width = 1, height = 1 } = facts;
  const pages = facts.pages ?? Math.max(1, Math.ceil(bytes / BYTES_A_PAGE));
  const sized = { pages: type === 'application/pdf' ? pages : null, width, height };
  return Math.ceil(COUNTS[count](sized));
}

/** Scaled into 2048 × 2048, then its shorter side to 768, it is laid out with tiles of 512. */
function openaiTiles(width: number, height: number): number {
  const fit = Math.min(1, 2048 / Math.max(width, height));
  const scale = fit * Math.min(1, 768 / (Math.min(width, height) * fit));
  return Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512);
}

/** A small one is one; else tiles of two thirds of its shorter side, from 256 to 768. */
function googleTiles(width: number, height: number): number {
  if (width <= 384 && height <= 384) return 1;
  const unit = Math.min(768, Math.max(256, Math.floor(Math.min(width, height) / 1.5)));
  return Math.ceil(width / unit) * Math.ceil(height / unit);
}
