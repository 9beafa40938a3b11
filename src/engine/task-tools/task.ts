import { argumentsSchema } from './argument-reader.ts';
import type { Tool } from '../../protocol/tool.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { parseTaskArguments, type TaskArguments, DEFAULT_AGENT } from '../task/task-arguments.ts';
import { ISOLATIONS } from '../../protocol/workspace.ts';
import type { DelegationRunner } from '../delegation/delegation.ts';

/**
 * Creates the tool that delegates to a subagent. Its output is the subagent's answer, without the rest of its work.
 *
 * @param listAgentNames returns the names of the agent that a call starts, which rules match: the current name first,
 *   then its other names; an empty list if the agent is not known
 * @param listCheckCommands returns the commands that check the work of the call, from the call or the definition
 */
export function createDelegationTool(
  delegate: DelegationRunner,
  listAgentNames: (input: TaskArguments) => readonly string[],
  listCheckCommands: (input: TaskArguments) => readonly string[],
): Tool<TaskArguments> {
  return {
    name: 'Task',
    kind: 'delegate',
    // A call that runs again after a crash finds the child that it had created.
    replay: 'keyed',
    waits: () => true,
    description: 'Give a task to a subagent and get its final answer.',
    inputSchema: argumentsSchema(['prompt'], {
      description: { type: 'string', description: '3-5 words' },
      prompt: { type: 'string' },
      subagent_type: { type: 'string', description: `default ${DEFAULT_AGENT}` },
      model: { type: 'string', description: 'fast, balanced, powerful or provider/model' },
      run_in_background: { type: 'boolean' },
      resume: { type: 'string', description: 'id of an ended subagent' },
      max_turns: { type: 'integer' },
      output_schema: { type: 'object', description: 'JSON Schema of the answer' },
      accept: {
        anyOf: [{ type: 'string' }, { type: 'object' }],
        description:
          'command that the work must pass, or {commands,changed,unchanged,may_change,max_changed_lines}',
      },
      models: {
        type: 'array',
        items: { type: 'string' },
        description: 'with accept: each takes over when the one before fails',
      },
      context: {
        anyOf: [{ type: 'string' }, { type: 'object' }],
        description:
          'what it gets besides the prompt: inherit (all), summary, last:N (turns), {files:[],results:[ids]}',
      },
      isolation: {
        type: 'string',
        enum: [...ISOLATIONS],
        description: 'worktree: own branch and files, landed later',
      },
    }),
    parse: parseTaskArguments,
    describe: (input) => {
      const [agent, ...agentWords] = listAgentNames(input);
      const checks = listCheckCommands(input);
      const access = checks.length === 0 ? NO_ACCESS : { ...NO_ACCESS, checks };
      return agent === undefined ? access : { ...access, agent, agentWords };
    },
    run: (input, context) => delegate(input, context),
  };
}
