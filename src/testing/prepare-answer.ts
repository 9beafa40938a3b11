import { byteLength } from '../base/text.ts';
import { addUsage, NO_USAGE, type Usage } from '../protocol/model.ts';
import type { ScriptedAnswer, AnswerToolCall, Fault } from './answer.ts';
import type { PreparedAnswer, StreamedCall } from './wire/codec.ts';

/** The properties of an answer that depend on the request and the server, and not on the script. */
export interface AnswerContext {
  readonly id: string;
  readonly createdAt: number;
  /** The prefix of call ids. It is unique in the conversation, and the same for a repeated request. */
  readonly callIdPrefix: string;
  /** The numbers of tokens of the prompt, which are reported if the script does not state them. */
  readonly prompt: Pick<Usage, 'input' | 'cacheRead' | 'cacheWrite'>;
}

/** The number of bytes that are counted as one token. */
const BYTES_PER_TOKEN = 4;

export function estimateTokenCount(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Adds ids, pieces and usage to an answer, and applies the faults that change its content. */
export function prepareAnswer(answer: ScriptedAnswer, context: AnswerContext): PreparedAnswer {
  const { fault } = answer;
  const base = { id: context.id, createdAt: context.createdAt };
  if (fault?.kind === 'empty') {
    const usage = { ...NO_USAGE, ...context.prompt, ...answer.usage };
    return { ...base, thinking: null, text: null, calls: [], search: null, usage, stop: 'stop' };
  }
  const calls = prepareCalls(answer, context.callIdPrefix);
  const stop = fault?.kind === 'length_stop' ? 'length' : answer.stop;
  return {
    ...base,
    thinking: createThinkingPieces(answer),
    text: createTextPieces(answer),
    calls,
    search: answer.search ?? null,
    usage: { ...estimateUsage(answer, context, calls), ...answer.usage },
    stop: stop ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
  };
}

function createThinkingPieces(answer: ScriptedAnswer): Iterable<string> | null {
  if (answer.fault?.kind === 'thinking_forever') return generateEndlessThinking();
  return answer.thinking === undefined ? null : splitPieces(answer.thinking, answer.chunks);
}

function* generateEndlessThinking(): Generator<string> {
  for (;;) yield 'hmm ';
}

function createTextPieces(answer: ScriptedAnswer): Iterable<string> | null {
  if (answer.fault?.kind === 'huge') return generateHugeText(answer.fault.megabytes);
  return answer.text === undefined ? null : splitPieces(answer.text, answer.chunks);
}

/** A line of 64 bytes. */
const HUGE_LINE = `${'0123456789abcdef'.repeat(4).slice(1)}\n`;
/** A piece of 64 KiB. */
const HUGE_PIECE = HUGE_LINE.repeat(1024);

function* generateHugeText(megabytes: number): Generator<string> {
  for (let remaining = megabytes * 16; remaining > 0; remaining -= 1) yield HUGE_PIECE;
}

/**
 * Splits a text into at most `count` pieces of about the same size. No piece is empty, and no code point is split.
 */
export function splitPieces(text: string, count = 1): readonly string[] {
  if (count <= 1 || text === '') return text === '' ? [] : [text];
  const points = [...text];
  const size = Math.ceil(points.length / count);
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += size) {
    pieces.push(points.slice(at, at + size).join(''));
  }
  return pieces;
}

function prepareCalls(answer: ScriptedAnswer, idPrefix: string): readonly StreamedCall[] {
  const calls = answer.toolCalls ?? [];
  const firstId = calls[0]?.id ?? `${idPrefix}0`;
  return calls.map((call, index) => {
    const isLast = index === calls.length - 1;
    const ownId = call.id ?? `${idPrefix}${index}`;
    const { args, state } = prepareArguments(call, { fault: answer.fault, isLast });
    return {
      id: answer.fault?.kind === 'duplicate_tool_ids' ? firstId : ownId,
      name: call.name,
      args,
      pieces: splitPieces(args, answer.chunks),
      state,
    };
  });
}

function prepareArguments(
  call: AnswerToolCall,
  { fault, isLast }: { readonly fault: Fault | undefined; readonly isLast: boolean },
): Pick<StreamedCall, 'args' | 'state'> {
  const args = JSON.stringify(call.input);
  if (fault?.kind === 'broken_tool_json') return { args: args.slice(0, -1), state: 'broken' };
  if (fault?.kind === 'length_stop' && isLast) {
    return { args: args.slice(0, Math.ceil(args.length / 2)), state: 'cut' };
  }
  return { args, state: 'complete' };
}

function estimateUsage(
  answer: ScriptedAnswer,
  context: AnswerContext,
  calls: readonly StreamedCall[],
): Usage {
  const reasoning = estimateTokenCount(byteLength(answer.thinking ?? ''));
  const written = calls.reduce(
    (sum, call) => sum + call.name.length + byteLength(call.args),
    countTextBytes(answer),
  );
  const output = reasoning + estimateTokenCount(written);
  return addUsage(NO_USAGE, { ...context.prompt, output, reasoning });
}

function countTextBytes({ text = '', fault }: ScriptedAnswer): number {
  return fault?.kind === 'huge' ? fault.megabytes * 2 ** 20 : byteLength(text);
}
