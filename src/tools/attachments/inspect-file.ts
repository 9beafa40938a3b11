import { crc32 } from 'node:zlib';
import { type AttachmentDetails, type AttachmentType, isImage } from '../../protocol/attachment.ts';

/** The size of an image in pixels. */
interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The result of inspecting a complete file: a flaw because of which a provider would refuse the file, or the numbers of
 * its frames or pages.
 */
type Inspection = { readonly flaw: string } | Pick<AttachmentDetails, 'frames' | 'pages'>;

/**
 * A A file format. The bytes of a file are never trusted: they are not decoded, the lengths in them are checked, and
 * each inspection reads them only once.
 */
interface AttachmentFormat {
  /** Whether a file that begins with these bytes has this format. */
  matches(head: Buffer): boolean;
  /** Returns the size from the beginning of the file, or null if the beginning does not contain it. */
  size(head: Buffer): PixelSize | null;
  /** Checks a complete file. */
  inspect(bytes: Buffer): Inspection;
}

/** The length of the signature at the start of each file. */
const SIGNATURE_BYTES = 8;
/** The length of the parts of a chunk besides its data: size, type and checksum. */
const CHUNK_OVERHEAD_BYTES = 12;

/** The PNG format: https://www.w3.org/TR/png-3/ */
const png: AttachmentFormat = {
  matches: (head) => head.subarray(0, SIGNATURE_BYTES).toString('hex') === '89504e470d0a1a0a',
  size(head) {
    if (head.length < 24 || head.toString('latin1', 12, 16) !== 'IHDR') return null;
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  },
  inspect(bytes): Inspection {
    let hasData = false;
    for (let at = SIGNATURE_BYTES; at + CHUNK_OVERHEAD_BYTES <= bytes.length;) {
      const length = bytes.readUInt32BE(at);
      const type = bytes.toString('latin1', at + 4, at + 8);
      const end = at + CHUNK_OVERHEAD_BYTES + length;
      if (end > bytes.length) return { flaw: 'it is cut off' };
      const sum = crc32(bytes.subarray(at + 4, end - 4));
      if (sum !== bytes.readUInt32BE(end - 4)) return { flaw: 'it is damaged' };
      if (type === 'IEND') return hasData ? {} : { flaw: 'it contains no picture' };
      hasData ||= type === 'IDAT';
      at = end;
    }
    return { flaw: 'it is cut off' };
  },
};

const START_OF_SCAN = 0xda;
/** The markers from C0 to CF that introduce tables and extensions instead of frame headers. */
const NON_FRAME_MARKERS = new Set([0xc4, 0xc8, 0xcc]);
const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);

/** The JPEG format: https://www.w3.org/Graphics/JPEG/itu-t81.pdf, annex B */
const jpeg: AttachmentFormat = {
  matches: (head) => head.subarray(0, 3).toString('hex') === 'ffd8ff',
  size: (head) => readSegments(head).size,
  inspect(bytes): Inspection {
    const { size, scan } = readSegments(bytes);
    if (size === null) return { flaw: 'it does not give its size' };
    if (scan === null) return { flaw: 'it contains no picture' };
    return bytes.indexOf(END_OF_IMAGE, scan) === -1 ? { flaw: 'it is cut off' } : {};
  },
};

/** Reads the segments before the picture, and returns the size in them and the position of the picture. */
function readSegments(bytes: Buffer): {
  readonly size: PixelSize | null;
  readonly scan: number | null;
} {
  let size: PixelSize | null = null;
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) break;
    // Any number of FF bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === START_OF_SCAN) return { size, scan: at };
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NON_FRAME_MARKERS.has(marker);
    if (isFrame && at + 9 <= bytes.length) {
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return { size, scan: null };
}

const HEADER_BYTES = 13;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** The GIF format: https://www.w3.org/Graphics/GIF/spec-gif89a.txt */
const gif: AttachmentFormat = {
  matches: (head) => /^GIF8[79]a/.test(head.toString('latin1', 0, 6)),
  size: (head) =>
    head.length < HEADER_BYTES
      ? null
      : { width: head.readUInt16LE(6), height: head.readUInt16LE(8) },
  inspect: inspectGif,
};

function inspectGif(bytes: Buffer): Inspection {
  let frames = 0;
  let at = HEADER_BYTES + colourTableBytes(bytes[10] ?? 0);
  while (at < bytes.length) {
    const kind = bytes[at];
    if (kind === TRAILER) return frames === 0 ? { flaw: 'it contains no picture' } : { frames };
    if (kind === EXTENSION) at = skipBlocks(bytes, at + 2);
    else if (kind === IMAGE) {
      frames += 1;
      at = skipBlocks(bytes, at + 11 + colourTableBytes(bytes[at + 9] ?? 0));
    } else return { flaw: 'it is damaged' };
  }
  return { flaw: 'it is cut off' };
}

/** The size in bytes of the colour table that these flags describe. */
function colourTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/**
 * Returns the position after a series of blocks. Each block begins with its length, and an empty block ends the series.
 */
