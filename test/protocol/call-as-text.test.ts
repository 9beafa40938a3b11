import { expect, it } from 'vitest';
import { callAsText } from '../../src/protocol/call-as-text.ts';

const TOOLS = ['Bash', 'Read'];
const JSON_CALL = '{"name": "Read", "arguments": {"file_path": "a.txt"}}';

it.each([
  ['Hermes', `<tool_call>\n${JSON_CALL}\n</tool_call>`],
  ['several of them', `<tool_call>${JSON_CALL}</tool_call>\n<tool_call>${JSON_CALL}</tool_call>`],
  [
    'Qwen',
    '<tool_call>\n<function=Read>\n<parameter=path>a</parameter>\n</function>\n</tool_call>',
  ],
  ['Llama', '<function=Read>{"file_path": "a.txt"}</function>'],
  ['Llama with a tag', '<|python_tag|>{"name": "Read", "parameters": {"file_path": "a"}}'],
  ['Mistral', `[TOOL_CALLS][${JSON_CALL}]`],
  [
    'XML',
    '<function_calls><invoke name="Read"><parameter name="p">a</parameter></invoke></function_calls>',
  ],
  ['fenced JSON', `\`\`\`json\n${JSON_CALL}\n\`\`\``],
  ['bare JSON', ` ${JSON_CALL} `],
  ["another vendor's name", '{"name": "read_file", "input": {"path": "a"}}'],
  ['with an id', '{"id": "1", "type": "function", "name": "Read", "arguments": "{}"}'],
])('%s is a call of Read', (_, text) => {
  expect(callAsText(text, TOOLS)).toBe('Read');
});

it.each([
  ['an answer', 'The file holds three lines.'],
  ['nothing', ''],
  ['text before it', `I call it now:\n<tool_call>${JSON_CALL}</tool_call>`],
  ['text after it', `<tool_call>${JSON_CALL}</tool_call>\nis how a call looks.`],
  ['a fence in a text', `For example:\n\`\`\`json\n${JSON_CALL}\n\`\`\``],
  ['two fences', `\`\`\`json\n${JSON_CALL}\n\`\`\`\nor\n\`\`\`json\n${JSON_CALL}\n\`\`\``],
  ['a tool that it does not have', '{"name": "Edit", "arguments": {}}'],
  ['an unknown name', '{"name": "muster-agent", "arguments": {}}'],
  ['data with a name', '{"name": "Read", "version": "1.0.0"}'],
  ['data with more fields', '{"name": "Read", "arguments": {}, "description": "reads"}'],
  ['JSON that was asked for', '{"result": {"name": "Read", "arguments": {}}}'],
  ['broken JSON', '<tool_call>{"name": "Read", </tool_call>'],
  ['a list', `[${JSON_CALL}]`],
])('%s is none', (_, text) => {
  expect(callAsText(text, TOOLS)).toBe(null);
});

it('is looked for in long texts in a moment', () => {
  const long = `<tool_call>{${'</tool_call><function=Read>'.repeat(30_000)}`;
  expect(callAsText(long, TOOLS)).toBe(null);
  expect(callAsText(`<function=Read>${'<function=Read>'.repeat(60_000)}`, TOOLS)).toBe(null);
  expect(callAsText(`\`\`\`${' '.repeat(900_000)}x`, TOOLS)).toBe(null);
});
