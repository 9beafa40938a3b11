import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { MusterError } from '../../../base/errors.ts';
import { byteLength } from '../../../base/text.ts';
import { NO_ACCESS } from '../../../protocol/permission.ts';
import { defineTool } from '../../shared/define-tool.ts';
import { failure } from '../../shared/output.ts';
import { MAX_JSON } from './json-parse.ts';
import { printJsonTree } from './json-print.ts';
import { parseJson, type JsonNode } from './json-tree.ts';

/** The names of the value argument. */
const VALUE_NAMES = ['value', 'data', 'object', 'json', 'input', 'text'];

const tool = defineTool({
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
    if (value.length > MAX_JSON) {
      return failure('LIMIT_EXCEEDED', `value: is longer than ${MAX_JSON} characters`);
    }
    const { resultBytes: max } = caps;
    const { text, isComplete } = printJsonTree(valueOf(value), { indent, sorted, max });
    if (isComplete && byteLength(text) <= max) return { text };
    const size = `more than the ${max} bytes of a result`;
    return failure('LIMIT_EXCEEDED', `value: its JSON has ${size}; write it to a file`);
  },
});

/** The tool, which accepts the value itself as well as its text, because models send both. */
export const jsonStringifyTool: typeof tool = {
  ...tool,
  parse: (input) => tool.parse(isJsonObject(input) ? withText(input) : input),
};

function withText(input: Readonly<Record<string, JsonValue | undefined>>): JsonValue {
  const entries = Object.entries(input).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === undefined) return [];
    const isText = typeof value === 'string' || !VALUE_NAMES.includes(name);
    return [[name, isText ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries(entries);
}

function valueOf(text: string): JsonNode {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'INVALID_PARAM') {
      return { kind: 'scalar', raw: JSON.stringify(text) };
    }
    throw thrown;
  }
}
