import { describeMcpProblem, readDefinitionServers } from '../mcp/read-servers.ts';
import { definitionHookEffects } from './hook-definitions.ts';
import { listVariables } from '../mcp/expand-variables.ts';
import { describeServer, type FileEffects } from './file-effects.ts';
import type { DefinitionFormat } from '../agents/loader/format.ts';
import { decodeUtf8 } from '../agents/loader/read-text.ts';
import { loadBuiltinAgents } from '../agents/builtin.ts';
import { listShellParts } from '../agents/commands/parse-body.ts';
import { dropMissing } from '../base/drop-missing.ts';
import { plural, truncate } from '../base/text.ts';
import { listedTools, type AgentDefinition } from '../protocol/agent.ts';
import type { A2aServer, RemoteAgent } from '../protocol/remote-agent.ts';
import type { SkillDefinition } from '../protocol/skill.ts';
import type { SlashCommandDefinition } from '../protocol/slash-command.ts';
import type { TemplateDefinition } from '../protocol/template.ts';

/**
 * The maximum number of characters of a description or value that are shown. Rules and commands are never truncated.
 */
const MAX_SHOWN_LENGTH = 300;

/**
 * Returns what the definitions in a file of the project would do if it were trusted.
 * @param describe returns the lines that describe one definition
 */
export async function definitionEffects<T>(
  {
    path,
    locatedName,
    format,
  }: {
    readonly path: string;
    readonly locatedName?: string | undefined;
    readonly format: DefinitionFormat<T>;
  },
  bytes: Buffer,
  describe: (item: T) => Promise<readonly string[]> | readonly string[],
): Promise<FileEffects> {
  const content = decodeUtf8(bytes);
  if (!content.ok) return { lines: [`nothing: ${content.reason}`], problems: [] };
  const { items, problems } = await format.read({
    path,
    scope: 'project',
    text: content.text,
    ...dropMissing({ locatedName }),
    // A prompt in another file is not read, because the user approves that file separately.
    readReferenced: (referenced) => ({ ok: true, text: referenced }),
  });
  const lines = await Promise.all(items.map(describe));
  return {
    lines: [...lines.flat(), ...problems.map(({ message }) => `nothing: ${message}`)],
    problems: [],
  };
}

/** Describes what an agent would do if its file were trusted, one effect per line. */
export async function agentEffects(agent: AgentDefinition): Promise<readonly string[]> {
  const { tools, disallowedTools, limits, extra, permissionMode, mode, model } = agent;
  const names = listedTools(agent).join(', ');
  const toolText = {
    all: 'all of the core set',
    allow: names === '' ? 'none' : names,
    deny: `all of the core set except ${names}`,
  }[tools.mode];
  return [
    `agent ${agent.name}: ${shorten(agent.description)}`,
    ...describeTakenNames(agent, await loadBuiltinAgents()),
    `tools: ${toolText}`,
    ...(disallowedTools.length === 0 ? [] : [`denied: ${disallowedTools.join(', ')}`]),
    ...(permissionMode === null
      ? []
      : [
          `asks for mode ${permissionMode}${mode === null ? '' : ` (${mode}), and gets no more than yours`}`,
        ]),
    ...(model === undefined ? [] : [`model: ${model}`]),
    ...describeRareFields(agent),
    ...describeOwnServers(agent),
    ...describeRemote(agent.remote),
    ...definitionHookEffects(agent.hooks, { kind: 'agent', where: agent.origin.path }),
    ...Object.entries(limits).map(([name, value]) => `${name}: ${value}`),
    ...Object.entries(extra).map(
      ([name, value]) => `does nothing: ${name}: ${JSON.stringify(value)}`,
    ),
    ...agent.problems.map(({ message }) => `! ${message}`),
    `prompt: ${plural(agent.prompt.split('\n').length, 'line')}; read them in the file`,
  ];
}

/** Describes the MCP servers that the definition of an agent contains, which run while its tasks do. */
function describeOwnServers({ name, servers, origin }: AgentDefinition): readonly string[] {
  if (servers === undefined) return [];
  const place = { scope: 'project', file: origin.path, definition: name } as const;
  const { entries, problems } = readDefinitionServers(servers, place);
  return [
    ...entries.flatMap(describeServer),
    ...problems.map((each) => `! ${describeMcpProblem(each)}`),
  ];
}

/** Describes the program or the server that does the work of the agent, one effect per line. */
function describeRemote(remote: RemoteAgent | undefined): readonly string[] {
  if (remote === undefined) return [];
  if (remote.protocol === 'a2a') return describeA2aServer(remote);
  const { command, args, env, state = [] } = remote;
  const words = [command, ...args].map((each) => JSON.stringify(each));
  const transport = { type: 'stdio', command, args, env, cwd: null } as const;
  const names = Object.keys(env);
  const variables = listVariables(transport);
  return [
    `runs ${words.join(' ')} in the sandbox, with the network, to do its work`,
    ...(names.length === 0 ? [] : [`sets ${names.join(', ')}`]),
    ...(variables.length === 0 ? [] : [`reads the variables ${variables.join(', ')}`]),
    ...state.map((path) => `! state: ${path}: a project gives its program no directory`),
  ];
}

