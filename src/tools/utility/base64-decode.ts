import { isUtf8 } from 'node:buffer';
import { MusterError } from '../../base/errors.ts';
import { plural } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { defineTool } from '../shared/define-tool.ts';
import { binaryKind, SAMPLE_BYTES } from '../shared/file-text.ts';

const MAX_DIGITS = 1_000_000;
const NOTE_BYTES = 100;
/** Bytes of what is no text that are shown. */
const SHOWN_BYTES = 64;
const DATA_URL = /^data:[^,]{0,200};base64,/i;

export const base64DecodeTool = defineTool({
  name: 'Base64Decode',
  kind: 'read',
  replay: 'pure',
  description: 'Base64 (plain or URL-safe) as text; of binary data the size and first bytes.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  aliases: { input: 'text', data: 'text', value: 'text', string: 'text', encoded: 'text' },
  describe: () => NO_ACCESS,
  async run({ text }, { caps }) {
    const bytes = decode(text);
    return { text: shown(bytes, caps.resultBytes - NOTE_BYTES) };
  },
});

/** Throws INVALID_PARAM for what is no Base64. White space is left out, padding may be. */
function decode(text: string): Buffer {
  if (text.length > MAX_DIGITS) {
    throw new MusterError('LIMIT_EXCEEDED', `text: is longer than ${MAX_DIGITS} characters`);
  }
  const digits = text.replace(DATA_URL, '').replace(/\s+/g, '');
  const wrong = /[^A-Za-z0-9+/_=-]|=(?=[^=])/.exec(digits);
  if (wrong !== null) {
    const found = JSON.stringify(wrong[0]);
    const message = `text: is no Base64: ${found} at digit ${wrong.index + 1}`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const data = digits.replace(/=+$/, '');
  const padding = digits.length - data.length;
  const isPadded = padding === 0 || (padding < 3 && digits.length % 4 === 0);
  if (data.length % 4 === 1 || !isPadded) {
    const message = `text: is no Base64: ${plural(data.length, 'digit')} and ${padding} of padding; some are missing`;
    throw new MusterError('INVALID_PARAM', message);
  }
  return Buffer.from(data, 'base64');
}

function shown(bytes: Buffer, maxBytes: number): string {
  if (bytes.length === 0) return '[nothing: 0 bytes]';
  const kind = binaryKind(bytes.subarray(0, SAMPLE_BYTES));
  if (kind !== undefined || !isUtf8(bytes)) return asHex(bytes, kind ?? 'no UTF-8');
  if (bytes.length <= maxBytes) return bytes.toString('utf8');
  const note = `[cut at ${maxBytes} of ${bytes.length} bytes]`;
  // A character that is cut through is left out.
  const cut = bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${cut}\n${note}`;
}

function asHex(bytes: Buffer, kind: string): string {
  const hex = bytes
    .subarray(0, SHOWN_BYTES)
    .toString('hex')
    .replaceAll(/(..)(?=.)/g, '$1 ');
  const more = bytes.length > SHOWN_BYTES ? ' …' : '';
  return `[not text: ${kind}, ${plural(bytes.length, 'byte')}]\n${hex}${more}`;
}
