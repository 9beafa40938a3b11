import { plural } from '../../base/text.ts';
import { ok, warn, type Check } from '../../protocol/check.ts';
import type { ListedModel } from '../../protocol/listed-model.ts';
import { messageText, userMessage } from '../../protocol/message.ts';
import { describeFailure, failureText } from './describe-failure.ts';
import { describeOnlyThought, isOnlyThought, quoteAnswer } from './judge-answer.ts';
import type { ProbeAnswer, ProbeRequest } from './probe-client.ts';

/** The smallest context window, in tokens, in which an agent can work: the prompt and the tools take about a third. */
const MIN_WINDOW = 16_000;
const ENLARGE =
  'enlarge it at the server (Ollama: OLLAMA_CONTEXT_LENGTH=32768; llama-server: -c 32768; LM Studio: when the model is loaded; vLLM: --max-model-len)';

/** Judges the context window of a model. */
export function judgeContextWindow({ contextWindow }: ListedModel): Check {
  const name = 'context window';
  if (contextWindow === null) {
    return warn(
      name,
      'the server does not state it, so a conversation is compacted only after a refusal',
      'add context_window to the configuration if you know it',
    );
  }
  const text = plural(contextWindow, 'token');
  return contextWindow < MIN_WINDOW ? warn(name, `only ${text}`, ENLARGE) : ok(name, text);
}

/** The number of lines in the long prompt. Each takes ten tokens or more. */
const LINES = 500;
const WORDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
/** The smallest number of tokens that any tokenizer makes of the long prompt. */
const MIN_TOKENS = LINES * WORDS.length;

/** Asks for a word at the start of a long system prompt. */
export const LONG_PROMPT: ProbeRequest = {
  system: [
    'The password is "harbour".',
    ...Array.from({ length: LINES }, () => `${WORDS.join(' ')}.`),
  ].join('\n'),
  messages: [userMessage('Which password does the beginning of your instructions name?')],
};

/** Judges whether the whole long prompt has come to the model. */
export function judgeLongPrompt(answer: ProbeAnswer): Check {
  const name = 'long prompt';
  const { end } = answer;
  if (end.type === 'failed') {
    if (end.failure.kind !== 'context_overflow') return describeFailure(name, end.failure);
    return warn(
      name,
      `${plural(MIN_TOKENS, 'token')} are too many: ${failureText(end.failure)}`,
      ENLARGE,
    );
  }
  const { input, cacheRead, cacheWrite } = end.usage;
  const counted = input + cacheRead + cacheWrite;
  const isCut = end.usageMissing === undefined && counted < MIN_TOKENS;
  if (isCut) {
    return warn(
      name,
      `the server cuts it without an error: of more than ${MIN_TOKENS} tokens, the model gets ${counted}`,
      ENLARGE,
    );
  }
  if (isOnlyThought(answer)) return describeOnlyThought(name);
  return /harbou?r/i.test(messageText(end.message))
    ? ok(name, `more than ${MIN_TOKENS} tokens come to the model`)
    : warn(
        name,
        `the model does not find the beginning of the prompt: ${quoteAnswer(answer)}`,
        ENLARGE,
      );
}
