import type { FileEffects } from './file-effects.ts';
import type { DefinitionFormat } from '../agents/loader/format.ts';
import { decodeUtf8 } from '../agents/loader/read-text.ts';
import { loadBuiltinAgents } from '../agents/builtin.ts';
import { plural, truncate } from '../base/text.ts';
import { listedTools, type AgentDefinition } from '../protocol/agent.ts';
import type { SkillDefinition } from '../protocol/skill.ts';
import type { TemplateDefinition } from '../protocol/template.ts';

/** The maximum number of characters of a text in a file that are shown. Rules and commands are never cut. */
const MAX_SHOWN = 300;

/**
 * Returns what the definitions in a file of the project would do if it were trusted.
 * @param describe returns the lines about one definition
 */
export async function definitionEffects<T>(
  { path, format }: { readonly path: string; readonly format: DefinitionFormat<T> },
  bytes: Buffer,
  describe: (item: T) => Promise<readonly string[]> | readonly string[],
): Promise<FileEffects> {
  const content = decodeUtf8(bytes);
  if (!content.ok) return { lines: [`nothing: ${content.reason}`], problems: [] };
  const { items, problems } = await format.read({
    path,
    scope: 'project',
    text: content.text,
    // A prompt in another file is approved together with that file.
    readReferenced: (referenced) => ({ ok: true, text: referenced }),
  });
  const lines = await Promise.all(items.map(describe));
  return {
    lines: [...lines.flat(), ...problems.map(({ message }) => `nothing: ${message}`)],
    problems: [],
  };
}

export async function agentEffects(agent: AgentDefinition): Promise<readonly string[]> {
  const { tools, disallowedTools, limits, extra, permissionMode, mode, model } = agent;
  const names = listedTools(agent).join(', ');
  const toolText = {
    all: 'all of the core set',
    allow: names === '' ? 'none' : names,
    deny: `all of the core set but ${names}`,
  }[tools.mode];
  return [
    `agent ${agent.name}: ${cut(agent.description)}`,
    ...takenNames(agent, await loadBuiltinAgents()),
    `tools: ${toolText}`,
    ...(disallowedTools.length === 0 ? [] : [`denied to it: ${disallowedTools.join(', ')}`]),
    ...(permissionMode === null
      ? []
      : [
          `asks for mode ${permissionMode}${mode === null ? '' : ` (${mode}), and gets no more than yours`}`,
        ]),
    ...(model === undefined ? [] : [`model: ${model}`]),
    ...furtherLines(agent),
    ...Object.entries(limits).map(([name, value]) => `${name}: ${value}`),
    ...Object.entries(extra).map(
      ([name, value]) => `does nothing: ${name}: ${JSON.stringify(value)}`,
    ),
    ...agent.problems.map(({ message }) => `! ${message}`),
    `prompt: ${plural(agent.prompt.split('\n').length, 'line')}; read them in the file`,
  ];
}

/** Returns the lines about fields that most agents do not have. */
function furtherLines(agent: AgentDefinition): readonly string[] {
  const { rules, unlisted, delegatesTo, skills, background, initialPrompt, effort, unusable } =
    agent;
  return [
    ...(rules?.ask ?? []).map((rule) => `it asks about: ${rule}`),
    ...(rules?.deny ?? []).map((rule) => `denied to it: ${rule}`),
    ...(unlisted === true ? ['only you can choose it: no model sees it'] : []),
    ...(delegatesTo === undefined ? [] : [`delegates to: ${delegatesTo.join(', ')}`]),
    ...(skills === undefined ? [] : [`skills it begins with: ${skills.join(', ')}`]),
    ...(background === true ? ['runs in the background'] : []),
    ...(initialPrompt === undefined ? [] : [`first message: ${cut(initialPrompt)}`]),
    ...(effort === undefined ? [] : [`effort: ${effort}`]),
    ...(agent.refusesQuestions === true ? ['calls that would ask you are refused instead'] : []),
    ...(unusable === undefined ? [] : [`cannot be started: ${unusable}`]),
  ];
}

function takenNames(
  { name, aliases }: AgentDefinition,
  builtins: readonly AgentDefinition[],
): readonly string[] {
  const own = new Set([name, ...aliases].map((each) => each.toLowerCase()));
  return builtins.flatMap((builtin) => {
    if (own.has(builtin.name.toLowerCase())) {
      return [`it takes the place of the built-in agent ${builtin.name}`];
    }
    const alias = builtin.aliases.find((each) => own.has(each.toLowerCase()));
    return alias === undefined
      ? []
      : [`it takes the name ${alias}, by which the built-in agent ${builtin.name} is called`];
  });
}

export function skillEffects(skill: SkillDefinition): readonly string[] {
  const { name, description, body, modelInvocable, allowedTools, extra, problems } = skill;
  return [
    `skill ${name}: ${cut(description)}`,
    ...(modelInvocable ? [] : ['the model may not call it']),
    ...forkLines(skill),
    ...(allowedTools === undefined
      ? []
      : [
          `allowed-tools: ${allowedTools.join(', ') || 'none'} (grants nothing; narrows its own task)`,
        ]),
    ...Object.entries(extra).map(
      ([field, value]) => `does nothing: ${field}: ${cut(JSON.stringify(value))}`,
    ),
    ...problems.map(({ message }) => `! ${message}`),
    `instructions that the model follows: ${plural(body.split('\n').length, 'line')}; read them in the file`,
  ];
}

function forkLines({ context, agent, model }: SkillDefinition): readonly string[] {
  if (context !== 'fork') return [];
  const type = agent === undefined ? '' : `, of type ${agent}`;
  return [`runs as a task${type}${model === undefined ? '' : `, on the model ${model}`}`];
}

export function templateEffects(template: TemplateDefinition): readonly string[] {
  const { name, description, agent, model, body, problems } = template;
  const type = agent === undefined ? '' : `, of type ${agent}`;
  return [
    `template ${name}: ${cut(description)}`,
    `runs one task per item${type}${model === undefined ? '' : `, on the model ${model}`}, when you or the model start it`,
    ...problems.map(({ message }) => `! ${message}`),
    `prompt: ${plural(body.split('\n').length, 'line')}; read them in the file`,
  ];
}

/** Cuts a long text, and says how much of it is left out. */
function cut(text: string): string {
  const short = truncate(text, MAX_SHOWN);
  return short.length < text.length ? `${short}… (${text.length - short.length} more)` : short;
}
