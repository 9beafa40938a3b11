import { byteLength } from '../base/text.ts';
import type { ToolContext, ToolOutput } from '../protocol/tool.ts';
import { commandEnvironment } from '../sys/command-environment.ts';
import { readEnvironment } from '../sys/env.ts';
import { spawnGroup } from '../sys/processes.ts';
import { describeRun } from './bash-output.ts';
import { supervise, type RunOutcome } from './bash-run.ts';
import { CommandOutput } from './command-output.ts';
import { defineTool } from './define.ts';
import { failure } from './output.ts';
import { findPlace } from './search-scope.ts';

const SHELL = '/bin/bash';
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
        description: `ms, default ${DEFAULT_TIMEOUT_MS}`,
      },
      description: { type: 'string', description: 'what it does, in 5–10 words' },
    },
    required: ['command'],
  },
  aliases: { cmd: 'command', script: 'command', timeout_ms: 'timeout' },
  describe: (input) => ({ reads: [], writes: [], commands: [input.command], hosts: [] }),
  run: (input, context) => runCommand(input.command, input.timeout ?? DEFAULT_TIMEOUT_MS, context),
});

async function runCommand(
  command: string,
  timeout: number,
  context: ToolContext,
): Promise<ToolOutput> {
  if (command.includes('\0')) return failure('INVALID_PARAM', 'command: contains a NUL character');
  if (byteLength(command) > MAX_COMMAND_BYTES) {
    return failure(
      'LIMIT_EXCEEDED',
      `command: is longer than ${MAX_COMMAND_BYTES} bytes; write it to a file and run that`,
    );
  }
  const timeoutMs = Math.min(timeout, context.caps.toolMs);
  const cwd = findPlace(context.cwd, context).real;
  const output = new CommandOutput(context.caps, () => context.spillPath());
  try {
    // One pipe for both, so that the lines come in the order in which they were written.
    const args = ['--noprofile', '--norc', '-c', `exec 2>&1; ${command}`];
    const env = commandEnvironment(readEnvironment(), context.taskId);
    const group = spawnGroup(SHELL, args, { cwd, env });
    const outcome = await supervise(group, output, { timeoutMs, context });
    return toOutput(command, outcome, output, { timeoutMs, maxBytes: context.caps.resultBytes });
  } finally {
    output.close();
  }
}

function toOutput(
  command: string,
  outcome: RunOutcome,
  output: CommandOutput,
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
): ToolOutput {
  const text = describeRun(outcome, output, limits);
  if (outcome.startError !== undefined) return failure('INTERNAL_ERROR', text);
  const facts = { commands: [{ command, exitCode: outcome.exitCode }] };
  switch (outcome.endedBy) {
    case 'timeout':
      return failure('TIMEOUT', text, facts);
    case 'cancel':
      return { ...failure('CANCELLED', text, facts), forced: outcome.forced };
    case 'output_limit':
      return failure('LIMIT_EXCEEDED', text, facts);
    case 'itself':
      return { text, facts };
  }
}
