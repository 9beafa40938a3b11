import { expect, it } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { anthropicProtocol as anthropic } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import { chatProtocol as chat } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { responsesProtocol as responses } from '../../../../src/model/adapters/openai-responses/responses-protocol.ts';
import {
  splitAtClosingTag,
  removeClosingTag,
} from '../../../../src/model/adapters/answers/separate-thoughts.ts';
import { ThinkingSplitter } from '../../../../src/model/adapters/answers/thinking-splitter.ts';
import { userMessage } from '../../../../src/protocol/message.ts';
import { readQuirk, type Read } from '../read-answer.ts';
import { adapterDeps, answerWith, collect, finished, request, serve } from '../support.ts';

/** Thoughts and text of an answer that comes in pieces of that many characters. */
function split(text: string, size: number) {
  const splitter = new ThinkingSplitter();
  const thoughts: string[] = [];
  let said = '';
  const take = (pieces: ReturnType<ThinkingSplitter['take']>): void => {
    for (const piece of pieces) {
      if (piece.type === 'text') said += piece.text;
      else thoughts[piece.thought] = (thoughts[piece.thought] ?? '') + piece.text;
    }
  };
  for (let at = 0; at < text.length; at += size) take(splitter.take(text.slice(at, at + size)));
  take(splitter.end());
  const before = splitter.tags.map((marks, index) => marks.before + thoughts[index] + marks.after);
  return { thoughts, said, whole: before.join('') + said };
}

const HARMONY = '<|channel|>analysis<|message|>';
const HARMONY_FINAL = '<|start|>assistant<|channel|>final<|message|>';

it.each<[string, readonly string[], string]>([
  ['<think>plan</think>\n\nanswer', ['plan'], 'answer'],
  ['\n<think>\nplan\n</think>answer', ['\nplan\n'], 'answer'],
  ['<Think>plan</Think>answer', ['plan'], 'answer'],
  ['<THINKING>plan</thinking>answer', ['plan'], 'answer'],
  ['<thought>plan</thought>answer', ['plan'], 'answer'],
  ['<seed:think>plan</seed:think>answer', ['plan'], 'answer'],
  ['[THINK]plan[/THINK]answer', ['plan'], 'answer'],
  ['◁think▷plan◁/think▷answer', ['plan'], 'answer'],
  ['<|START_THINKING|>plan<|END_THINKING|>answer', ['plan'], 'answer'],
  ['<|START_THINKING|>plan<|END_THINKING|><|START_RESPONSE|>answer', ['plan'], 'answer'],
  ['<|channel>thought\nplan<channel|>answer', ['plan'], 'answer'],
  [`${HARMONY}plan<|channel|>final<|message|>answer`, ['plan'], 'answer'],
  [`${HARMONY}plan<|end|>${HARMONY_FINAL}answer`, ['plan'], 'answer'],
  [`<|start|>assistant${HARMONY}plan${HARMONY_FINAL}answer`, ['plan'], 'answer'],
  [
    `${HARMONY}plan<|end|><|start|>assistant<|channel|>commentary to=functions.Read<|message|>{}`,
    ['plan'],
    '<|start|>assistant<|channel|>commentary to=functions.Read<|message|>{}',
  ],
  [`${HARMONY}plan<|end|>`, ['plan'], ''],
  ['<think>plan</think>\n<think>more</think>\nanswer', ['plan', 'more'], 'answer'],
  ['<think></think><think>\n</think>answer', ['', '\n'], 'answer'],
  ['<think>plan</think>\n\n', ['plan'], ''],
  ['<think>a < b </thin', ['a < b </thin'], ''],
  ['<think>plan</think>\n<thi', ['plan'], '<thi'],
  [
    '<think>plan</think>The tag <think>x</think> is text',
    ['plan'],
    'The tag <think>x</think> is text',
  ],
  ['<thinker>x', [], '<thinker>x'],
  ['  <b>x</b>', [], '  <b>x</b>'],
  ['Write <think>x</think>', [], 'Write <think>x</think>'],
])(
  '%j contains the thoughts %j and the text %j, for any division into pieces',
  (text, thoughts, said) => {
    for (const size of [1, 2, 7, 1000]) {
      expect(split(text, size)).toEqual({ thoughts, said, whole: text });
    }
  },
);

it('only a limited amount of blank space is held back', () => {
  const splitter = new ThinkingSplitter();
  expect(splitter.take(' '.repeat(1001))).toEqual([{ type: 'text', text: ' '.repeat(1001) }]);
});

it.each([
  ['plan\n</think>\n\nanswer', 'plan\n', 'answer'],
  ['plan\n</thinking>\n\nanswer', 'plan\n', 'answer'],
  ['plan</thought>answer', 'plan', 'answer'],
  ['plan[/THINK]answer', 'plan', 'answer'],
  ['plan\n</seed:think>answer', 'plan\n', 'answer'],
  ['plan\n</Think>\nanswer', 'plan\n', 'answer'],
  ['plan◁/think▷answer', 'plan', 'answer'],
  ['plan<|END_THINKING|>answer', 'plan', 'answer'],
  ['plan<channel|>answer', 'plan', 'answer'],
  ['plan<|end|><|start|>assistant<|channel|>final<|message|>answer', 'plan', 'answer'],
  ['So I do it. </think> The answer', 'So I do it. ', 'The answer'],
  ['Is it? </think> 42', 'Is it? ', '42'],
  ['做吧。 </think> 答案', '做吧。 ', '答案'],
  ['plan ```js x``` </think>\nanswer', 'plan ```js x``` ', 'answer'],
  ['```\nx\n```\n</think>\nanswer', '```\nx\n```\n', 'answer'],
  ['</think>\n\nanswer', '', 'answer'],
])('%j is the thought %j before the text %j', (text, thought, rest) => {
  const found = splitAtClosingTag(text);
  expect(found).toMatchObject({ thought, rest });
  expect(`${found?.thought}${found?.tags.after}${found?.rest}`).toBe(text);
});

