import type {
  AgentDefinition,
  AgentParameter,
  LimitedTools,
  ToolLimit,
} from '../../protocol/agent.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { escapeTags } from '../../base/control-tags.ts';
import { nameCovers, ruleCovers } from '../../policy/rules/tool-cover.ts';

/** The most characters that the prompt shows of each text about a parameter. */
const MAX_SHOWN = 400;

/** Formats an agent's own prompt with the values of its parameters; empty when it has none. */
export function formatAgentPrompt({ prompt, parameters = [] }: AgentDefinition): string {
  const own = prompt.trim();
  if (own === '' || parameters.length === 0) return own;
  return `${own}

## Parameters
Where \`{{ name }}\` stands above, read what the task says it is, or else:
${parameters.map((each) => `- ${parameterLine(each)}`).join('\n')}`;
}

function parameterLine({ name, description, default: preset }: AgentParameter): string {
  const about = description === '' ? '' : ` (${shown(description)})`;
  return preset === undefined
    ? `${shown(name)}${about}: not given; work it out from the task, and say what you took it for`
    : `${shown(name)}${about}: ${preset === '' ? 'nothing' : shown(preset)}`;
}

function shown(text: string): string {
  return truncate(collapseWhitespace(text), MAX_SHOWN);
}

/**
 * The part of a system prompt that names the calls to which a definition limits tools, so that the model makes no
 * others. Empty where none of the tools of the task is limited.
 *
 * @param tools the names of the tools that the task has
 */
export function formatLimitedTools(
  { limitedTools = [] }: Pick<AgentDefinition, 'limitedTools'>,
  tools: readonly string[],
): string {
  const lines = limitedTools.flatMap((list) => linesOf(list, tools));
  if (lines.length === 0) return '';
  const rule =
    'Of each tool here only the calls that every line for it covers run; others are refused.';
  return `# Limited tools\n${rule}\n${lines.join('\n')}`;
}

/** The lines of one list. Tools of the task that it limits to the same calls share a line. */
function linesOf({ limits, unlimited }: LimitedTools, tools: readonly string[]): readonly string[] {
  const toolsByWays = new Map<string, string[]>();
  for (const tool of tools) {
    if (unlimited.some((name) => nameCovers(name, tool))) continue;
    if (!limits.some((limit) => isCovered(tool, limit, 'narrow'))) continue;
    const own = limits.filter((limit) => isCovered(tool, limit, 'widen'));
    const ways = own.flatMap(waysOf).join(', ') || 'no call';
    toolsByWays.set(ways, [...(toolsByWays.get(ways) ?? []), tool]);
  }
  return [...toolsByWays].map(([ways, names]) => `- ${names.join(', ')}: ${ways}`);
}

/** Returns true when a rule for the limited tool also covers this tool, as one for Edit covers Write. */
function isCovered(tool: string, limit: ToolLimit, purpose: 'widen' | 'narrow'): boolean {
  const source = { kind: 'builtin', where: '' } as const;
  return ruleCovers({ text: limit.tool, tool: limit.tool, source }, tool, purpose);
}

function waysOf({ tool, rules, newFiles }: ToolLimit): readonly string[] {
  return [
    ...rules.map((rule) => `\`${escapeTags(collapseWhitespace(rule))}\``),
    ...(newFiles === true ? [`${tool} for files that do not exist yet`] : []),
  ];
}
