import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTextCall } from '../../../src/protocol/text-calls/call-as-text.ts';
import { CALL_FORMS } from '../../../src/protocol/text-calls/forms.ts';

const TOOLS = ['Bash', 'Read', 'mcp__files__list'];

/** Returns the tool that the text calls; null if it calls none. */
function calledTool(text: string, tools: readonly string[]): string | null {
  return findTextCall(text, tools)?.tool ?? null;
}

const ARGUMENTS = '{"file_path": "a.txt"}';
const CALL = `{"name": "Read", "arguments": ${ARGUMENTS}}`;
const DSML = '｜DSML｜';

/** A call of Read in each form, as the chat templates of the models have it. */
const EXAMPLES: readonly (readonly [form: string, text: string])[] = [
  ['Hermes and Qwen', `<tool_call>\n${CALL}\n</tool_call>`],
  [
    'Qwen3-Coder',
    '<tool_call>\n<function=Read>\n<parameter=file_path>\na.txt\n</parameter>\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>',
  ],
  ['Llama with a function tag', `<function=Read>${ARGUMENTS}</function>`],
  [
    'GLM',
    '<tool_call>Read\n<arg_key>file_path</arg_key>\n<arg_value>a.txt</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>',
  ],
  ['Llama', `<|python_tag|>{"name": "Read", "parameters": ${ARGUMENTS}}`],
  ['Mistral', `[TOOL_CALLS][${CALL}]`],
  ['Mistral with the name first', `[TOOL_CALLS]Read[ARGS]${ARGUMENTS}`],
  [
    'DeepSeek V3 and R1',
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>Read\n\`\`\`json\n${ARGUMENTS}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
  [
    'DeepSeek V3.1',
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>Read<｜tool▁sep｜>${ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
  [
    'DeepSeek V3.2 and V4',
    `<${DSML}function_calls>\n<${DSML}invoke name="Read">\n<${DSML}parameter name="file_path" string="true">a.txt</${DSML}parameter>\n</${DSML}invoke>\n</${DSML}function_calls>`,
  ],
  [
    'Kimi',
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.Read:0<|tool_call_argument_begin|>${ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>`,
  ],
  ['Kimi without its special tokens', `functions.Read:0${ARGUMENTS}`],
  [
    'gpt-oss',
    `<|start|>assistant<|channel|>commentary to=functions.Read <|constrain|>json<|message|>${ARGUMENTS}<|call|>`,
  ],
  [
    'gpt-oss with the recipient first',
    `<|start|>assistant to=functions.Read<|channel|>commentary json<|message|>${ARGUMENTS}<|call|>`,
  ],
  ['gpt-oss without its special tokens', `assistantcommentary to=functions.Read json${ARGUMENTS}`],
  [
    'MiniMax',
    '<minimax:tool_call>\n<invoke name="Read">\n<parameter name="file_path">a.txt</parameter>\n</invoke>\n</minimax:tool_call>',
  ],
  [
    'Claude in text',
    '<function_calls>\n<invoke name="Read">\n<parameter name="file_path">a.txt</parameter>\n</invoke>\n</function_calls>',
  ],
  ['Gemini', '```tool_code\nprint(default_api.read_file(file_path="a.txt"))\n```'],
  ['Gemini with tags', '<tool_code>\nprint(default_api.Read(file_path="a.txt"))\n</tool_code>'],
  ['Gemini without a mark', 'print(default_api.Read(file_path="a.txt"))'],
  ['Gemma', '<|tool_call>call:Read{file_path:<|"|>a}.txt<|"|>,limit:5}<tool_call|>'],
  ['Llama 4', '[Read(file_path="a.txt"), Read(file_path="b.txt")]'],
  ['LFM2', '<|tool_call_start|>[Read(file_path="a.txt")]<|tool_call_end|>'],
  ['Granite', `<|tool_call|>[${CALL}]`],
  ['Hunyuan, Jamba and MiniMax M1', `<tool_calls>\n${CALL}\n${CALL}\n</tool_calls>`],
  ['Nemotron', `<TOOLCALL>[${CALL}]</TOOLCALL>`],
  [
    'Command R',
    `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "Read", "parameters": ${ARGUMENTS}}]<|END_ACTION|>`,
  ],
  ['InternLM', `<|action_start|><|plugin|>\n${CALL}<|action_end|>`],
  ['LongCat', `<longcat_tool_call>${CALL}</longcat_tool_call>`],
  ['a function_call tag', `<function_call>${CALL}</function_call>`],
  ['Phi-4', `functools[${CALL}]`],
  ['JSON in a code block', `\`\`\`json\n${CALL}\n\`\`\``],
  ['JSON', CALL],
];
const WHOLE_ONLY = new Set(
  CALL_FORMS.filter(({ isFullAnswer }) => isFullAnswer).map(({ name }) => name),
);
const PARTS = EXAMPLES.filter(([form]) => !WHOLE_ONLY.has(form));

