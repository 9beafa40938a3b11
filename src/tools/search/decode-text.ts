/** How a text is encoded that says so with its first bytes. */
type MarkedEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be';

/** Longest first: UTF-32 begins like UTF-16. */
const MARKS: readonly (readonly [MarkedEncoding, readonly number[]])[] = [
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** The encoding that a byte order mark names; undefined where there is no mark. */
function markedEncoding(bytes: Buffer): MarkedEncoding | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
}

export function isUtf32(bytes: Buffer): boolean {
  return markedEncoding(bytes)?.startsWith('utf-32') === true;
}

/** The text of a file, without its byte order mark; what cannot be decoded becomes U+FFFD. */
export function decodeText(bytes: Buffer): string {
  const encoding = markedEncoding(bytes);
  switch (encoding) {
    case undefined:
      return bytes.toString('utf8');
    case 'utf-8':
      return bytes.toString('utf8', 3);
    case 'utf-16le':
    case 'utf-16be':
      return new TextDecoder(encoding).decode(bytes);
    case 'utf-32le':
    case 'utf-32be':
      return decodeUtf32(bytes, encoding === 'utf-32le');
  }
}

function decodeUtf32(bytes: Buffer, isLittle: boolean): string {
  const parts: string[] = [];
  for (let at = 4; at + 4 <= bytes.length; at += 4) {
    const code = isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    const isCharacter = code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
    parts.push(isCharacter ? String.fromCodePoint(code) : '\uFFFD');
  }
  return parts.join('');
}

/** Where a file has its first NUL, in bytes of UTF-8; undefined: nowhere. With an early one it is binary. */
export function firstNul(bytes: Buffer): number | undefined {
  if (markedEncoding(bytes)?.startsWith('utf-16') !== true) {
    const at = bytes.indexOf(0);
    return at === -1 ? undefined : at;
  }
  const text = decodeText(bytes);
  const index = text.indexOf('\0');
  return index === -1 ? undefined : Buffer.byteLength(text.slice(0, index));
}
