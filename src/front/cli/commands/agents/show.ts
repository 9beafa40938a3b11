import { showAgent, type AgentDetails } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { plural } from '../../../../base/text.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { factLines, type Fact } from '../../layout.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { AGENT_VALUES } from '../../completion-values.ts';
import { shownMode, shownOrigin, shownPath, shownTools } from './format.ts';
import { agentsLocation, agentsOptions, TRUST_DATA_DIR } from './location.ts';

/** `muster agents show` */
export const agentsShowCommand = defineCommand({
  words: 'agents show',
  summary: 'one agent with all that its file says, its prompt too',
  operands: [{ name: 'NAME', completes: AGENT_VALUES }],
  flags: ['json', ...PROJECT_FLAGS, 'data-dir'],
  flagDetails: { 'data-dir': TRUST_DATA_DIR },
  examples: ['muster agents show Explore'],
  parse: ({ operands: [name = ''], flags }) => ({
    ...agentsOptions(flags),
    name,
  }),
  run: async (options, context) => {
    const agent = await showAgent(options.name, agentsLocation(options, context));
    context.out(options.json ? `${toPrintableJson(agent, 2)}\n` : asText(agent, context));
    return 0;
  },
});

function asText(agent: AgentDetails, context: CommandContext): string {
  const { description, prompt, initialPrompt } = agent;
  return [
    factLines(factsOf(agent, context)),
    section('description', description),
    ...(initialPrompt === undefined ? [] : [section('first message', initialPrompt)]),
    section('prompt', prompt),
  ].join('\n');
}

function section(title: string, text: string): string {
  return `${title}:\n${text.trim() === '' ? '  (none)' : text.replaceAll(/^(?=.)/gm, '  ')}\n`;
}

function factsOf(agent: AgentDetails, { cwd, home }: CommandContext): readonly Fact[] {
  const { origin, limits, problems, inactive, shadows, unusable } = agent;
  const path = (each: string): string => shownPath(each, cwd, home);
  return [
    ['name', sanitizeLine(agent.name)],
    ...listFact('aliases', agent.aliases),
    ['file', `${path(origin.path)} (${shownOrigin(origin)})`],
    ...shadows.map((each): Fact => ['in place of', path(each)]),
    ...(unusable === undefined ? [] : [['unusable', sanitizeLine(unusable)] as const]),
    ['tools', shownTools(agent)],
    ...listFact('never', agent.disallowedTools),
    ...(agent.delegatesTo === undefined
      ? []
      : [['delegates to', sanitizeLine(agent.delegatesTo.join(', ')) || 'nobody'] as const]),
    ['model', sanitizeLine(agent.model ?? 'inherit')],
    ...(agent.effort === undefined ? [] : [['effort', agent.effort] as const]),
    ['mode', shownMode(agent)],
    ...(agent.refusesQuestions === true ? [['asks', 'nothing of anybody'] as const] : []),
    ...listFact('asks about', agent.rules?.ask ?? []),
    ...listFact('denies', agent.rules?.deny ?? []),
    ...(agent.unlisted === true ? [['chosen', 'by people alone'] as const] : []),
    ...limitFacts(limits),
    ...(agent.background === true ? [['background', 'unless a call says otherwise'] as const] : []),
    ...(agent.outputSchema === undefined
      ? []
      : [['answers', 'JSON, valid against its output schema'] as const]),
    ...listFact('skills', agent.skills ?? []),
    ...listFact('notes', agent.memory === undefined ? [] : [agent.memory]),
    ...listFact('color', agent.color === undefined ? [] : [agent.color]),
    ...listFact(
      'not used',
      inactive.map(({ field }) => field),
    ),
    ...problems.map(({ line, message }): Fact => [
      'warning',
      `${line === undefined ? '' : `line ${line}: `}${sanitizeLine(message)}`,
    ]),
  ];
}

function listFact(name: string, words: readonly string[]): readonly Fact[] {
  return words.length === 0 ? [] : [[name, sanitizeLine(words.join(', '))]];
}

function limitFacts(limits: AgentDetails['limits']): readonly Fact[] {
  const { maxTurns, maxTokens, maxCostUsd, maxToolBytes, wallSeconds, resultMaxTokens } = limits;
  const words = [
    ...(maxTurns === undefined ? [] : [plural(maxTurns, 'turn')]),
    ...(maxTokens === undefined ? [] : [plural(maxTokens, 'token')]),
    ...(maxCostUsd === undefined ? [] : [`${maxCostUsd} USD`]),
    ...(maxToolBytes === undefined ? [] : [`${plural(maxToolBytes, 'byte')} of tool results`]),
    ...(wallSeconds === undefined ? [] : [plural(wallSeconds, 'second')]),
    ...(resultMaxTokens === undefined ? [] : [`${plural(resultMaxTokens, 'token')} of its answer`]),
  ];
  return listFact('limits', words);
}
