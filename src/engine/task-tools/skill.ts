import { argumentsSchema, ArgumentReader } from './argument-reader.ts';
import { listAgentNames } from '../../agents/find-agent.ts';
import { findSkill } from '../../agents/skills/find-skill.ts';
import { formatSkillText, formatSkillTextWithin } from '../../agents/skills/text.ts';
import { type JsonObject, type JsonValue, isJsonObject } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import { NO_ACCESS, type Access } from '../../protocol/permission.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { findCallableSkills } from '../prompt/skills.ts';
import type { DelegationRunner } from '../delegation/delegation.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { failure } from '../../tools/shared/output.ts';
import { type TaskArguments, DEFAULT_AGENT } from '../task/task-arguments.ts';

interface SkillInput {
  readonly skill: string;
  /** The arguments for the skill; empty if there are none. */
  readonly args: string;
  /** The arguments of the call as the model wrote them. */
  readonly params: JsonObject;
}

const ALIASES = { name: 'skill', skill_name: 'skill', command: 'skill', arguments: 'args' };

/**
 * Creates the tool that loads the instructions of a skill. A skill with `context: fork` runs as a task instead, like
 * the task of a Task call, and the answer of the task is the output.
 */
export function skillTool(engine: EngineContext, delegate: DelegationRunner): Tool<SkillInput> {
  return {
    name: 'Skill',
    kind: 'delegate',
    // A call that runs again after a crash finds the child that it had created.
    replay: 'keyed',
    waits: ({ skill }) => describeAccess(engine, skill).agent !== undefined,
    description:
      'Load the instructions of a skill, and follow them; a skill that is a task of its own gives its result.',
    inputSchema: argumentsSchema(['skill'], {
      skill: { type: 'string', description: 'Its name' },
      args: { type: 'string', description: 'Arguments, as on a command line' },
    }),
    parse,
    describe: ({ skill }) => describeAccess(engine, skill),
    run: (input, context) => useSkill(engine, delegate, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<SkillInput> {
  const args = new ArgumentReader(value, ['skill', 'args'], ALIASES);
  const input = {
    skill: args.text('skill', 'the name of a skill'),
    args: args.commandLine('args'),
  };
  return args.result({ ...input, params: isJsonObject(value) ? value : {} });
}

/**
 * Describes the access that a call needs. For an unknown skill the access contains the name from the call, and the
 * call itself fails.
 */
function describeAccess({ deps }: EngineContext, requested: string): Access {
  const found = findSkill(requested, deps.skills.skills());
  if (!found.ok) return { ...NO_ACCESS, skill: requested };
  const { name, context } = found.skill;
  if (context !== 'fork') return { ...NO_ACCESS, skill: name };
  const type = getAgentType(found.skill);
  const [agent, ...agentWords] = listAgentNames(type, deps.agents.agents());
  return { ...NO_ACCESS, skill: name, agent, agentWords };
}

async function useSkill(
  engine: EngineContext,
  delegate: DelegationRunner,
  input: SkillInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { deps } = engine;
  const { skills } = findCallableSkills(deps, requireCaller(engine, context).permissions.rights);
  const found = findSkill(input.skill, skills);
  if (!found.ok)
    return failure('NOT_FOUND', `skill: ${findUncallableReason(engine, input) ?? found.message}`);
  const { skill } = found;
  if (skill.context === 'fork') return delegate(toTaskArguments(skill, input), context);
  return {
    text: formatSkillTextWithin(skill, input.args, context.caps.resultBytes),
    isInstruction: true,
    facts: { skill: skill.name },
  };
}

/** Returns the reason why an existing skill can't be called here; undefined if there is no such skill. */
function findUncallableReason({ deps }: EngineContext, { skill }: SkillInput): string | undefined {
  const found = findSkill(skill, deps.skills.skills());
  if (!found.ok) return undefined;
  const { name, modelInvocable } = found.skill;
  return modelInvocable
    ? `${name} runs as a task, and this task can't delegate. Do the work yourself.`
    : `${name} is for people to call, and not for you (disable-model-invocation).`;
}

function toTaskArguments(skill: SkillDefinition, { args, params }: SkillInput): TaskArguments {
  return {
    description: truncate(`skill ${skill.name} ${args}`.trim(), MAX_DESCRIPTION_LENGTH),
    prompt: formatSkillText(skill, args),
    subagentType: getAgentType(skill),
    background: false,
    params,
    skill,
  };
}

/** The maximum length of the description of a skill's task, in code points. */
const MAX_DESCRIPTION_LENGTH = 60;

function getAgentType({ agent = DEFAULT_AGENT }: SkillDefinition): string {
  return agent;
}
