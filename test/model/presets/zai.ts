import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns, hasField } from './chat.ts';
import {
  BEARER,
  data,
  efforts,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://docs.z.ai (streaming, stream-tool, api-code), and errors that users have published.

const MODEL = 'glm-5.3';
const SHAPE = { id: 'c1', object: 'chat.completion.chunk', created: 1753600000, model: MODEL };
const chunk = (delta: JsonObject) => ({ ...SHAPE, choices: [{ index: 0, delta }] });
/** The usage comes in the last chunk with choices. */
const end = (reason: string) => ({
  ...SHAPE,
  choices: [{ index: 0, finish_reason: reason, delta: { role: 'assistant', content: '' } }],
  usage: {
    prompt_tokens: 80,
    completion_tokens: 26,
    total_tokens: 106,
    prompt_tokens_details: { cached_tokens: 64 },
  },
});
const READ = usage(16, 26, { cacheRead: 64 });
const IDS = ['call_abc', 'call_def'] as const;
const KEPT = { thinking: { type: 'enabled', clear_thinking: false }, tool_stream: true };
const error = (code: string, message: string) => ({ error: { code, message } });

export const wire: ProviderWire = {
  key: { variable: 'ZAI_API_KEY', prefix: 'zai-' },
  model: MODEL,
  url: 'https://api.z.ai/api/paas/v4/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { ...KEPT, tool_choice: undefined, reasoning_effort: 'high' },
    ids: IDS,
    thoughts: { reasoning_content: 'Both files.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.')],
      bodies: [
        data([
          chunk({ role: 'assistant', reasoning_content: 'Both' }),
          chunk({ role: 'assistant', reasoning_content: ' files.' }),
          ...PATHS.flatMap((path, index) => [
            chunk({
              role: 'assistant',
              tool_calls: [callPiece(index, IDS[index] ?? '', '{"path":')],
            }),
            chunk({ tool_calls: [{ index, function: { arguments: `"${path}"}` } }] }),
          ]),
          end('tool_calls'),
        ]),
        data([chunk({ content: 'One constant' }), chunk({ content: ' each.' }), end('stop')]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    'text, as the documentation prints it': {
      body: String.raw`data: {"id":"1","created":1677652288,"model":"glm-5.2","choices":[{"index":0,"delta":{"content":"春"},"finish_reason":null}]}

data: {"id":"1","created":1677652288,"model":"glm-5.2","choices":[{"index":0,"delta":{"content":"天"},"finish_reason":null}]}

data: {"id":"1","created":1677652288,"model":"glm-5.2","choices":[{"index":0,"finish_reason":"stop","delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":8,"completion_tokens":262,"total_tokens":270,"prompt_tokens_details":{"cached_tokens":0}}}

data: [DONE]

`,
      content: [{ type: 'text', text: '春天' }],
      usage: usage(8, 262),
      reason: 'stop',
      servedBy: 'glm-5.2',
    },
    'a call in pieces': {
      body: String.raw`data: {"id":"c1","object":"chat.completion.chunk","created":1753600000,"model":"glm-5.2","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":"}}]}}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1753600000,"model":"glm-5.2","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"sf\"}"}}]}}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1753600000,"model":"glm-5.2","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}

data: [DONE]

`,
      content: [{ type: 'tool_call', id: 'call_abc', name: 'get_weather', input: { city: 'sf' } }],
      usage: usage(3, 5),
      reason: 'tool_calls',
      servedBy: 'glm-5.2',
    },
  },
  efforts: {
    [MODEL]: efforts('low low low high high max max'),
    'glm-5.2': efforts('none none high high high max max'),
    'glm-4.7': efforts('disabled disabled - - - - -', (type) => ({ thinking: { type } })),
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: error('1000', 'Authentication Failed'),
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 400,
      body: error('1211', 'Unknown Model, please check the model code.'),
      kind: 'not_found',
    },
    {
      name: 'an unknown model, in Chinese',
      status: 400,
      body: error('1211', '模型不存在，请检查模型代码。'),
      kind: 'not_found',
    },
    {
      name: 'too many requests at once',
      status: 429,
      body: error(
        '1302',
        'High concurrency usage of this API, please reduce concurrency or contact customer service to increase limits',
      ),
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'a used-up plan',
      status: 429,
      body: {
        ...error(
          '1308',
          'Usage limit reached for 5 hour. Your limit will reset at 2026-04-25 15:43:26',
        ),
        request_id: 'abc',
      },
      kind: 'rate_limit',
    },
    {
      name: 'a used-up plan, in Chinese',
      status: 429,
      body: error('1308', '已达到 5 小时的使用上限。您的限额将在 2026-05-09 20:42:25 重置。'),
      kind: 'rate_limit',
    },
    {
      name: 'out of credit',
      status: 429,
      body: error('1113', 'Insufficient balance or no resource package. Please recharge.'),
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error('1261', 'Prompt exceeds max length'),
      kind: 'context_overflow',
    },
    {
      name: 'a conversation that fills the window inside the answer',
      body: data([chunk({ content: 'One' }), end('model_context_window_exceeded')]),
      kind: 'context_overflow',
      statusInside: 413,
      says: 'model_context_window_exceeded',
      usage: READ,
    },
    {
      name: 'wrong messages',
      status: 400,
      body: error('1214', 'The messages parameter is illegal. Please check the documentation.'),
      kind: 'bad_request',
    },
    {
      name: 'a fault of its network',
      status: 500,
      body: error('1234', '网络错误，错误id：202602261029392bc0093d0e944297，请联系客服。'),
      kind: 'server',
      isTransient: true,
    },
    {
      name: 'a used-up plan inside the answer',
      body: data([chunk({ content: 'One' }), error('1308', 'quota')]),
      kind: 'rate_limit',
      says: 'quota',
    },
  ],
  refusals: [
    {
      name: 'any choice of tools but auto',
      isRefused: ({ tool_choice: choice }) => choice !== undefined && choice !== 'auto',
      status: 400,
      body: { error: { message: 'Tool choice must be auto', code: 400 } },
      by: { toolChoice: 'none' },
    },
    {
      name: 'the role of the newer API of OpenAI',
      isRefused: ({ messages }) => JSON.stringify(messages).includes('"role":"developer"'),
      status: 400,
      body: error('1214', 'messages: role developer is not supported'),
      isNotSent: true,
    },
    {
      name: 'the field store',
      isRefused: hasField('store'),
      status: 400,
      body: error('1210', 'Invalid API parameter, please check the documentation.'),
      isNotSent: true,
    },
    {
      name: 'a list of parts in an answer or a result, which its template drops',
      isRefused: ({ messages }) =>
        Array.isArray(messages) &&
        messages.some((message) => {
          const { role, content } = message as JsonObject;
          return (role === 'tool' || role === 'assistant') && Array.isArray(content);
        }),
      status: 400,
      body: error('1214', 'The messages parameter is illegal. Please check the documentation.'),
      isNotSent: true,
    },
  ],
};
