import { resolve } from 'node:path';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { loadDefinitions, type AgentExplanation } from '../../../../api/index.ts';
import { defineReportCommand, type CommandContext } from '../../command.ts';
import { factLines, type Fact } from '../../layout.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { AGENT_VALUES } from '../../completion-values.ts';
import { formatOrigin, formatShortPath } from './format.ts';
import { LIMIT_TEXTS } from './limit-texts.ts';
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
 * `muster agents explain`: shows the task that a Task call for the agent would create, and why. The exit code is 1 if
 * the call would be refused.
 */
export const agentsExplainCommand = defineReportCommand({
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
    const { name, flags, addDirs } = options;
    const { explainAgent } = await loadDefinitions();
    const explained = await explainAgent({
      ...agentsLocation(options, context),
      name,
      flags,
      addDirs: addDirs.map((path) => resolve(context.cwd, path)),
    });
    const code = explained.call.verdict === 'deny' ? 1 : 0;
    return { json: explained, text: asText(explained, context), code };
  },
});

const VERDICT_WORDS = { deny: 'refused', ask: 'asked about', allow: '' } as const;

function asText(explained: AgentExplanation, { cwd, home }: CommandContext): string {
  const { accept, call, context, delegatesTo, memory, model, name, origin, tools } = explained;
  const width = Math.max(...context.sources.map((source) => source.name.length));
  return factLines([
    ['agent', name],
    ['file', `${formatShortPath(origin.path, cwd, home)} (${formatOrigin(origin)})`],
    [VERDICT_WORDS[call.verdict], call.verdict === 'allow' ? null : call.reason],
    ['chosen', explained.unlisted ? 'by people only: no model sees it' : null],
    ['tools', tools.names.join(', ') || 'none'],
    [
      'from servers',
      tools.servers.map(
        ({ name: server, file, tools: own }) =>
          `${server} (${formatShortPath(file, cwd, home)}): ${own.join(', ')}`,
      ),
    ],
    ['not available', tools.dropped.map(({ name: tool, reason }) => `${tool}: ${reason}`)],
    ['unknown', tools.unknown],
    ['delegates to', delegatesTo.join(', ') || 'nobody'],
    ...rightsFacts(explained.rights),
    ['model', `${model.name} (${model.chain.join(' → ')})`],
    ['warning', model.warning],
    ['if it fails', model.fallbacks.join(', then ') || null],
    ['accepted', accept === null ? null : `only if ${JSON.stringify(accept)}`],
    ['if it is not', model.later.join(', then ') || null],
    ['effort', model.effort],
    ['limits', limitTexts(explained.limits)],
    ['notes', memory === null ? null : `${memory.directory} (${memory.scope})`],
    [
      'background',
      explained.background ? 'unless the call says otherwise' : 'only if the call says so',
    ],
    ['reuse', reuseText(explained)],
    ['context', `${context.bytes} bytes, about ${context.tokens} tokens, before its task:`],
    [
      'context',
      context.sources.map(
        ({ name: source, bytes, tokens }) =>
          `  ${sanitizeLine(source).padEnd(width)}  ${String(bytes).padStart(6)} bytes  ~${tokens} tokens`,
      ),
    ],
    ['system prompt', `sha256 ${context.systemSha256}`],
    ['note', explained.warnings],
    [
      'no effect',
      explained.inactive.map(
        ({ field, consequence }) => `${field}: ${consequence ?? 'Muster does not use it.'}`,
      ),
    ],
  ]);
}

function reuseText({ reuse: { on, from } }: AgentExplanation): string {
  const by = from === 'definition' ? '`cache` of its definition' : 'task_tool.cache';
  return on ? `results, while everything they read is unchanged (${by})` : `none (${by} is false)`;
}

function rightsFacts(rights: AgentExplanation['rights']): readonly Fact[] {
  const { asked, mode, parentMode, grantedBy, rules } = rights;
  const request = asked === null ? 'its file requests none' : `its file requests ${asked}`;
  const grant = grantedBy === null ? '' : `; granted by ${grantedBy}`;
  return [
    ['mode', `${mode} (${request}; its parent has ${parentMode}${grant})`],
    ['asks', rights.refusesQuestions ? 'nobody: calls that would ask are refused' : null],
    ['denied', rights.disallowedTools.join(', ') || null],
    [
      'limited',
      rights.callLimits.map(({ tool, rules: covering, newFiles, where }) => {
        const ways = [...covering, ...(newFiles ? ['files that do not exist yet'] : [])];
        return `${tool} to ${ways.join(', ') || 'no call'} (${where})`;
      }),
    ],
    ...(['deny', 'ask', 'allow'] as const).map((list): Fact => [
      `rule: ${list}`,
      rules[list].map(({ rule, where }) => `${rule} (${where})`),
    ]),
    ['works in', rights.roots],
    ['network', rights.network ? 'available to commands' : 'not available to commands'],
    ['depth', `${rights.depth} of at most ${rights.maxDepth}`],
  ];
}

function limitTexts(limits: AgentExplanation['limits']): readonly string[] {
  return Array.from(LIMIT_TEXTS).flatMap(([field, { unit, inUnit = (value: number) => value }]) => {
    const limit = limits[field];
    if (limit === undefined) return [];
    const { value, from } = limit;
    if (value === null) return [`no limit of ${unit}`];
    return [`${inUnit(value)} ${unit} (${from ?? 'default'})`];
  });
}
