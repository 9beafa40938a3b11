import { MusterError } from '../../../base/errors.ts';
import { byteLength } from '../../../base/text.ts';
import { NO_ACCESS } from '../../../protocol/permission.ts';
import { defineTool } from '../../shared/define-tool.ts';
import { fitLines } from '../../shared/output.ts';
import { findJsonNode } from './json-path.ts';
import { printJsonTree, type PrintedJson } from './json-print.ts';
import { parseJson } from './json-tree.ts';

const INDENT = 2;
const NOTE_BYTES = 200;
/** The longest JSON text that is read, in UTF-16 units. */
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
    const node = findJsonNode(parseJson(text), path);
    const options = { indent: INDENT, sorted: false, max: caps.resultBytes };
    return { text: cut(printJsonTree(node, options), caps.resultBytes) };
  },
});

function cut({ text, isComplete, lines: all }: PrintedJson, maxBytes: number): string {
  if (isComplete && byteLength(text) <= maxBytes) return text;
  const { lines } = fitLines(text.split('\n'), maxBytes - NOTE_BYTES);
  const note = `[cut: ${all - lines.length} of ${all} lines are left out, beyond ${maxBytes} bytes; name a part with path]`;
  return [...lines, note].join('\n');
}