it('has an example of each form', () => {
  expect(EXAMPLES.map(([form]) => form)).toEqual(CALL_FORMS.map(({ name }) => name));
});

describe.each(EXAMPLES)('the form of %s', (form, example) => {
  it('is a call of Read', () => {
    expect(findTextCall(example, TOOLS)).toMatchObject({ tool: 'Read', form: { name: form } });
  });

  it('is one after a thought', () => {
    expect(calledTool(`<think>\nI need it. \`\`\`\n</think>\n\n${example}`, TOOLS)).toBe('Read');
    expect(calledTool(`I need it.\n</think>\n${example}<|im_end|>\n`, TOOLS)).toBe('Read');
  });

  it('is not a call for a tool that the task does not have', () => {
    expect(calledTool(example, ['Bash'])).toBe(null);
  });

  it('is not a call if the answer continues after it', () => {
    expect(calledTool(`${example}\n\nis how such a call looks.`, TOOLS)).toBe(null);
    expect(calledTool(`${example}\nAnd that was (nearly) it >`, TOOLS)).toBe(null);
  });

  it('is not a call in a code block, in code or in a quotation', () => {
    expect(calledTool(`It has:\n\n~~~text\n${example}\n~~~`, TOOLS)).toBe(null);
    expect(calledTool(`It has:\n\n\`\`\`\`\n${example}\n\`\`\`\``, TOOLS)).toBe(null);
    expect(calledTool(`It has:\n\n\`\`\`\`\n${example}`, TOOLS)).toBe(null);
    expect(calledTool(`It wrote \`${example}\``, TOOLS)).toBe(null);
    expect(calledTool(`It wrote "${example}"`, TOOLS)).toBe(null);
    expect(calledTool(`It wrote (${example})`, TOOLS)).toBe(null);
    expect(calledTool(`It wrote:\n\n${example.replaceAll(/^/gm, '> ')}`, TOOLS)).toBe(null);
    expect(calledTool(`It wrote:\n\n${example.replaceAll(/^/gm, '    ')}`, TOOLS)).toBe(null);
  });

  it('is not a call if it is cut off in its arguments', () => {
    const value = example.indexOf('a.txt');
    const cut = value === -1 ? example.indexOf('a}.txt') : value;
    for (const end of ['', '>', '}', ')', '`', '\n```']) {
      expect(calledTool(`${example.slice(0, cut)}${end}`, TOOLS)).toBe(null);
    }
  });
});

describe.each(PARTS)('the form of %s, as the end of an answer,', (_, example) => {
  it('is a call after a sentence', () => {
    expect(calledTool(`I will read the file.\n\n${example}\n`, TOOLS)).toBe('Read');
    expect(calledTool(`I saw \`<tool_call>\` there.\n${example}`, TOOLS)).toBe('Read');
    expect(calledTool(`Like this:\n\`\`\`json\n${CALL}\n\`\`\`\n${example}`, TOOLS)).toBe('Read');
  });

  it('is a call if there are two', () => {
    expect(calledTool(`Both:\n${example}\n${example}`, TOOLS)).toBe('Read');
    expect(calledTool(`One.\n${example}\nAnd one more.\n${example}`, TOOLS)).toBe('Read');
  });
});

