/** The first bytes of a page in which its charset is searched. */
const HEAD_BYTES = 8192;

/** For pages that do not state a charset and are not UTF-8: the charset that old pages of a language usually have. */
const CHARSETS_BY_LANGUAGE: Readonly<Record<string, string>> = {
  ja: 'shift_jis',
  ko: 'euc-kr',
  ru: 'windows-1251',
  uk: 'windows-1251',
  bg: 'windows-1251',
  cs: 'windows-1250',
  hu: 'windows-1250',
  pl: 'iso-8859-2',
  el: 'iso-8859-7',
  tr: 'windows-1254',
  he: 'windows-1255',
  ar: 'windows-1256',
  th: 'windows-874',
};

/**
 * Decodes a text. The charset comes from the byte order mark, the header, or the page itself, in this order. Without
 * any of them the text is UTF-8, if it can be, and otherwise the usual charset of the page's language.
 *
 * @param header the value of `Content-Type`, or null
 */
export function decodePage(bytes: Buffer, header: string | null): string {
  const stated =
    charsetOfMark(bytes) ?? knownCharset(charsetOfHeader(header)) ?? charsetOfPage(bytes);
  if (stated !== null) return new TextDecoder(stated).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    return new TextDecoder(charsetOfLanguage(bytes)).decode(bytes);
  }
}

/** Returns the charset that the byte order mark of a text stands for, or null. */
export function charsetOfMark(bytes: Buffer): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

/** Returns the charset of a `Content-Type` header; empty if there is none. */
export function charsetOfHeader(header: string | null): string {
  return /;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(header ?? '')?.[1] ?? '';
}

/** Returns the name of a charset that can be decoded; null for any other name. */
function knownCharset(name: string): string | null {
  if (name === '') return null;
  try {
    return new TextDecoder(name).encoding;
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

function charsetOfPage(bytes: Buffer): string | null {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const stated =
    /<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1] ??
    /^\s*<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1];
  const charset = knownCharset(stated ?? '');
  // A page that was read as ASCII is not UTF-16, whatever it says.
  return charset?.startsWith('utf-16') === true ? 'utf-8' : charset;
}

function charsetOfLanguage(bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const language = /<html[^>]{0,300}?\blang\s*=\s*["']?([a-z]{2})(?:-(\w+))?/i.exec(head);
  const name = language?.[1]?.toLowerCase() ?? '';
  if (name === 'zh') return /^(?:tw|hk|hant)$/i.test(language?.[2] ?? '') ? 'big5' : 'gb18030';
  return CHARSETS_BY_LANGUAGE[name] ?? 'windows-1252';
}
