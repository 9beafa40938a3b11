import { lazy } from '../../base/lazy.ts';
import {
  matches,
  readJsonCalls,
  readJsonObject,
  skipSpace,
  type ParsedCalls,
} from './json-calls.ts';
import { readPythonCalls } from './python-calls.ts';

/**
 * A form in which models write tool calls. Their servers turn it into calls; a server that was started without
 * the parser for it passes it on as text.
 */
export interface CallForm {
  /** The models that are trained on it, or a description. */
  readonly name: string;
  /** The value of vLLM's `--tool-call-parser`; null: servers have no parser for it. */
  readonly parser: string | null;
  /** A regular expression for its beginning. The group `name`, if there is one, is the name of the tool. */
  readonly begin: string;
  /** Set: the answer must hold nothing else. */
  readonly isWholeAnswer?: true;
  /** Reads what follows the beginning; null: it is not complete, or something else. */
  readonly read: (text: string, at: number, name: string) => ParsedCalls | null;
}

const NAME = String.raw`(?<name>[A-Za-z_][\w.:/-]{0,127})`;
const BAR = '[|｜]';
const GAP = '[▁_ ]';

/** Text that some forms put around all calls of an answer, or between them. */
export const CALL_WRAPPERS: readonly string[] = [
  String.raw`</?(?:antml:)?function_calls>`,
  '</?minimax:tool_call>',
  '</?seed:tool_call>',
  `</?${BAR}DSML${BAR}(?:function|tool)_calls>`,
  `<${BAR}tool${GAP}calls${GAP}(?:begin|end)${BAR}>`,
  String.raw`<\|tool_calls_section_(?:begin|end)\|>`,
];

function jsonCalls(text: string, at: number): ParsedCalls | null {
  return readJsonCalls(text, at, 'any');
}

function onlyJsonCalls(text: string, at: number): ParsedCalls | null {
  return readJsonCalls(text, at, 'call only');
}

function keywordCalls(text: string, at: number): ParsedCalls | null {
  return readPythonCalls(text, at, 'keyword');
}

function pythonOrJson(text: string, at: number): ParsedCalls | null {
  return readPythonCalls(text, at, 'any') ?? jsonCalls(text, at);
}

/** The arguments as JSON, after the name. */
function jsonArguments(text: string, at: number, name: string): ParsedCalls | null {
  const json = readJsonObject(text, at);
  return json?.value === undefined ? null : { end: json.end, names: [name] };
}

function taggedArguments(tags: ArgumentTags): CallForm['read'] {
  const read = createArgumentReader(tags);
  return (text, at, name) => {
    const end = read(text, at);
    return end === null ? null : { end, names: [name] };
  };
}

/** The text after the calls: required, or optional if servers take it for the end of the answer. */
function before(end: string, read: CallForm['read'], presence: 'needed' | 'optional' = 'optional') {
  const expression = lazy(() => new RegExp(String.raw`\s*${end}`, 'y'));
  return (text: string, at: number, name: string): ParsedCalls | null => {
    const calls = read(text, at, name);
    if (calls === null) return null;
    const sticky = expression();
    if (matches(sticky, text, calls.end)) return { ...calls, end: sticky.lastIndex };
    return presence === 'optional' ? calls : null;
  };
}

function jsonBetween(name: string, parser: string | null, begin: string, end: string): CallForm {
  const read = before(end, jsonCalls);
  return { name, parser, begin: String.raw`${begin}\s*(?=[{[])`, read };
}

function invoke(name: string, parser: string | null, prefix: string, first = ''): CallForm {
  return {
    name,
    parser,
    begin: `${first}<${prefix}invoke name="${NAME}"[^<>\\n]{0,100}>`,
    read: taggedArguments({
      argument: `<${prefix}parameter name="[^"\\n]{1,200}"[^<>\\n]{0,100}>`,
      endArgument: `</${prefix}parameter>`,
      end: `</${prefix}invoke>`,
    }),
  };
}

const FUNCTION_TAGS = {
  argument: String.raw`<parameter=[^<>\n]{1,200}>`,
  endArgument: '</parameter>',
  end: String.raw`</function>(?:\s*</tool_call>)?`,
};
const HARMONY_MESSAGE = String.raw`(?:\s*<\|constrain\|>)?(?:\s*(?:json|code))?\s*<\|message\|>\s*(?=\{)`;
const HARMONY_CHANNEL = String.raw`<\|channel\|>\s*(?:commentary|analysis|final)`;

