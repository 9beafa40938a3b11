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
 * A form in which models write tool calls. Servers parse these forms and send structured calls. A server that was started
 * without the parser for the model leaves the calls in the text.
 */
export interface CallForm {
  /** The models that are trained on the form, or a description of the form. */
  readonly name: string;
  /** The value of vLLM's `--tool-call-parser` for the form; null: vLLM has no parser for it. */
  readonly parser: string | null;
  /** The source of a regular expression for the beginning of a call. Its group `name`, if any, is the name of the tool. */
  readonly begin: string;
  /** Set if the form only counts as a call when the answer contains nothing else. */
  readonly isFullAnswer?: true;
  /** Reads the rest of the call after its beginning; null: the call is incomplete, or the text is something else. */
  readonly read: (text: string, at: number, name: string) => ParsedCalls | null;
}

const NAME = String.raw`(?<name>[A-Za-z_][\w.:/-]{0,127})`;
const BAR = '[|｜]';
const GAP = '[▁_ ]';

/** The sources of patterns for the texts that some forms put around all calls of an answer, or between them. */
export const CALL_WRAPPERS: readonly string[] = [
  String.raw`</?(?:antml:)?function_calls>`,
  '</?minimax:tool_call>',
  '</?seed:tool_call>',
  `</?${BAR}DSML${BAR}(?:function|tool)_calls>`,
  `<${BAR}tool${GAP}calls${GAP}(?:begin|end)${BAR}>`,
  String.raw`<\|tool_calls_section_(?:begin|end)\|>`,
];

function readMarkedJsonCalls(text: string, at: number): ParsedCalls | null {
  return readJsonCalls(text, at, 'any');
}

function readUnmarkedJsonCalls(text: string, at: number): ParsedCalls | null {
  return readJsonCalls(text, at, 'call only');
}

function readKeywordCalls(text: string, at: number): ParsedCalls | null {
  return readPythonCalls(text, at, 'keyword');
}

function readPythonOrJsonCalls(text: string, at: number): ParsedCalls | null {
  return readPythonCalls(text, at, 'any') ?? readMarkedJsonCalls(text, at);
}

/** Reads the arguments of a call as JSON. `name`: the name of the tool, which was before the arguments. */
function readJsonArguments(text: string, at: number, name: string): ParsedCalls | null {
  const json = readJsonObject(text, at);
  return json?.value === undefined ? null : { end: json.end, names: [name] };
}

function createTaggedArgumentsReader(tags: ArgumentTags): CallForm['read'] {
  const read = createArgumentReader(tags);
  return (text, at, name) => {
    const end = read(text, at);
    return end === null ? null : { end, names: [name] };
  };
}

/**
 * Creates a reader for calls that are followed by a text. `end`: the source of a pattern for the text. `presence`:
 * `optional` if the text may be missing, because some servers remove it as the end of the answer.
 */
function readUntilEnd(
  end: string,
  read: CallForm['read'],
  presence: 'needed' | 'optional' = 'optional',
) {
  const expression = lazy(() => new RegExp(String.raw`\s*${end}`, 'y'));
  return (text: string, at: number, name: string): ParsedCalls | null => {
    const calls = read(text, at, name);
    if (calls === null) return null;
    const sticky = expression();
    if (matches(sticky, text, calls.end)) return { ...calls, end: sticky.lastIndex };
    return presence === 'optional' ? calls : null;
  };
}

/** Creates a form with JSON between a beginning and an optional end. */
function createJsonForm(name: string, parser: string | null, begin: string, end: string): CallForm {
  const read = readUntilEnd(end, readMarkedJsonCalls);
  return { name, parser, begin: String.raw`${begin}\s*(?=[{[])`, read };
}