it.each([
  'no tag',
  'Models end a thought with </think> or "</think>".',
  'The tag `</think>` ends it.',
  'It ends with </thinking>, and with [/THINK].',
  'Use </think> to end a thought. Then answer.',
  'It is closed. </think> is the tag.',
  'Between <think> and </think>\nit thinks.',
  'As in:\n```\nplan\n</think>\nanswer\n```',
  '> plan\n> </think>\n\nis what it writes',
  'The turn ends with <|end|>\nand so on',
  'a</b>c',
])('%j contains no thought', (text) => {
  expect(splitAtClosingTag(text)).toBeNull();
});

it.each([
  ['</think>\n\nanswer', 'answer'],
  ['\n</think>answer', 'answer'],
  ['</thinking> The answer', 'The answer'],
  ['[/THINK]', ''],
  ['</think> closes a thought', null],
  ['</think>` is a tag', null],
  ['answer </think>', null],
])('after a thought, %j is the text %j', (text, rest) => {
  expect(removeClosingTag(text)).toBe(rest);
});

const said = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
const thought = (content: string) => ({ choices: [{ delta: { reasoning_content: content } }] });
const call = {
  choices: [
    { delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'Read', arguments: '{}' } }] } },
  ],
};
const stop = (reason = 'stop') => ({
  choices: [{ index: 0, delta: {}, finish_reason: reason }],
  usage: { prompt_tokens: 9, completion_tokens: 3 },
});
const TAGGED = { repairs: { thinking_in_text: 1 } } as const;

it.each<[string, readonly unknown[], Read]>([
  [
    'two thoughts',
    [said('<think>plan</think>\n<think>more</think>answer'), stop()],
    { thinking: 'planmore', text: 'answer', ...TAGGED },
  ],
  [
    'a stray closing tag after reasoning',
    [thought('plan'), said('</think>\n\n'), said('answer'), stop()],
    { thinking: 'plan', text: 'answer', ...TAGGED },
  ],
  [
    'a text about the tag after reasoning',
    [thought('plan'), said('</think> closes a thought'), stop()],
    { thinking: 'plan', text: '</think> closes a thought' },
  ],
  [
    'a text that begins with the name of the tag',
    [said('<think> tags'), said(' are used by models.'), stop()],
    { text: '<think> tags are used by models.' },
  ],
  [
    'a text that begins with the names of both tags',
    [said('<think> and </think> enclose a thought.'), stop()],
    { text: '<think> and </think> enclose a thought.' },
  ],
  [
    'a thought that was never closed',
    [said('<think>\nplan'), stop()],
    { thinking: '\nplan', ...TAGGED },
  ],
  [
    'a thought that was cut off at the output limit',
    [said('<think> then i read'), stop('length')],
    { thinking: ' then i read', reason: 'length', ...TAGGED },
  ],
  [
    'a thought that was never closed before a call',
    [said('<think> then i read'), call, stop('tool_calls')],
    { thinking: ' then i read', calls: [['Read', {}]], reason: 'tool_calls', ...TAGGED },
  ],
  [
    'an answer that ends with the name of the closing tag',
    [said('A thought ends with </think>'), stop()],
    { text: 'A thought ends with </think>' },
  ],
  [
    'a thought with its closing tag before a call',
    [said('I read it. </think>'), call, stop('tool_calls')],
    { thinking: 'I read it. ', calls: [['Read', {}]], reason: 'tool_calls', ...TAGGED },
  ],
  [
    'the messages of gpt-oss',
    [said(`${HARMONY}plan<|end|>${HARMONY_FINAL}answer<|return|>`), stop()],
    { thinking: 'plan', text: 'answer', ...TAGGED },
  ],
  [
    'a call of gpt-oss without the end of its thought',
    [said(`${HARMONY}plan<|channel|>commentary to=functions.Read<|message|>{}`), stop()],
    { text: `${HARMONY}plan<|channel|>commentary to=functions.Read<|message|>{}` },
  ],
])('%s', async (_name, events, read) => {
  expect(await readQuirk({ dialect: chat, model: 'qwen3' }, events)).toEqual(read);
});

const marked = (text: string, before: string, after: string) => ({
  type: 'reasoning',
  text,
  meta: { marks: { before, after } },
});
const CONTENT = [
  marked('plan', '<think>', '</think>\n'),
  marked('more', '<think>', '</think>\n\n'),
  expect.objectContaining({ type: 'text', text: 'hi' }),
];
const TEXT = ['<think>plan</th', 'ink>\n<think>more</think>\n\n', 'hi'];

it.each([
  {
    dialect: anthropic,
    events: [
      { type: 'message_start', message: { usage: { input_tokens: 9 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...TEXT.map((text) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ],
  },
  {
    dialect: responses,
    events: [
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } },
      ...TEXT.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'm' } },
      { type: 'response.completed', response: { output: [], usage: { input_tokens: 9 } } },
    ],
  },
  { dialect: chat, events: [...TEXT.map(said), stop()] },
])('thoughts in a text come before it, whatever began its block: %#', async (wire) => {
  await using server = await serve(answerWith(wire.events));
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
  const asked = request([userMessage('Hi')], {
    model: { provider: 'test', id: 'm', chain: [] },
  });
  const parts = await collect(createAdapter(wire.dialect, endpoint, adapterDeps()), asked);
  expect(finished(parts).message.content).toEqual(CONTENT);
});
