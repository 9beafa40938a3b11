import { resolve } from 'node:path';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { explainAgent, type AgentExplanation, type ExplainedLimit } from '../../../../api/index.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { factLines, type Fact } from '../../layout.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { AGENT_VALUES } from '../../completion-values.ts';
import { shownOrigin, shownPath } from './format.ts';
import { agentsLocation, agentsOptions, TRUST_DATA_DIR } from './location.ts';

/** The flags that set the configuration of the agent that delegates. */
const PARENT_FLAGS = [
  'model',
  'fallback-model',
  'parent-mode',
  'agent-mode',
  'allow',
  'ask',
  'deny',
] as const;

/**
 * `muster agents explain`: shows the task that a Task call for the agent would create, and why. Exit code 1
 * if the call would be refused.
 */
export const agentsExplainCommand = defineCommand({
  words: 'agents explain',
  summary: 'what an agent becomes when it is delegated to, and why',
  operands: [{ name: 'NAME', completes: AGENT_VALUES }],
  flags: ['json', ...PARENT_FLAGS, ...PROJECT_FLAGS, 'add-dir', 'data-dir'],
  flagDetails: {
    model: { help: "the main agent's: provider/model, a model id, a tier, auto or offline" },
    'data-dir': TRUST_DATA_DIR,
  },
  examples: ['muster agents explain Review', 'muster agents explain Bash --parent-mode plan'],
  parse: ({ operands: [name = ''], flags }) => ({
    ...agentsOptions(flags),
    name,
    flags: flags.configValues(PARENT_FLAGS),
    addDirs: flags.texts('add-dir'),
  }),
  run: async (options, context) => {
    const { name, flags, addDirs, json } = options;
    const explained = await explainAgent({
      ...agentsLocation(options, context),
      name,
      flags,
      addDirs: addDirs.map((path) => resolve(context.cwd, path)),
    });
    context.out(json ? `${toPrintableJson(explained, 2)}\n` : asText(explained, context));
    return explained.call.verdict === 'deny' ? 1 : 0;
  },
});

function asText(explained: AgentExplanation, { cwd, home }: CommandContext): string {
  const { name, origin, background, inactive } = explained;
  return factLines([
    ['agent', sanitizeLine(name)],
    ['file', `${shownPath(origin.path, cwd, home)} (${shownOrigin(origin)})`],
    ...callFacts(explained),
    ...(explained.unlisted ? [['chosen', 'by people only: no model sees it'] as const] : []),
    ...toolFacts(explained),
    ...rightsFacts(explained),
    ...modelFacts(explained),
    ...limitFacts(explained),
    ...memoryFacts(explained),
    ['background', background ? 'unless the call says otherwise' : 'only if the call says so'],
    ['reuse', reuseText(explained)],
    ...contextFacts(explained),
    ...explained.warnings.map((message): Fact => ['note', sanitizeLine(message)]),
    ...inactive.map(({ field, consequence }): Fact => {
      const what = consequence ?? 'Muster does not use it.';
      return ['no effect', `${sanitizeLine(field)}: ${sanitizeLine(what)}`];
    }),
  ]);
}

function reuseText({ reuse: { on, from } }: AgentExplanation): string {
  const by = from === 'definition' ? '`cache` of its definition' : 'task_tool.cache';
  return on ? `results, while everything they read is unchanged (${by})` : `none (${by} is false)`;
}

function memoryFacts({ memory }: AgentExplanation): readonly Fact[] {
  return memory === null ? [] : [['notes', `${sanitizeLine(memory.directory)} (${memory.scope})`]];
}

const VERDICT_WORDS = { deny: 'refused', ask: 'asked about' } as const;

function callFacts({ call: { reason, verdict } }: AgentExplanation): readonly Fact[] {
  return verdict === 'allow' ? [] : [[VERDICT_WORDS[verdict], sanitizeLine(reason)]];
}

function toolFacts({ tools, delegatesTo }: AgentExplanation): readonly Fact[] {
  return [
    ['tools', sanitizeLine(tools.names.join(', ')) || 'none'],
    ...tools.dropped.map(({ name, reason }): Fact => [
      'not available',
      `${sanitizeLine(name)}: ${sanitizeLine(reason)}`,
    ]),
    ...tools.unknown.map((message): Fact => ['unknown', sanitizeLine(message)]),
    ['delegates to', sanitizeLine(delegatesTo.join(', ')) || 'nobody'],
  ];
}