/** Creates a form with the tags `invoke` and `parameter`. `prefix`: the text before the names of the tags. */
function createInvokeForm(
  name: string,
  parser: string | null,
  prefix: string,
  first = '',
): CallForm {
  return {
    name,
    parser,
    begin: `${first}<${prefix}invoke name="${NAME}"[^<>\\n]{0,100}>`,
    read: createTaggedArgumentsReader({
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

/** The known forms. At each position, the first form that can be read counts. */
export const CALL_FORMS: readonly CallForm[] = [
  createJsonForm('Hermes and Qwen', 'hermes', '<tool_call>', '</tool_call>'),
  {
    name: 'Qwen3-Coder',
    parser: 'qwen3_coder',
    begin: String.raw`(?:<tool_call>\s*)?<function=${NAME}>(?!\s*\{)`,
    read: createTaggedArgumentsReader(FUNCTION_TAGS),
  },
  {
    name: 'Llama with a function tag',
    parser: null,
    begin: String.raw`(?:<tool_call>\s*)?<function=${NAME}>\s*(?=\{)`,
    read: readUntilEnd(FUNCTION_TAGS.end, readJsonArguments, 'needed'),
  },
  {
    name: 'GLM',
    parser: 'glm45',
    begin: String.raw`<tool_call>\s*${NAME}\s*(?=<arg_key>|</tool_call>)`,
    read: createTaggedArgumentsReader({
      argument: String.raw`<arg_key>[^<>]{1,200}</arg_key>\s*<arg_value>`,
      endArgument: '</arg_value>',
      end: '</tool_call>',
    }),
  },
  createJsonForm('Llama', 'llama3_json', String.raw`<\|python_tag\|>`, String.raw`<\|eom_id\|>`),
  createJsonForm('Mistral', 'mistral', String.raw`\[TOOL_CALLS\]`, '</s>'),
  {
    name: 'Mistral with the name first',
    parser: 'mistral',
    begin: String.raw`\[TOOL_CALLS\]\s*${NAME}\s*(?:\[CALL_ID\]\w{1,64}\s*)?(?:\[ARGS\]\s*)?(?=\{)`,
    read: readJsonArguments,
  },
  {
    name: 'DeepSeek V3 and R1',
    parser: 'deepseek_v3',
    begin: `<${BAR}tool${GAP}call${GAP}begin${BAR}>\\s*function\\s*<${BAR}tool${GAP}sep${BAR}>\\s*${NAME}\\s*\`\`\`(?:json)?\\s*(?=\\{)`,
    read: readUntilEnd(
      `\`\`\`\\s*(?:<${BAR}tool${GAP}call${GAP}end${BAR}>)?`,
      readJsonArguments,
      'needed',
    ),
  },
  {
    name: 'DeepSeek V3.1',
    parser: 'deepseek_v31',
    begin: `<${BAR}tool${GAP}call${GAP}begin${BAR}>\\s*${NAME}\\s*<${BAR}tool${GAP}sep${BAR}>\\s*(?=\\{)`,
    read: readUntilEnd(`<${BAR}tool${GAP}call${GAP}end${BAR}>`, readJsonArguments),
  },
  createInvokeForm('DeepSeek V3.2 and V4', 'deepseek_v32', `${BAR}DSML${BAR}`),
  {
    name: 'Kimi',
    parser: 'kimi_k2',
    begin: String.raw`<\|tool_call_begin\|>\s*${NAME}\s*<\|tool_call_argument_begin\|>\s*(?=\{)`,
    read: readUntilEnd(String.raw`<\|tool_call_end\|>`, readJsonArguments),
  },
  {
    name: 'Kimi without its special tokens',
    parser: 'kimi_k2',
    begin: String.raw`functions\.${NAME}:\d{1,4}\s*(?=\{)`,
    read: readJsonArguments,
  },
  {
    name: 'gpt-oss',
    parser: 'openai',
    begin: String.raw`(?:<\|start\|>\s*assistant\s*)?${HARMONY_CHANNEL}\s+to=${NAME}${HARMONY_MESSAGE}`,
    read: readUntilEnd(String.raw`<\|(?:call|end)\|>`, readJsonArguments),
  },
  {
    name: 'gpt-oss with the recipient first',
    parser: 'openai',
    begin: String.raw`(?:<\|start\|>\s*assistant\s+)?to=${NAME}\s*${HARMONY_CHANNEL}${HARMONY_MESSAGE}`,
    read: readUntilEnd(String.raw`<\|(?:call|end)\|>`, readJsonArguments),
  },
  {
    name: 'gpt-oss without its special tokens',
    parser: 'openai',
    begin: String.raw`(?:assistant\s?)?commentary\s?to=functions\.${NAME}(?:\s+(?:json|code))?\s*(?=\{)`,
    read: readJsonArguments,
  },
  createInvokeForm('MiniMax', 'minimax_m2', '', String.raw`<minimax:tool_call>\s*`),
  createInvokeForm('Claude in text', null, '(?:antml:)?'),
  {
    name: 'Gemini',
    parser: null,
    begin: String.raw`^ {0,3}\`{3}(?:tool_code|tool_calls?|function_call)[ \t]*\n\s*`,
    read: readUntilEnd('```', readPythonOrJsonCalls, 'needed'),
  },
  {
    name: 'Gemini with tags',
    parser: null,
    begin: String.raw`<tool_code>\s*`,
    read: readUntilEnd('</tool_code>', readPythonOrJsonCalls, 'needed'),
  },
  {
    name: 'Gemini without a mark',
    parser: null,
    begin: String.raw`^(?=(?:print\()?default_api\.\w)`,
    read: readKeywordCalls,
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
    isFullAnswer: true,
    read: readUntilEnd(String.raw`\](?:<\|python_end\|>)?`, readKeywordCalls, 'needed'),
  },
  {
    name: 'LFM2',
    parser: null,
    begin: String.raw`<\|tool_call_start\|>\s*\[`,
    read: readUntilEnd(String.raw`\]\s*<\|tool_call_end\|>`, readKeywordCalls, 'needed'),
  },
  createJsonForm('Granite', 'granite', String.raw`<\|tool_call\|>`, String.raw`<\|end_of_text\|>`),
  createJsonForm('Hunyuan, Jamba and MiniMax M1', 'hunyuan_a13b', '<tool_calls>', '</tool_calls>'),
  createJsonForm('Nemotron', null, '<TOOLCALL>', '</TOOLCALL>'),
  createJsonForm('Command R', null, String.raw`<\|START_ACTION\|>`, String.raw`<\|END_ACTION\|>`),
  createJsonForm(
    'InternLM',
    'internlm',
    String.raw`<\|action_start\|>\s*<\|plugin\|>`,
    String.raw`<\|action_end\|>`,
  ),
  createJsonForm('LongCat', 'longcat', '<longcat_tool_call>', '</longcat_tool_call>'),
  createJsonForm('a function_call tag', null, '<function_call>', '</function_call>'),
  createJsonForm('Phi-4', 'phi4_mini_json', 'functools', String.raw`<\|end\|>`),
  {
    name: 'JSON in a code block',
    parser: null,
    begin: String.raw`^ {0,3}\`{3}(?:json)?[ \t]*\n\s*(?=\{)`,
    isFullAnswer: true,
    read: readUntilEnd('```', readUnmarkedJsonCalls, 'needed'),
  },
  { name: 'JSON', parser: null, begin: String.raw`^ {0,3}(?=\{\s*")`, read: readUnmarkedJsonCalls },
];

/** Reads the arguments of a call of Gemma. They are not JSON, so the token after the last brace marks the end of the call. */
function readGemmaArguments(text: string, at: number, name: string): ParsedCalls | null {
  const end = /\}(?:<tool_call\|>|<end_function_call>)/g;
  end.lastIndex = at;
  return end.test(text) ? { end: end.lastIndex, names: [name] } : null;
}

/** The tags of a form in which every argument has its own tags, as sources of regular expressions. */
interface ArgumentTags {
  /** The tag before the value of an argument. */
  readonly argument: string;
  readonly endArgument: string;
  /** The tag that ends the call. */
  readonly end: string;
}

/**
 * Creates a function that reads the arguments of a call and the tag that ends the call. It returns the index after this
 * tag; null: the call is incomplete. Because a value may itself contain such tags, it ends only at an end tag that is
 * followed by another argument or by the end of the call.
 */
function createArgumentReader({ argument, endArgument, end }: ArgumentTags) {
  const patterns = lazy(() => ({
    argumentTag: new RegExp(`\\s*${argument}`, 'y'),
    endTag: new RegExp(`\\s*${end}`, 'y'),
    endOfValue: new RegExp(`${endArgument}(?=\\s*(?:${argument}|${end}))`, 'g'),
    // Models sometimes forget the tag that ends a value, so the next tag ends it too.
    nextTag: new RegExp(`(?=${argument}|${end})`, 'g'),
  }));

  return (text: string, start: number): number | null => {
    const { argumentTag, endTag, endOfValue, nextTag } = patterns();
    let at = skipSpace(text, start);
    const json = readJsonObject(text, at);
    if (json !== null) at = json.end;
    // False after no end tag was found: none follows at a later index either, so it is not searched for again.
    let hasEnds = true;
    while (matches(argumentTag, text, at)) {
      const value = argumentTag.lastIndex;
      const close: number | null = hasEnds ? findEndOfMatch(endOfValue, text, value) : null;
      hasEnds &&= close !== null;
      const next = close ?? findEndOfMatch(nextTag, text, value);
      if (next === null) return null;
      at = next;
    }
    return matches(endTag, text, at) ? endTag.lastIndex : null;
  };
}

/** Returns the index after the next match of a pattern; null: there is no match. */
function findEndOfMatch(expression: RegExp, text: string, from: number): number | null {
  expression.lastIndex = from;
  const found = expression.exec(text);
  return found === null ? null : found.index + found[0].length;
}
