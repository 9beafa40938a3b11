import { byteLength } from '../base/text.ts';
import type { ToolOutput } from '../protocol/tool.ts';
import { startInBackground } from './bash-background.ts';
import { runInForeground } from './bash-foreground.ts';
import { defineTool } from './define.ts';
import { failure } from './output.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** The kernel takes no longer argument than 128 KiB. */
const MAX_COMMAND_BYTES = 120_000;

export const bashTool = defineTool({
  name: 'Bash',
  kind: 'execute',
  replay: 'opaque',
  description:
    'Run a bash command in the working directory and get its output and exit code. Each call is a new shell: cd and variables do not last; stdin is empty; what is still running at the end is stopped. For files prefer Read, Edit, Glob and Grep.',
  input: {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1 },
      timeout: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_TIMEOUT_MS,
        description: `ms, default ${DEFAULT_TIMEOUT_MS}; none in the background`,
      },
      run_in_background: {
        type: 'boolean',
        description:
          'return at once with an id, go on while it runs (servers, long builds; no &); you are told when it ends',
      },
      description: { type: 'string', description: 'what it does, in 5 to 10 words' },
    },
    required: ['command'],
  },
  aliases: {
    cmd: 'command',
    script: 'command',
    timeout_ms: 'timeout',
    is_background: 'run_in_background',
    background: 'run_in_background',
  },
  describe: ({ command, run_in_background: background = false }) => ({
    reads: [],
    writes: [],
    commands: [command],
    ...(background ? { background } : {}),
    hosts: [],
  }),
  run: async (input, context) => {
    const { command, timeout = DEFAULT_TIMEOUT_MS, run_in_background: background = false } = input;
    const refusal = unusable(command);
    if (refusal !== null) return refusal;
    return background
      ? await startInBackground(command, context)
      : await runInForeground(command, timeout, context);
  },
});

function unusable(command: string): ToolOutput | null {
  if (command.includes('\0')) return failure('INVALID_PARAM', 'command: contains a NUL character');
  if (byteLength(command) <= MAX_COMMAND_BYTES) return null;
  return failure(
    'LIMIT_EXCEEDED',
    `command: is longer than ${MAX_COMMAND_BYTES} bytes; write it to a file and run that`,
  );
}
