import { MusterError } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { defineTool } from '../define.ts';
import { fitLines } from '../output.ts';
import { nodeAt } from './json-path.ts';
import { printJson } from './json-print.ts';
import { parseJson } from './json-tree.ts';

const INDENT = 2;
const NOTE_BYTES = 200;
/** Of a text that is to be read, in UTF-16 units. */
export const MAX_JSON = 1_000_000;

export const jsonParseTool = defineTool({
  name: 'JsonParse',
  kind: 'read',
  replay: 'pure',
  description: 'Check JSON text and lay it out; with path, only that part.',
  input: {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 1 },
      path: { type: 'string', description: 'as in a.b[0]' },
    },
    required: ['text'],
  },
  aliases: { json: 'text', input: 'text', string: 'text', data: 'text', value: 'text' },
  describe: () => NO_ACCESS,
  async run({ text, path = '' }, { caps }) {
    if (text.length > MAX_JSON) {
      throw new MusterError('LIMIT_EXCEEDED', `text: is longer than ${MAX_JSON} characters`);
    }
    const node = nodeAt(parseJson(text), path);
    return { text: cut(printJson(node, { indent: INDENT, sorted: false }), caps.resultBytes) };
  },
});

function cut(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text;
  const all = text.split('\n');
  const { lines, left } = fitLines(all, maxBytes - NOTE_BYTES);
  const note = `[cut: ${left} of ${all.length} lines are left out, beyond ${maxBytes} bytes; name a part with path]`;
  return [...lines, note].join('\n');
}