function grantedText({ grantedBy }: AgentExplanation['rights']): string {
  return grantedBy === null ? '' : `; granted by ${sanitizeLine(grantedBy)}`;
}

function rightsFacts({ rights }: AgentExplanation): readonly Fact[] {
  const { asked, mode, parentMode, refusesQuestions, disallowedTools, rules, roots } = rights;
  const { callLimits } = rights;
  const request =
    asked === null ? 'its file requests none' : `its file requests ${sanitizeLine(asked)}`;
  return [
    ['mode', `${mode} (${request}; its parent has ${parentMode}${grantedText(rights)})`],
    ...(refusesQuestions ? [['asks', 'nobody: calls that would ask are refused'] as const] : []),
    ...(disallowedTools.length === 0
      ? []
      : [['denied', sanitizeLine(disallowedTools.join(', '))] as const]),
    ...callLimits.map(({ tool, rules: covering, newFiles, where }): Fact => {
      const ways = [...covering, ...(newFiles ? ['files that do not exist yet'] : [])];
      return ['limited', sanitizeLine(`${tool} to ${ways.join(', ') || 'no call'} (${where})`)];
    }),
    ...(['deny', 'ask', 'allow'] as const).flatMap((list) =>
      rules[list].map(({ rule, where }): Fact => [
        `rule: ${list}`,
        `${sanitizeLine(rule)} (${sanitizeLine(where)})`,
      ]),
    ),
    ...roots.map((root): Fact => ['works in', sanitizeLine(root)]),
    ['network', rights.network ? 'available to commands' : 'not available to commands'],
    ['depth', `${rights.depth} of at most ${rights.maxDepth}`],
  ];
}

function modelFacts({ model }: AgentExplanation): readonly Fact[] {
  const { chain, effort, fallbacks, name, warning } = model;
  return [
    ['model', `${sanitizeLine(name)} (${chain.map(sanitizeLine).join(' → ')})`],
    ...(warning === null ? [] : [['warning', sanitizeLine(warning)] as const]),
    ...(fallbacks.length === 0
      ? []
      : [['if it fails', sanitizeLine(fallbacks.join(', then '))] as const]),
    ...(effort === null ? [] : [['effort', effort] as const]),
  ];
}

function limitFacts({ limits }: AgentExplanation): readonly Fact[] {
  const { maxTurns, maxTokens, maxCostUsd, maxToolBytes, wallMs, resultMaxTokens } = limits;
  const seconds = { ...wallMs, value: wallMs.value === null ? null : wallMs.value / 1000 };
  return [
    ['limits', shownLimit('turns', maxTurns)],
    ['limits', shownLimit('tokens, including its subagents', maxTokens)],
    ...setLimit('US dollars, including its subagents', maxCostUsd),
    ...setLimit('bytes of tool results, including its subagents', maxToolBytes),
    ['limits', shownLimit('seconds', seconds)],
    ['limits', shownLimit('tokens of its answer for its parent', resultMaxTokens)],
  ];
}

/** Describes a limit that is rarely set; nothing if it is not. */
function setLimit(what: string, limit: ExplainedLimit | undefined): readonly Fact[] {
  return limit === undefined ? [] : [['limits', shownLimit(what, limit)]];
}

function shownLimit(what: string, { value, from }: ExplainedLimit): string {
  return value === null ? `no limit of ${what}` : `${value} ${what} (${from ?? 'default'})`;
}

function contextFacts({ context }: AgentExplanation): readonly Fact[] {
  const { bytes, tokens, sources, systemSha256 } = context;
  const width = Math.max(...sources.map(({ name }) => name.length));
  return [
    ['context', `${bytes} bytes, about ${tokens} tokens, before its task:`],
    ...sources.map((each): Fact => [
      'context',
      `  ${sanitizeLine(each.name).padEnd(width)}  ${String(each.bytes).padStart(6)} bytes  ~${each.tokens} tokens`,
    ]),
    ['system prompt', `sha256 ${systemSha256}`],
  ];
}