export const CALL_FORMS: readonly CallForm[] = [
  jsonBetween('Hermes and Qwen', 'hermes', '<tool_call>', '</tool_call>'),
  {
    name: 'Qwen3-Coder',
    parser: 'qwen3_coder',
    begin: String.raw`(?:<tool_call>\s*)?<function=${NAME}>(?!\s*\{)`,
    read: taggedArguments(FUNCTION_TAGS),
  },
  {
    name: 'Llama with a function tag',
    parser: null,
    begin: String.raw`(?:<tool_call>\s*)?<function=${NAME}>\s*(?=\{)`,
    read: before(FUNCTION_TAGS.end, jsonArguments, 'needed'),
  },
  {
    name: 'GLM',
    parser: 'glm45',
    begin: String.raw`<tool_call>\s*${NAME}\s*(?=<arg_key>|</tool_call>)`,
    read: taggedArguments({
      argument: String.raw`<arg_key>[^<>]{1,200}</arg_key>\s*<arg_value>`,
      endArgument: '</arg_value>',
      end: '</tool_call>',
    }),
  },
  jsonBetween('Llama', 'llama3_json', String.raw`<\|python_tag\|>`, String.raw`<\|eom_id\|>`),
  jsonBetween('Mistral', 'mistral', String.raw`\[TOOL_CALLS\]`, '</s>'),
  {
    name: 'Mistral with the name first',
    parser: 'mistral',
    begin: String.raw`\[TOOL_CALLS\]\s*${NAME}\s*(?:\[CALL_ID\]\w{1,64}\s*)?(?:\[ARGS\]\s*)?(?=\{)`,
    read: jsonArguments,
  },
  {
    name: 'DeepSeek V3 and R1',
    parser: 'deepseek_v3',
    begin: `<${BAR}tool${GAP}call${GAP}begin${BAR}>\\s*function\\s*<${BAR}tool${GAP}sep${BAR}>\\s*${NAME}\\s*\`\`\`(?:json)?\\s*(?=\\{)`,
    read: before(`\`\`\`\\s*(?:<${BAR}tool${GAP}call${GAP}end${BAR}>)?`, jsonArguments, 'needed'),
  },
  {
    name: 'DeepSeek V3.1',
    parser: 'deepseek_v31',
    begin: `<${BAR}tool${GAP}call${GAP}begin${BAR}>\\s*${NAME}\\s*<${BAR}tool${GAP}sep${BAR}>\\s*(?=\\{)`,
    read: before(`<${BAR}tool${GAP}call${GAP}end${BAR}>`, jsonArguments),
  },
  invoke('DeepSeek V3.2 and V4', 'deepseek_v32', `${BAR}DSML${BAR}`),
  {
    name: 'Kimi',
    parser: 'kimi_k2',
    begin: String.raw`<\|tool_call_begin\|>\s*${NAME}\s*<\|tool_call_argument_begin\|>\s*(?=\{)`,
    read: before(String.raw`<\|tool_call_end\|>`, jsonArguments),
  },
  {
    name: 'Kimi without its special tokens',
    parser: 'kimi_k2',
    begin: String.raw`functions\.${NAME}:\d{1,4}\s*(?=\{)`,
    read: jsonArguments,
  },
  {
    name: 'gpt-oss',
    parser: 'openai',
    begin: String.raw`(?:<\|start\|>\s*assistant\s*)?${HARMONY_CHANNEL}\s+to=${NAME}${HARMONY_MESSAGE}`,
    read: before(String.raw`<\|(?:call|end)\|>`, jsonArguments),
  },
  {
    name: 'gpt-oss with the recipient first',
    parser: 'openai',
    begin: String.raw`(?:<\|start\|>\s*assistant\s+)?to=${NAME}\s*${HARMONY_CHANNEL}${HARMONY_MESSAGE}`,
    read: before(String.raw`<\|(?:call|end)\|>`, jsonArguments),
  },
  {
    name: 'gpt-oss without its special tokens',
    parser: 'openai',
    begin: String.raw`(?:assistant\s?)?commentary\s?to=functions\.${NAME}(?:\s+(?:json|code))?\s*(?=\{)`,
    read: jsonArguments,
  },
  invoke('MiniMax', 'minimax_m2', '', String.raw`<minimax:tool_call>\s*`),
  invoke('Claude in text', null, '(?:antml:)?'),
  {
    name: 'Gemini',
    parser: null,
    begin: String.raw`^ {0,3}\`{3}(?:tool_code|tool_calls?|function_call)[ \t]*\n\s*`,
    read: before('```', pythonOrJson, 'needed'),
  },
  {
    name: 'Gemini with tags',
    parser: null,
    begin: String.raw`<tool_code>\s*`,
    read: before('</tool_code>', pythonOrJson, 'needed'),
  },
  {
    name: 'Gemini without a mark',
    parser: null,
    begin: String.raw`^(?=(?:print\()?default_api\.\w)`,
    read: keywordCalls,
  },
  {
    name: 'Gemma',
    parser: 'gemma4',
    begin: String.raw`(?:<\|tool_call>|<start_function_call>)\s*call:${NAME}(?=\{)`,
    read: readGemmaArguments,
  },
  {
    name: 'Llama 4',
    parser: 'llama4_pythonic',
    begin: String.raw`^(?:<\|python_start\|>)?\[(?=[A-Za-z_][\w.]{0,127}\()`,
    isWholeAnswer: true,
    read: before(String.raw`\](?:<\|python_end\|>)?`, keywordCalls, 'needed'),
  },
  {
    name: 'LFM2',
    parser: null,
    begin: String.raw`<\|tool_call_start\|>\s*\[`,
    read: before(String.raw`\]\s*<\|tool_call_end\|>`, keywordCalls, 'needed'),
  },
  jsonBetween('Granite', 'granite', String.raw`<\|tool_call\|>`, String.raw`<\|end_of_text\|>`),
  jsonBetween('Hunyuan, Jamba and MiniMax M1', 'hunyuan_a13b', '<tool_calls>', '</tool_calls>'),
  jsonBetween('Nemotron', null, '<TOOLCALL>', '</TOOLCALL>'),
  jsonBetween('Command R', null, String.raw`<\|START_ACTION\|>`, String.raw`<\|END_ACTION\|>`),
  jsonBetween(
    'InternLM',
    'internlm',
    String.raw`<\|action_start\|>\s*<\|plugin\|>`,
    String.raw`<\|action_end\|>`,
  ),
  jsonBetween('LongCat', 'longcat', '<longcat_tool_call>', '</longcat_tool_call>'),
  jsonBetween('a function_call tag', null, '<function_call>', '</function_call>'),
  jsonBetween('Phi-4', 'phi4_mini_json', 'functools', String.raw`<\|end\|>`),
  {
    name: 'JSON in a code block',
    parser: null,
    begin: String.raw`^ {0,3}\`{3}(?:json)?[ \t]*\n\s*(?=\{)`,
    isWholeAnswer: true,
    read: before('```', onlyJsonCalls, 'needed'),
  },
  { name: 'JSON', parser: null, begin: String.raw`^ {0,3}(?=\{\s*")`, read: onlyJsonCalls },
];