it.each([
  ["another vendor's name", '{"name": "read_file", "input": {"path": "a"}}', 'Read'],
  ['an id', '{"id": "1", "type": "function", "name": "Read", "arguments": "{}"}', 'Read'],
  ['the JSON of the API', `{"tool_calls": [{"type": "function", "function": ${CALL}}]}`, 'Read'],
  ['a namespace', '{"name": "functions.Read", "arguments": {}}', 'Read'],
  ['a tool of a server', '<tool_call>{"name": "mcp__files__list"}</tool_call>', 'mcp__files__list'],
  [
    'a tool that the task has after one that it does not have',
    `<tool_call>{"name": "Fly"}\n${CALL}`,
    'Read',
  ],
  ['no arguments in GLM', '<tool_call>Read</tool_call>', 'Read'],
  [
    'no newline in GLM',
    '<tool_call>Read<arg_key>a</arg_key><arg_value>b</arg_value></tool_call>',
    'Read',
  ],
  [
    'Claude with a prefix',
    '<function_calls><invoke name="Read"></invoke></function_calls>'.replaceAll(
      /<(\/?)/g,
      '<$1antml:',
    ),
    'Read',
  ],
  [
    'plain bars of DeepSeek',
    `<|tool_calls_begin|><|tool_call_begin|>Read<|tool_sep|>${ARGUMENTS}<|tool_call_end|>`,
    'Read',
  ],
  ['a stop token instead of the end tag', `<tool_call>\n${CALL}`, 'Read'],
  [
    'a stop token after gpt-oss',
    `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.Read<|message|>${ARGUMENTS}`,
    'Read',
  ],
  ['Mistral without a mark before the arguments', `[TOOL_CALLS]Read${ARGUMENTS}`, 'Read'],
  ['Mistral with an id', `[TOOL_CALLS]Read[CALL_ID]abc123[ARGS]${ARGUMENTS}`, 'Read'],
  ['several of Llama', `<|python_tag|>${CALL}; ${CALL}`, 'Read'],
  [
    'a list after a thought that was not ended',
    `<think>I need it.\n<tool_call>${CALL}</tool_call>`,
    'Read',
  ],
  [
    'a line break in a string',
    '<tool_call>{"name": "Bash", "arguments": {"command": "a\nb"}}</tool_call>',
    'Bash',
  ],
  [
    'an end tag in a value',
    '<function=Bash><parameter=command>echo "</function></parameter>"</parameter></function>',
    'Bash',
  ],
  ['a value without an end tag', '<function=Bash><parameter=command>\nls\n</function>', 'Bash'],
  [
    'a code block in a value',
    '<function=Bash><parameter=command>cat <<E\n```\nE</parameter></function>',
    'Bash',
  ],
  [
    'a call in a value',
    `<function=Bash><parameter=command>echo '<tool_call>${CALL}</tool_call>' x</parameter></function>`,
    'Bash',
  ],
  [
    'Python with brackets in strings',
    `\`\`\`tool_code\nprint(default_api.Bash(command="""echo ')' \\""" """))\n\`\`\``,
    'Bash',
  ],
  ['JSON in a tool_call block', `So:\n\`\`\`tool_call\n${CALL}\n\`\`\``, 'Read'],
])('%s: a call', (_, text, tool) => {
  expect(calledTool(text, TOOLS)).toBe(tool);
});