function describeA2aServer({ card, auth }: A2aServer): readonly string[] {
  const place =
    typeof card === 'string' ? card : `the server of this card: ${JSON.stringify(card)}`;
  const lines = [`sends its tasks to ${place}`];
  if (auth === undefined) return lines;
  const texts =
    'key' in auth ? [auth.key] : 'value' in auth ? [auth.value] : [auth.username, auth.password];
  const shown = texts.map((text) => {
    if (/^\$[^$]/.test(text)) return text;
    return /^![^!]/.test(text) ? 'a command' : 'a text in the file';
  });
  return [
    ...lines,
    ...texts
      .filter((text) => /^![^!]/.test(text))
      .map((text) => `! does not run ${text.slice(1)}: the agent of a project runs no command`),
    `logs in with ${shown.join(' and ')}`,
  ];
}

/** Returns the lines about fields that most agents do not have. */
function describeRareFields(agent: AgentDefinition): readonly string[] {
  const { rules, unlisted, delegatesTo, skills, background, initialPrompt, effort, unusable } =
    agent;
  return [
    ...(rules?.ask ?? []).map((rule) => `asks before: ${rule}`),
    ...(rules?.deny ?? []).map((rule) => `denied: ${rule}`),
    ...(unlisted === true ? ['only you can choose it; models do not see it'] : []),
    ...(delegatesTo === undefined ? [] : [`delegates to: ${delegatesTo.join(', ')}`]),
    ...(skills === undefined ? [] : [`skills loaded at its start: ${skills.join(', ')}`]),
    ...(background === true ? ['runs in the background'] : []),
    ...(initialPrompt === undefined ? [] : [`first message: ${shorten(initialPrompt)}`]),
    ...(effort === undefined ? [] : [`effort: ${effort}`]),
    ...(agent.refusesQuestions === true ? ['calls that would ask you are refused instead'] : []),
    ...(unusable === undefined ? [] : [`cannot be started: ${unusable}`]),
  ];
}

function describeTakenNames(
  { name, aliases }: AgentDefinition,
  builtins: readonly AgentDefinition[],
): readonly string[] {
  const agentNames = new Set([name, ...aliases].map((each) => each.toLowerCase()));
  return builtins.flatMap((builtin) => {
    if (agentNames.has(builtin.name.toLowerCase())) {
      return [`replaces the built-in agent ${builtin.name}`];
    }
    const alias = builtin.aliases.find((each) => agentNames.has(each.toLowerCase()));
    return alias === undefined
      ? []
      : [`takes the name ${alias}, which is an alias of the built-in agent ${builtin.name}`];
  });
}

/** Describes what a skill would do if its file were trusted, one effect per line. */
export function skillEffects(skill: SkillDefinition): readonly string[] {
  const { name, description, body, modelInvocable, allowedTools, extra, problems } = skill;
  return [
    `skill ${name}: ${shorten(description)}`,
    ...(modelInvocable ? [] : ['the model cannot call it']),
    ...describeFork(skill),
    ...definitionHookEffects(skill.hooks, { kind: 'skill', where: skill.path }),
    ...(allowedTools === undefined
      ? []
      : [
          `allowed-tools: ${allowedTools.join(', ') || 'none'} (grants nothing; narrows its own task)`,
        ]),
    ...Object.entries(extra).map(
      ([field, value]) => `does nothing: ${field}: ${shorten(JSON.stringify(value))}`,
    ),
    ...problems.map(({ message }) => `! ${message}`),
    `instructions that the model follows: ${plural(body.split('\n').length, 'line')}; read them in the file`,
  ];
}

function describeFork({ context, agent, model }: SkillDefinition): readonly string[] {
  if (context !== 'fork') return [];
  const type = agent === undefined ? '' : `, of type ${agent}`;
  return [`runs as a task${type}${model === undefined ? '' : `, on the model ${model}`}`];
}

/** Describes what a template would do if its file were trusted, one effect per line. */
export function templateEffects(template: TemplateDefinition): readonly string[] {
  const { name, description, agent, model, body, problems } = template;
  const type = agent === undefined ? '' : `, of type ${agent}`;
  return [
    `template ${name}: ${shorten(description)}`,
    `runs one task per item${type}${model === undefined ? '' : `, on the model ${model}`}, when you or the model start it`,
    ...problems.map(({ message }) => `! ${message}`),
    `prompt: ${plural(body.split('\n').length, 'line')}; read them in the file`,
  ];
}

/** Describes what a slash command would do if its file were trusted, one effect per line. Shell parts are never truncated. */
export function commandEffects(command: SlashCommandDefinition): readonly string[] {
  const { name, description, body, context, agent, model } = command;
  const { shellRules, withoutEffect, problems } = command;
  return [
    `slash command /${name}: ${shorten(description)}`,
    ...listShellParts(command).map((line) => `runs in the shell when you type it: ${line}`),
    ...shellRules.map((rule) => `its shell parts run without a question if they fit: ${rule}`),
    ...(context === undefined
      ? []
      : [`runs as a task${agent === undefined ? '' : `, of type ${agent}`}`]),
    ...(model === undefined ? [] : [`model until your next message: ${model}`]),
    ...withoutEffect.map((field) => `does nothing: ${shorten(field)}`),
    ...problems.map(({ message }) => `! ${message}`),
    `text that is sent as your message: ${plural(body.split('\n').length, 'line')}; read them in the file`,
  ];
}

/** Truncates a long text, and appends the number of characters that were removed. */
function shorten(text: string): string {
  const short = truncate(text, MAX_SHOWN_LENGTH);
  return short.length < text.length ? `${short}… (${text.length - short.length} more)` : short;
}
