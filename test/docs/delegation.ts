import { firstUserText, type Answer, type RecordedRequest } from '../../src/testing/index.ts';

/** The file that the question of the first task is about. */
export const RETRY_FILE = {
  'src/retry.ts': '/** How often a failed request is repeated. */\nexport const RETRY_LIMIT = 4;\n',
};

const TASK = {
  description: 'Find the retry limit',
  prompt: 'Find where the retry limit is set.',
  subagent_type: 'Explore',
};
const SEARCH = { name: 'Grep', input: { pattern: 'RETRY_LIMIT', output_mode: 'content' } };
const PLACE = '`src/retry.ts:2` sets `RETRY_LIMIT` to 4.';

/** Answers "How often is a failed request repeated?" as a model would: it delegates, and the subagent searches. */
export function answerByDelegating(request: RecordedRequest): Answer {
  const isChild = firstUserText(request).includes(TASK.prompt);
  const results = request.messages.flatMap(({ toolResults = [] }) => toolResults);
  const [result] = results;
  if (result === undefined) {
    return { toolCalls: [isChild ? SEARCH : { name: 'Task', input: TASK }] };
  }
  if (!result.text.includes(isChild ? 'RETRY_LIMIT = 4' : PLACE)) return { text: result.text };
  return { text: isChild ? PLACE : `Four times: ${PLACE}` };
}