it.each([
  ['an answer', 'The file holds three lines.'],
  ['nothing', ''],
  ['a fence in a text', `For example:\n\`\`\`json\n${CALL}\n\`\`\``],
  ['two fences', `\`\`\`json\n${CALL}\n\`\`\`\nor\n\`\`\`json\n${CALL}\n\`\`\``],
  ['another block in a fence', `\`\`\`xml\n<tool_call>${CALL}</tool_call>\n\`\`\``],
  ['JSON in the middle of a line', `It is {"name": "Read", "arguments": {}}`],
  ['an unknown name', '{"name": "muster-agent", "arguments": {}}'],
  ['data with a name', '{"name": "Read", "version": "1.0.0"}'],
  ['data with an input', '{"name": "Read", "input": "a.txt"}'],
  ['data with more fields', '{"name": "Read", "arguments": {}, "description": "reads"}'],
  ['JSON that was asked for', '{"result": {"name": "Read", "arguments": {}}}'],
  ['broken JSON', '<tool_call>{"name": "Read", </tool_call>'],
  ['braces without JSON', '<tool_call>{"name" = "Read"}</tool_call>'],
  ['a list', `[${CALL}]`],
  ['a list of links', 'See\n[Read(file_path="a.txt")]'],
  ['the markup alone', 'Look for <tool_call></tool_call>'],
  ['a tag of another language', 'It ends with <function=Read>'],
  ['code', 'if (x) {\n  "use strict";\n}'],
  ['a call of another library', '```tool_code\nprint(requests.get(url="x"))\n```'],
  ['a thought', `<think>\n<tool_call>${CALL}</tool_call>\n</think>`],
  ['a thought before an answer', `<think>\n<tool_call>${CALL}</tool_call>\n</think>\nDone (all).`],
])('%s is not a call', (_, text) => {
  expect(calledTool(text, TOOLS)).toBe(null);
});

const WORDS = fc.constantFrom(
  'the',
  'tool_call',
  'Read',
  'Bash(ls)',
  '`<tool_call>`',
  '{"name": "Read"}',
  '<tool_call>',
  '</tool_call>',
  '[TOOL_CALLS]',
  '<function=Read>',
  '</function>',
  '<|channel|>',
  '\n',
  '\n\n',
  '```',
  '\n```json\n',
  '\n```\n',
  `\`${CALL}\``,
  '{',
  '}',
  '</think>',
  '> ',
  '    ',
  '(a)',
  ')',
  '<invoke name="Read">',
  'functions.Read:0',
  'commentary to=functions.Read',
  'file.',
);

it('is never found in prose, whatever markup it names', () => {
  fc.assert(
    fc.property(
      fc.array(WORDS, { maxLength: 30 }),
      fc.constantFrom('.', ' done.', '!', ' `x`', ' (x)', ' x}', ' x>', ' [x]'),
      (words, end) => {
        expect(calledTool(`${words.join(' ')}${end}`, TOOLS)).toBe(null);
      },
    ),
  );
});

it('is found after any prose that opens no code block', () => {
  const prose = fc.array(fc.lorem({ mode: 'sentences' }), { maxLength: 5 });
  fc.assert(
    fc.property(prose, fc.constantFrom(...PARTS), (sentences, [, example]) => {
      expect(calledTool(`${sentences.join('\n\n')}\n${example}`, TOOLS)).toBe('Read');
    }),
  );
});

it.each([
  ['tags', '<tool_call>'],
  ['tags and braces', '<tool_call>{"a'],
  ['tags and strings', '<tool_call>{"a": "'],
  ['functions', '<function=Read>'],
  ['arguments', '<function=Read><parameter=a>'],
  ['more arguments', '<parameter=a>'],
  ['ends of arguments', '</parameter> '],
  ['keys', '<tool_call>Read<arg_key>a</arg_key><arg_value>'],
  ['wrappers', '<function_calls>'],
  ['spaces', ' '],
  ['spaces after a channel', '<|channel|>commentary to=Read     '],
  ['fences', '\n```'],
  ['labelled fences', '\n```tool_code\nprint('],
  ['backticks', '`'],
  ['braces', '\n{"'],
  ['brackets', '[TOOL_CALLS][{'],
  ['thoughts', '</think>'],
  ['ends', '</s>'],
  ['calls', 'default_api.Read('],
  ['invocations', '<invoke name="Read"><parameter name="a">'],
  ['complete calls', `<tool_call>${CALL}</tool_call>`],
])('is searched for in a million characters of %s at once', (_, part) => {
  for (const before of ['', part.trim() === '' ? '<|channel|>commentary to=Read' : `${part}{"`]) {
    const text = `${before}${part.repeat(Math.floor(999_900 / part.length))}x>`;
    expect(calledTool(text, TOOLS)).toBe(null);
  }
});
