import { isJsonObject } from '../../../base/json.ts';
import { readString } from '../../wire/read-json.ts';
import { repeatedItems } from '../read.ts';
import type { Breach, StrictRule } from '../rule.ts';
import { blocksOf, type AnthropicRequest, type Block, type Turn } from './request.ts';

const ID = /^[a-zA-Z0-9_-]+$/;
export const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** The rules for calls of tools and for their results. */
export const ANTHROPIC_TOOL_CALL_RULES: readonly StrictRule<AnthropicRequest>[] = [
  {
    id: 'anthropic/tool-use-id-form',
    requirement: 'The id of a call is not empty and has only letters, digits, _ and -.',
    source: 'https://github.com/anomalyco/opencode/issues/1279',
    *find(request) {
      yield* mismatches(blocksOf(request, 'tool_use'), 'id', ID);
      yield* mismatches(blocksOf(request, 'tool_result'), 'tool_use_id', ID);
    },
  },
  {
    id: 'anthropic/tool-use-id-unique',
    requirement: 'No two calls of a conversation have the same id.',
    source: 'https://github.com/anthropics/claude-code/issues/20901',
    *find(request) {
      for (const { path } of repeatedItems(blocksOf(request, 'tool_use'), idOf)) {
        yield { path: `${path}.id`, message: `${path}: \`tool_use\` ids must be unique` };
      }
    },
  },
  {
    id: 'anthropic/tool-use-name-form',
    requirement: 'The name of a called tool has 1 to 128 letters, digits, _ and -.',
    source: 'https://github.com/home-assistant/core/issues/140005',
    find: (request) => mismatches(blocksOf(request, 'tool_use'), 'name', NAME),
  },
  {
    id: 'anthropic/tool-use-input-object',
    requirement: 'The input of a call is an object.',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls',
    *find(request) {
      for (const { path, value } of blocksOf(request, 'tool_use')) {
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
        const results = new Set(resultsOf(turns[index + 1]).map(resultIdOf));
        yield* unanswered(callsOf(turn).filter((call) => !results.has(idOf(call))));
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
        const late = new Set(resultsOf({ blocks: blocks.slice(firstOther) }).map(resultIdOf));
        yield* unanswered(callsOf(turn).filter((call) => late.has(idOf(call))));
      }
    },
  },
  {
    id: 'anthropic/tool-result-asked-for',
    requirement: 'Each result belongs to a call of the message before it.',
    source: 'https://github.com/anthropics/claude-code/issues/18947',
    *find({ turns }) {
      for (const [index, turn] of turns.entries()) {
        const calls = index === 0 ? [] : callsOf(turns[index - 1]).map(idOf);
        for (const result of resultsOf(turn)) {
          if (calls.includes(resultIdOf(result))) continue;
          const message = `${result.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${resultIdOf(result)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
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
      for (const results of turns.map(resultsOf)) {
        for (const repeated of repeatedItems(results, resultIdOf)) {
          const { path } = repeated;
          const message = `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${resultIdOf(repeated)}`;
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
        yield* unanswered(callsOf({ blocks: turn.blocks.slice(0, Math.max(lastOther, 0)) }));
      }
    },
  },
];

/** Refuses the blocks in which a field does not match its pattern. */
function* mismatches(blocks: readonly Block[], field: string, pattern: RegExp): Generator<Breach> {
  for (const { path, type, value } of blocks) {
    if (pattern.test(readString(value[field]))) continue;
    const message = `${path}.${type}.${field}: String should match pattern '${pattern.source}'`;
    yield { path: `${path}.${field}`, message };
  }
}

function idOf({ value }: Block): string {
  return readString(value['id']);
}

function resultIdOf({ value }: Block): string {
  return readString(value['tool_use_id']);
}

function callsOf(turn: Pick<Turn, 'blocks'> | undefined): readonly Block[] {
  return (turn?.blocks ?? []).filter(({ type }) => type === 'tool_use');
}

function resultsOf(turn: Pick<Turn, 'blocks'> | undefined): readonly Block[] {
  return (turn?.blocks ?? []).filter(({ type }) => type === 'tool_result');
}

function* unanswered(calls: readonly Block[]): Generator<Breach> {
  const [first] = calls;
  if (first === undefined) return;
  const ids = calls.map(idOf).join(', ');
  const message = `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  yield { path: first.path, message };
}