/** Values stand between tokens of their own, so that the token behind the last brace ends the call. */
function readGemmaArguments(text: string, at: number, name: string): ParsedCalls | null {
  const end = /\}(?:<tool_call\|>|<end_function_call>)/g;
  end.lastIndex = at;
  return end.test(text) ? { end: end.lastIndex, names: [name] } : null;
}

/** The tags of a call whose arguments each have a tag of their own, as sources of regular expressions. */
interface ArgumentTags {
  /** The tag before the value of an argument. */
  readonly argument: string;
  readonly endArgument: string;
  /** The tag that ends the call. */
  readonly end: string;
}

/**
 * Returns a function that reads the arguments of a call and the tag that ends it, and gives the index behind that
 * tag, or null if the call is not complete. A value may hold such tags itself: it ends with a tag that another
 * argument, or the end of the call, follows.
 */
function createArgumentReader({ argument, endArgument, end }: ArgumentTags) {
  const patterns = lazy(() => ({
    argumentTag: new RegExp(`\\s*${argument}`, 'y'),
    endTag: new RegExp(`\\s*${end}`, 'y'),
    endOfValue: new RegExp(`${endArgument}(?=\\s*(?:${argument}|${end}))`, 'g'),
    // Models forget the tag that ends a value.
    nextTag: new RegExp(`(?=${argument}|${end})`, 'g'),
  }));

  return (text: string, start: number): number | null => {
    const { argumentTag, endTag, endOfValue, nextTag } = patterns();
    let at = skipSpace(text, start);
    const json = readJsonObject(text, at);
    if (json !== null) at = json.end;
    // If no such end follows from here on, none follows from a later index either.
    let hasEnds = true;
    while (matches(argumentTag, text, at)) {
      const value = argumentTag.lastIndex;
      const close: number | null = hasEnds ? search(endOfValue, text, value) : null;
      hasEnds &&= close !== null;
      const next = close ?? search(nextTag, text, value);
      if (next === null) return null;
      at = next;
    }
    return matches(endTag, text, at) ? endTag.lastIndex : null;
  };
}

function search(expression: RegExp, text: string, from: number): number | null {
  expression.lastIndex = from;
  const found = expression.exec(text);
  return found === null ? null : found.index + found[0].length;
}
