import { NO_ACCESS } from '../../protocol/permission.ts';
import { defineTool } from '../shared/define-tool.ts';

const MAX_SECONDS = 300;

export const sleepTool = defineTool({
  name: 'Sleep',
  kind: 'meta',
  replay: 'pure',
  // Other calls may use its slot meanwhile.
  waits: true,
  ownWords: true,
  description: 'Wait. For a task or shell use TaskOutput instead.',
  input: {
    type: 'object',
    properties: { seconds: { type: 'number', minimum: 0, maximum: MAX_SECONDS } },
    required: ['seconds'],
  },
  aliases: { duration: 'seconds', secs: 'seconds', duration_seconds: 'seconds' },
  describe: () => NO_ACCESS,
  async run({ seconds }, context) {
    await context.sleep(seconds * 1000);
    return { text: `${seconds} s have passed.` };
  },
});
