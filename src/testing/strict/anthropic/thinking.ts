import { readString } from '../../wire/read-json.ts';
import type { StrictRule } from '../rule.ts';
import { selectBlocks, type AnthropicRequest, type Block, type Turn } from './request.ts';

/** The rules for the thoughts that are sent back to the model. */
export const ANTHROPIC_THINKING_RULES: readonly StrictRule<AnthropicRequest>[] = [
  {
    id: 'anthropic/thinking-signed',
    requirement: 'A block of thinking has its signature.',
    source: 'https://github.com/code-yeongyu/oh-my-openagent/issues/2775',
    *find(request) {
      for (const { path, value } of selectBlocks(request, 'thinking')) {
        if (readString(value['signature']) !== '') continue;
        const message =
          value['signature'] === undefined
            ? `${path}.thinking.signature: Field required`
            : `${path}: Invalid \`signature\` in \`thinking\` block`;
        yield { path: `${path}.signature`, message };
      }
    },
  },
  {
    id: 'anthropic/thinking-before-calls',
    requirement:
      'With a thinking budget, the answer whose calls are being worked on begins with thinking.',
    source: 'https://github.com/deepset-ai/haystack-core-integrations/issues/2146',
    *find({ thinking, turns }) {
      // The rule does not apply to adaptive thinking: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking.
      if (thinking !== 'enabled') return;
      const first = findFirstTurnOfCalls(turns)?.blocks[0];
      if (first === undefined || isThinking(first)) return;
      const message = `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`;
      yield { path: first.path, message };
    },
  },
  {
    id: 'anthropic/thinking-first',
    requirement: 'With a thinking budget, an answer that contains thinking begins with it.',
    source: 'https://github.com/anthropics/claude-code/issues/20705',
    *find({ thinking, messages }) {
      if (thinking !== 'enabled') return;
      for (const { role, blocks } of messages) {
        const [first] = blocks;
        if (role !== 'assistant' || first === undefined || isThinking(first)) continue;
        if (!blocks.some(isThinking)) continue;
        const message = `${first.path}: If an assistant message contains any thinking blocks, the first block must be \`thinking\` or \`redacted_thinking\`. Found \`${first.type}\`.`;
        yield { path: first.path, message };
      }
    },
  },
  {
    id: 'anthropic/thinking-not-last',
    requirement: 'The request does not end with a block of thinking.',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/5321',
    *find({ messages }) {
      const last = messages.at(-1);
      const block = last?.blocks.at(-1);
      if (last?.role !== 'assistant' || block === undefined || !isThinking(block)) return;
      const message = `${last.path}: The final block in an assistant message cannot be \`thinking\`.`;
      yield { path: block.path, message };
    },
  },
];

function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/**
 * Finds the first answer of the current series of calls; undefined: the request does not end with results of calls.
 */
function findFirstTurnOfCalls(turns: readonly Turn[]): Turn | undefined {
  let first: Turn | undefined;
  for (let at = turns.length - 1; at > 0; at -= 2) {
    const isResults = turns[at]?.blocks.some(({ type }) => type === 'tool_result') === true;
    const answer = turns[at - 1];
    if (!isResults || answer?.role !== 'assistant') break;
    first = answer;
  }
  return first;
}
