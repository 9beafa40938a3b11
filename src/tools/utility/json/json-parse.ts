import { MusterError } from '../../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { byteLength } from '../../../base/text.ts';
import { NO_ACCESS } from '../../../protocol/permission.ts';
import { defineBuiltinTool } from '../../shared/define-tool.ts';
import { fitLines, failure } from '../../shared/output.ts';
import {
  findJsonNode,
  printJsonTree,
  type PrintedJson,
  parseJson,
  type JsonNode,
} from './json-tree.ts';

const INDENT = 2;
const NOTE_BYTES = 200;
/** The maximum length of a JSON text, in UTF-16 code units. */
const MAX_JSON_LENGTH = 1_000_000;

export const jsonParseTool = defineBuiltinTool({
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
    if (text.length > MAX_JSON_LENGTH) {
      throw new MusterError('LIMIT_EXCEEDED', `text: is longer than ${MAX_JSON_LENGTH} characters`);
    }
    const node = findJsonNode(parseJson(text), path);
    const options = { indent: INDENT, sorted: false, max: caps.resultBytes };
    return { text: shorten(printJsonTree(node, options), caps.resultBytes) };
  },
});

function shorten({ text, isComplete, lines: totalLines }: PrintedJson, maxBytes: number): string {
  if (isComplete && byteLength(text) <= maxBytes) return text;
  const { lines } = fitLines(text.split('\n'), maxBytes - NOTE_BYTES);
  const note = `[cut: ${totalLines - lines.length} of ${totalLines} lines are left out, beyond ${maxBytes} bytes; name a part with path]`;
  return [...lines, note].join('\n');
}

/** The name of the value argument, and its aliases. */
const VALUE_NAMES = ['value', 'data', 'object', 'json', 'input', 'text'];

const tool = defineBuiltinTool({
  name: 'JsonStringify',
  kind: 'read',
  replay: 'pure',
  description: 'A value as JSON text on one line: JSON laid out anew, any other text as a string.',
  input: {
    type: 'object',
    properties: {
      value: { type: 'string' },
      indent: { type: 'integer', minimum: 0, maximum: 8, description: 'blanks a level, in lines' },
      sort_keys: { type: 'boolean' },
    },
    required: ['value'],
  },
  aliases: {
    ...Object.fromEntries(VALUE_NAMES.slice(1).map((name) => [name, 'value'])),
    space: 'indent',
  },
  describe: () => NO_ACCESS,
  async run({ value, indent = 0, sort_keys: sorted = false }, { caps }) {
    if (value.length > MAX_JSON_LENGTH) {
      return failure('LIMIT_EXCEEDED', `value: is longer than ${MAX_JSON_LENGTH} characters`);
    }
    const { resultBytes: max } = caps;
    const { text, isComplete } = printJsonTree(parseValue(value), { indent, sorted, max });
    if (isComplete && byteLength(text) <= max) return { text };
    const size = `more than the ${max} bytes of a result`;
    return failure('LIMIT_EXCEEDED', `value: its JSON has ${size}; write it to a file`);
  },
});

/** The JsonStringify tool. It accepts a value as JSON and as text, because models send both. */
export const jsonStringifyTool: typeof tool = {
  ...tool,
  parse: (input) => tool.parse(isJsonObject(input) ? convertValueToText(input) : input),
};

function convertValueToText(input: Readonly<Record<string, JsonValue | undefined>>): JsonValue {
  const entries = Object.entries(input).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === undefined) return [];
    const isText = typeof value === 'string' || !VALUE_NAMES.includes(name);
    return [[name, isText ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries(entries);
}

function parseValue(text: string): JsonNode {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'INVALID_PARAM') {
      return { kind: 'scalar', raw: JSON.stringify(text) };
    }
    throw thrown;
  }
}
