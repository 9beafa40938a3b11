import { isJsonObject } from '../../../base/json.ts';
import { readString } from '../../wire/read-json.ts';
import { selectRepeatedItems } from '../read.ts';
import type { Breach, StrictRule } from '../rule.ts';
import { selectBlocks, type AnthropicRequest, type Block, type Turn } from './request.ts';

const CALL_ID = /^[a-zA-Z0-9_-]+$/;
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** The rules for calls of tools and for their results. */
export const ANTHROPIC_TOOL_CALL_RULES: readonly StrictRule<AnthropicRequest>[] = [
  {
    id: 'anthropic/tool-use-id-form',
    requirement: 'The id of a call is not empty and has only letters, digits, _ and -.',
    source: 'https://github.com/anomalyco/opencode/issues/1279',
    *find(request) {
      yield* checkFieldPattern(selectBlocks(request, 'tool_use'), 'id', CALL_ID);
      yield* checkFieldPattern(selectBlocks(request, 'tool_result'), 'tool_use_id', CALL_ID);
    },
  },
  {
    id: 'anthropic/tool-use-id-unique',
    requirement: 'No two calls of a conversation have the same id.',
    source: 'https://github.com/anthropics/claude-code/issues/20901',
    *find(request) {
      for (const { path } of selectRepeatedItems(selectBlocks(request, 'tool_use'), readCallId)) {
        yield { path: `${path}.id`, message: `${path}: \`tool_use\` ids must be unique` };
      }
    },
  },
  {
    id: 'anthropic/tool-use-name-form',
    requirement: 'The name of a called tool has 1 to 128 letters, digits, _ and -.',
    source: 'https://github.com/home-assistant/core/issues/140005',
    find: (request) => checkFieldPattern(selectBlocks(request, 'tool_use'), 'name', TOOL_NAME),
  },
  {
    id: 'anthropic/tool-use-input-object',
    requirement: 'The input of a call is an object.',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls',
    *find(request) {
      for (const { path, value } of selectBlocks(request, 'tool_use')) {
        if (isJsonObject(value['input'])) continue;
        const message = `${path}.tool_use.input: Input should be a valid dictionary`;
        yield { path: `${path}.input`, message };
      }
    },
  },
  {
    id: 'anthropic/tool-use-answered',
    requirement: 'The next message holds the result of each call.',
    source: 'https://github.com/anthropics/claude-code/issues/8612',
    *find({ turns }) {
      for (const [index, turn] of turns.entries()) {
        if (turn.role !== 'assistant') continue;
        const results = new Set(selectResults(turns[index + 1]).map(readResultCallId));
        yield* refuseUnansweredCalls(
          selectCalls(turn).filter((call) => !results.has(readCallId(call))),
        );
      }
    },
  },
  {
    id: 'anthropic/tool-results-first',
    requirement: 'The results of calls come before all other content after the calls.',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls',
    *find({ turns }) {
      for (const [index, turn] of turns.entries()) {
        const blocks = turns[index + 1]?.blocks ?? [];
        const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result');
        if (firstOther === -1) continue;
        const late = new Set(
          selectResults({ blocks: blocks.slice(firstOther) }).map(readResultCallId),
        );
        yield* refuseUnansweredCalls(
          selectCalls(turn).filter((call) => late.has(readCallId(call))),
        );
      }
    },
  },
  {
    id: 'anthropic/tool-result-asked-for',
    requirement: 'Each result belongs to a call of the message before it.',
    source: 'https://github.com/anthropics/claude-code/issues/18947',
    *find({ turns }) {
      for (const [index, turn] of turns.entries()) {
        const calls = index === 0 ? [] : selectCalls(turns[index - 1]).map(readCallId);
        for (const result of selectResults(turn)) {
          if (calls.includes(readResultCallId(result))) continue;
          const message = `${result.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${readResultCallId(result)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
          yield { path: `${result.path}.tool_use_id`, message };
        }
      }
    },
  },
  {
    id: 'anthropic/tool-result-once',
    requirement: 'A call has one result.',
    source: 'https://github.com/QwenLM/qwen-code/pull/8163',
    *find({ turns }) {
      for (const results of turns.map(selectResults)) {
        for (const repeated of selectRepeatedItems(results, readResultCallId)) {
          const { path } = repeated;
          const message = `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${readResultCallId(repeated)}`;
          yield { path: `${path}.tool_use_id`, message };
        }
      }
    },
  },
  {
    id: 'anthropic/tool-use-last',
    requirement:
      'Nothing comes after the calls of an answer: the server would take it for a new answer.',
    source:
      'https://github.com/anomalyco/opencode/blob/dev/packages/llm/test/fixtures/recordings/anthropic-messages/rejects-malformed-assistant-tool-order-without-patch.json',
    *find({ turns }) {
      for (const turn of turns.filter(({ role }) => role === 'assistant')) {
        const lastOther = turn.blocks.findLastIndex(({ type }) => type !== 'tool_use');
        yield* refuseUnansweredCalls(
          selectCalls({ blocks: turn.blocks.slice(0, Math.max(lastOther, 0)) }),
        );
      }
    },
  },
];

/** Yields a breach for each block in which a field does not match a pattern. */
function* checkFieldPattern(
  blocks: readonly Block[],
  field: string,
  pattern: RegExp,
): Generator<Breach> {
  for (const { path, type, value } of blocks) {
    if (pattern.test(readString(value[field]))) continue;
    const message = `${path}.${type}.${field}: String should match pattern '${pattern.source}'`;
    yield { path: `${path}.${field}`, message };
  }
}

function readCallId({ value }: Block): string {
  return readString(value['id']);
}

function readResultCallId({ value }: Block): string {
  return readString(value['tool_use_id']);
}

function selectCalls(turn: Pick<Turn, 'blocks'> | undefined): readonly Block[] {
  return (turn?.blocks ?? []).filter(({ type }) => type === 'tool_use');
}

function selectResults(turn: Pick<Turn, 'blocks'> | undefined): readonly Block[] {
  return (turn?.blocks ?? []).filter(({ type }) => type === 'tool_result');
}

/** Yields one breach for all calls without a result. */
function* refuseUnansweredCalls(calls: readonly Block[]): Generator<Breach> {
  const [first] = calls;
  if (first === undefined) return;
  const ids = calls.map(readCallId).join(', ');
  const message = `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  yield { path: first.path, message };
}
