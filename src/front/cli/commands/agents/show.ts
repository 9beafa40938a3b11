import { loadDefinitions, type AgentDetails } from '../../../../api/index.ts';
import type { TaskLimits } from '../../../../protocol/task.ts';
import { defineReportCommand, type CommandContext } from '../../command.ts';
import { factLines, type Fact } from '../../layout.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { AGENT_VALUES } from '../../completion-values.ts';
import { formatMode, formatOrigin, formatShortPath } from './format.ts';
import { formatTools } from '../../../../report/agent-tools.ts';
import { toShellWord } from '../../../../base/text.ts';
import { LIMIT_TEXTS } from './limit-texts.ts';
import { agentsLocation, agentsOptions, TRUST_DATA_DIR } from './location.ts';

/** `muster agents show` */
export const agentsShowCommand = defineReportCommand({
  words: 'agents show',
  summary: 'one agent with all that its file says, its prompt too',
  operands: [{ name: 'NAME', completes: AGENT_VALUES }],
  flags: ['json', ...PROJECT_FLAGS, 'data-dir'],
  flagDetails: { 'data-dir': TRUST_DATA_DIR },
  examples: ['muster agents show Explore'],
  parse: ({ operands: [name = ''], flags }) => ({ ...agentsOptions(flags), name }),
  run: async (options, context) => {
    const { showAgent } = await loadDefinitions();
    const agent = await showAgent(options.name, agentsLocation(options, context));
    return { json: agent, text: asText(agent, context) };
  },
});

function asText(agent: AgentDetails, context: CommandContext): string {
  const { description, prompt, initialPrompt } = agent;
  return [
    factLines(listFacts(agent, context)),
    section('description', description),
    ...(initialPrompt === undefined ? [] : [section('first message', initialPrompt)]),
    section('prompt', prompt),
  ].join('\n');
}

function section(title: string, text: string): string {
  return `${title}:\n${text.trim() === '' ? '  (none)' : text.replaceAll(/^(?=.)/gm, '  ')}\n`;
}

function listFacts(agent: AgentDetails, { cwd, home }: CommandContext): readonly Fact[] {
  const { origin, limits, problems, inactive, shadows, delegatesTo } = agent;
  const path = (each: string): string => formatShortPath(each, cwd, home);
  return [
    ['name', agent.name],
    ['aliases', joinTexts(agent.aliases)],
    ['file', `${path(origin.path)} (${formatOrigin(origin)})`],
    ['in place of', shadows.map(path)],
    ['unusable', agent.unusable],
    ['tools', formatTools(agent)],
    ['never', joinTexts(agent.disallowedTools)],
    ['delegates to', delegatesTo === undefined ? null : delegatesTo.join(', ') || 'nobody'],
    ['work', describeRemoteWork(agent)],
    ['model', agent.remote === undefined ? (agent.model ?? 'inherit') : 'its own'],
    ['effort', agent.effort],
    ['mode', formatMode(agent)],
    ['asks', agent.refusesQuestions === true ? 'nobody: calls that would ask are refused' : null],
    ['asks about', joinTexts(agent.rules?.ask)],
    ['denies', joinTexts(agent.rules?.deny)],
    ['chosen', agent.unlisted === true ? 'by people alone' : null],
    ['limits', joinTexts(limitTexts(limits))],
    ['background', agent.background === true ? 'unless a call says otherwise' : null],
    ['answers', agent.outputSchema === undefined ? null : 'JSON, valid against its output schema'],
    ['accepted', agent.accept === undefined ? null : formatCriteria(agent.accept.commands)],
    ['skills', joinTexts(agent.skills)],
    ['hooks', joinTexts(agent.hooks && Object.keys(agent.hooks))],
    ['notes', agent.memory],
    ['color', agent.color],
    ['not used', joinTexts(inactive.map(({ field }) => field))],
    [
      'warning',
      problems.map(({ line, message }) =>
        line === undefined ? message : `line ${line}: ${message}`,
      ),
    ],
  ];
}

/** Describes the program or server that does the work; returns null if a model does it. */
function describeRemoteWork({ remote }: AgentDetails): string | null {
  if (remote === undefined) return null;
  if (remote.protocol === 'acp')
    return `by a program that speaks ACP: ${[remote.command, ...remote.args].map(toShellWord).join(' ')}`;
  const card = typeof remote.card === 'string' ? remote.card : 'with the card in its file';
  return `by a server that speaks A2A: ${card}`;
}

/** Joins texts with commas; returns null if there are no texts. */
function joinTexts(texts: readonly string[] = []): string | null {
  return texts.length === 0 ? null : texts.join(', ');
}

function limitTexts({ wallSeconds, ...limits }: AgentDetails['limits']): readonly string[] {
  const wallMs = wallSeconds === undefined ? undefined : Math.round(wallSeconds * 1000);
  const values: Partial<Record<keyof TaskLimits, number | undefined>> = { ...limits, wallMs };
  return Array.from(LIMIT_TEXTS).flatMap(([field, { format }]) => {
    const value = values[field];
    return value === undefined ? [] : [format(value)];
  });
}

function formatCriteria(commands: readonly string[]): string {
  if (commands.length === 0) return 'only if its criteria are met';
  return `only if ${commands.map((command) => `\`${command}\``).join(' and ')} pass`;
}
