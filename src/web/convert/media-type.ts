import { charsetOfHeader, charsetOfMark } from './charset.ts';

/** The kind of a page, determined from its bytes and its `Content-Type`. */
export type PageKind =
  | { readonly kind: 'html' | 'json' | 'xml' | 'text' | 'pdf' }
  | { readonly kind: 'image' | 'unsupported'; readonly mediaType: string };

/** A format and the bytes by which it is known, as Latin-1. */
interface Signature {
  readonly mediaType: string;
  readonly bytes: string;
  /** The place of the bytes. Default: 0. */
  readonly at?: number;
}

/** Images that models accept. */
const IMAGES: readonly Signature[] = [
  { mediaType: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { mediaType: 'image/gif', bytes: 'GIF87a' },
  { mediaType: 'image/gif', bytes: 'GIF89a' },
  { mediaType: 'image/webp', bytes: 'WEBP', at: 8 },
];

/** Other formats, for the message about them. */
const OTHER_FORMATS: readonly Signature[] = [
  { mediaType: 'application/zip', bytes: 'PK\x03\x04' },
  { mediaType: 'application/zip', bytes: 'PK\x05\x06' },
  { mediaType: 'application/gzip', bytes: '\x1f\x8b' },
  { mediaType: 'application/x-bzip2', bytes: 'BZh' },
  { mediaType: 'application/x-xz', bytes: '\xfd7zXZ' },
  { mediaType: 'application/zstd', bytes: '\x28\xb5\x2f\xfd' },
  { mediaType: 'application/x-7z-compressed', bytes: '7z\xbc\xaf' },
  { mediaType: 'application/x-executable', bytes: '\x7fELF' },
  { mediaType: 'application/x-executable', bytes: 'MZ\x90' },
  { mediaType: 'application/wasm', bytes: '\0asm' },
  { mediaType: 'application/vnd.sqlite3', bytes: 'SQLite format 3\0' },
  { mediaType: 'audio/mpeg', bytes: 'ID3' },
  { mediaType: 'audio/ogg', bytes: 'OggS' },
  { mediaType: 'video/mp4', bytes: 'ftyp', at: 4 },
  { mediaType: 'video/webm', bytes: '\x1a\x45\xdf\xa3' },
  { mediaType: 'image/tiff', bytes: 'II*\0' },
  { mediaType: 'image/tiff', bytes: 'MM\0*' },
  { mediaType: 'image/x-icon', bytes: '\0\0\x01\0' },
  { mediaType: 'font/woff2', bytes: 'wOF' },
];

function findSignature(signatures: readonly Signature[], head: string): string | null {
  return signatures.find(({ bytes, at = 0 }) => head.startsWith(bytes, at))?.mediaType ?? null;
}

const HEAD_BYTES = 4096;

/** Determines the kind of a page. The bytes decide whether it is text; for a text the header says which. */
export function determineKind(bytes: Buffer, contentType: string | null): PageKind {
  const stated = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const image = findSignature(IMAGES, head);
  if (image !== null) return { kind: 'image', mediaType: image };
  if (/^[\s\0]{0,1024}%PDF-/.test(head)) return { kind: 'pdf' };
  if (isBinary(bytes, head, contentType))
    return { kind: 'unsupported', mediaType: nameBinary(head, stated) };
  return { kind: kindOfText(head.replace(/^\xef\xbb\xbf/, '').trimStart(), stated) };
}

/** Tests for bytes that no text contains, in the part of a page that is read first. */
function isBinary(bytes: Buffer, head: string, contentType: string | null): boolean {
  const isWide =
    /^utf-?16/i.test(charsetOfHeader(contentType)) ||
    charsetOfMark(bytes)?.startsWith('utf-16') === true;
  if (isWide) return false;
  let signs = 0;
  for (const sign of head) {
    if (sign === '\0') return true;
    if (isControl(sign.charCodeAt(0))) signs += 1;
  }
  return signs > 2 + head.length / 50;
}

/** Tests for a control character that is no white space and begins no escape sequence. */
function isControl(code: number): boolean {
  return code < 0x20 && code !== 0x1b && !(code >= 0x09 && code <= 0x0d);
}

function nameBinary(head: string, stated: string): string {
  const known = findSignature(OTHER_FORMATS, head);
  if (known !== null && !/^application\/(?!octet-stream)|^(?:audio|video|font)\//.test(stated))
    return known;
  // The header is wrong if it names a text.
  const isText =
    stated === '' ||
    /^text\/|[/+](?:json|xml|html|javascript)$|^application\/pdf$/.test(stated) ||
    /^image\/(?:png|jpeg|gif|webp)$/.test(stated);
  return isText ? (known ?? 'application/octet-stream') : stated;
}

function kindOfText(head: string, stated: string): 'html' | 'json' | 'xml' | 'text' {
  if (/[/+]json$|^application\/(?:x-)?ndjson$/.test(stated)) return 'json';
  if (stated === 'application/xhtml+xml') return 'html';
  if (/[/+]xml$/.test(stated))
    return /^(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html)/i.test(head) ? 'html' : 'xml';
  if (
    stated !== '' &&
    stated !== 'text/html' &&
    !/^application\/(?:octet-stream|x-unknown|download)|^binary\//.test(stated)
  )
    return 'text';
  if (/^(?:<\?xml|<rss[\s>]|<feed[\s>])/i.test(head))
    return /<html[\s>]/i.test(head.slice(0, 1000)) ? 'html' : 'xml';
  if (
    /^(?:<!--[^]*?-->\s*)?<(?:!doctype html|html|head|body|title|script|div|table|p|h1|a|meta|main|article|br|b)[\s>]/i.test(
      head,
    )
  )
    return 'html';
  if (/^[{[]/.test(head) && /^(?:\{\s*["}]|\[\s*[[{"\d\]tfn-])/.test(head)) return 'json';
  return stated === 'text/html' && /<[a-z!/]|&#?\w{1,30};/i.test(head) ? 'html' : 'text';
}
