import { isUtf8 } from 'node:buffer';
import { MusterError } from '../../base/errors.ts';
import { plural, byteLength } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';
import { detectBinaryKind, SAMPLE_BYTES } from '../shared/file-text.ts';
import { failure } from '../shared/output.ts';

/** The growth of data in Base64, which has four digits for three bytes. */
const GROWTH = 4 / 3;

export const base64EncodeTool = defineBuiltinTool({
  name: 'Base64Encode',
  kind: 'read',
  replay: 'pure',
  ownWords: true,
  description: 'Text (as UTF-8) in Base64.',
  input: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      url: { type: 'boolean', description: 'URL-safe, unpadded' },
    },
    required: ['text'],
  },
  aliases: { input: 'text', data: 'text', value: 'text', string: 'text', url_safe: 'url' },
  describe: () => NO_ACCESS,
  async run({ text, url = false }, { caps }) {
    const maxBytes = Math.floor(caps.resultBytes / GROWTH);
    const size = byteLength(text);
    if (size > maxBytes) {
      return failure('LIMIT_EXCEEDED', `text: has ${size} bytes, more than ${maxBytes}; use Bash`);
    }
    const encoded = Buffer.from(text, 'utf8').toString(url ? 'base64url' : 'base64');
    return { text: encoded === '' ? '[nothing: the text is empty]' : encoded };
  },
});

const MAX_DIGITS = 1_000_000;
const NOTE_BYTES = 100;
/** The maximum number of bytes of binary data that are shown. */
const MAX_SHOWN_BYTES = 64;
const DATA_URL = /^data:[^,]{0,200};base64,/i;

export const base64DecodeTool = defineBuiltinTool({
  name: 'Base64Decode',
  kind: 'read',
  replay: 'pure',
  description: 'Base64 (plain or URL-safe) as text; of binary data the size and first bytes.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  aliases: { input: 'text', data: 'text', value: 'text', string: 'text', encoded: 'text' },
  describe: () => NO_ACCESS,
  async run({ text }, { caps }) {
    const bytes = decode(text);
    return { text: showBytes(bytes, caps.resultBytes - NOTE_BYTES) };
  },
});

/** Decodes Base64. White space is ignored, and padding is optional. Throws INVALID_PARAM for other text. */
function decode(text: string): Buffer {
  if (text.length > MAX_DIGITS) {
    throw new MusterError('LIMIT_EXCEEDED', `text: is longer than ${MAX_DIGITS} characters`);
  }
  const digits = text.replace(DATA_URL, '').replace(/\s+/g, '');
  const wrong = /[^A-Za-z0-9+/_=-]|=(?=[^=])/.exec(digits);
  if (wrong !== null) {
    const found = JSON.stringify(wrong[0]);
    const message = `text: is not Base64: ${found} at digit ${wrong.index + 1}`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const data = digits.replace(/=+$/, '');
  const padding = digits.length - data.length;
  const isPadded = padding === 0 || (padding < 3 && digits.length % 4 === 0);
  if (data.length % 4 === 1 || !isPadded) {
    const message = `text: is not Base64: ${plural(data.length, 'digit')} and ${padding} of padding; some are missing`;
    throw new MusterError('INVALID_PARAM', message);
  }
  return Buffer.from(data, 'base64');
}

function showBytes(bytes: Buffer, maxBytes: number): string {
  if (bytes.length === 0) return '[nothing: 0 bytes]';
  const kind = detectBinaryKind(bytes.subarray(0, SAMPLE_BYTES));
  if (kind !== undefined || !isUtf8(bytes)) return showHex(bytes, kind ?? 'not UTF-8');
  if (bytes.length <= maxBytes) return bytes.toString('utf8');
  const note = `[cut at ${maxBytes} of ${bytes.length} bytes]`;
  // Leave out a character that would be cut in half.
  const cut = bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${cut}\n${note}`;
}

function showHex(bytes: Buffer, kind: string): string {
  const hex = bytes
    .subarray(0, MAX_SHOWN_BYTES)
    .toString('hex')
    .replaceAll(/(..)(?=.)/g, '$1 ');
  const more = bytes.length > MAX_SHOWN_BYTES ? ' …' : '';
  return `[not text: ${kind}, ${plural(bytes.length, 'byte')}]\n${hex}${more}`;
}