function skipBlocks(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length;) {
    const length = bytes[at] ?? 0;
    at += 1 + length;
    if (length === 0) return at;
  }
  return bytes.length;
}

const FIRST_CHUNK_OFFSET = 12;

/** The WebP format: https://developers.google.com/speed/webp/docs/riff_container */
const webp: AttachmentFormat = {
  matches: (head) => /^RIFF[^]{4}WEBP/.test(head.toString('latin1', 0, FIRST_CHUNK_OFFSET)),
  size: webpSize,
  inspect: inspectWebp,
};

function webpSize(head: Buffer): PixelSize | null {
  if (head.length < 30) return null;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const packed = head.readUInt32LE(21);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

function inspectWebp(bytes: Buffer): Inspection {
  const end = bytes.readUInt32LE(4) + 8;
  if (end > bytes.length) return { flaw: 'it is cut off' };
  let frames = 0;
  let pictures = 0;
  for (let at = FIRST_CHUNK_OFFSET; at + 8 <= end;) {
    const type = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    if (at + 8 + length > end) return { flaw: 'it is damaged' };
    if (type === 'ANMF') frames += 1;
    if (type === 'VP8 ' || type === 'VP8L') pictures += 1;
    // Chunks begin at even offsets.
    at += 8 + length + (length % 2);
  }
  if (frames + pictures === 0) return { flaw: 'it contains no picture' };
  return frames === 0 ? {} : { frames };
}

/**
 * The length of the part at the end of a file that may contain the end mark. Some programs add bytes after the mark.
 */
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
  const pages = countPages(text);
  return pages === 0 ? {} : { pages };
}

/**
 * Counts the pages from the uncompressed parts of a document: the page objects, and the page counts in the document and
 * its page tree. Returns 0 if all of these are compressed.
 */
function countPages(text: string): number {
  const pages = [...text.matchAll(/\/Type\s?\/Page(?![A-Za-z])/g)].length;
  const counts = [
    ...text.slice(0, TAIL_BYTES).matchAll(/\/Linearized[^>]{0,200}?\/N\s(\d{1,6})/g),
    ...text.matchAll(/\/Type\s?\/Pages\b[^<>]{0,400}?\/Count\s(\d{1,6})/g),
    ...text.matchAll(/\/Count\s(\d{1,6})[^<>]{0,400}?\/Type\s?\/Pages\b/g),
  ];
  return counts.reduce((max, [, count]) => Math.max(max, Number(count)), pages);
}

const FORMATS: readonly (readonly [AttachmentType, AttachmentFormat])[] = [
  ['image/png', png],
  ['image/jpeg', jpeg],
  ['image/gif', gif],
  ['image/webp', webp],
  ['application/pdf', pdf],
];

/** Detects an attachment by the first bytes and the length of its file. Returns null for any other kind of file. */
export function detectAttachment(head: Buffer, bytes: number): AttachmentDetails | null {
  const found = FORMATS.find(([, { matches }]) => matches(head));
  if (found === undefined) return null;
  const [type, { size }] = found;
  return { type, bytes, ...validSize(size(head)) };
}

/** Inspects a complete file. If the file cannot be attached, returns a phrase that says why. */
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

/**
 * The limits below are the largest that every provider accepts. A file that one provider refuses would stay in the
 * conversation, and that provider would refuse each later request, too. So the lowest limit of all providers applies.
 *
 * Anthropic: 5 MB for an image, measured in base64, and 8000 pixels a side; 100 pages a document for models with a
 * window of 200,000 tokens (https://platform.claude.com/docs/en/build-with-claude/vision and …/pdf-support, as of
 * 2026-11-22). Google: 20 MB for a request with everything in it
 * (https://firebase.google.com/docs/ai-logic/input-file-requirements), of which a document may use half.
 */
const MAX_IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
const MAX_IMAGE_PIXELS = 8000;
const MAX_PDF_BYTES = 7_500_000;
const MAX_PDF_PAGES = 100;

/**
 * Describes the limit that an attachment exceeds, as a phrase that follows "Not shown: ". Returns null if it exceeds no
 * limit.
 */
export function describeExcess(details: AttachmentDetails): string | null {
  const { bytes, width = 0, height = 0, pages = 0 } = details;
  if (isImage(details)) {
    if (bytes > MAX_IMAGE_BYTES) {
      return `it has more than ${MAX_IMAGE_BYTES} bytes (limit image_bytes). Make a smaller one of it first`;
    }
    return Math.max(width, height) > MAX_IMAGE_PIXELS
      ? `it has more than ${MAX_IMAGE_PIXELS} pixels on a side (limit image_pixels). Scale it down first, or cut out what matters`
      : null;
  }
  if (bytes > MAX_PDF_BYTES) return `it has more than ${MAX_PDF_BYTES} bytes (limit pdf_bytes)`;
  return pages > MAX_PDF_PAGES
    ? `it has more than ${MAX_PDF_PAGES} pages (limit pdf_pages). Extract the pages that matter into a smaller file first`
    : null;
}
