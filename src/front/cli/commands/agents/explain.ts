import { resolve } from 'node:path';
import {
  explainAgent,
  type AgentExplanation,
  type ExplainedLimit,
} from '../../../../api/agents/explain.ts';
import { jsonText } from '../../../../base/json-text.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import type { AgentsCommand } from '../../command.ts';
import type { CommandContext } from '../context.ts';
import { factLines, type Fact } from '../facts.ts';
import { agentsPlace } from './place.ts';
import { shownOrigin, shownPath } from './words.ts';

type AgentsExplain = Extract<AgentsCommand, { kind: 'agents-explain' }>;

/**
 * `muster agents explain`: what a Task call for the agent would make, and why. Exit code 1 where the call
 * would be refused.
 */
export async function explainAgentCommand(
  command: AgentsExplain,
  context: CommandContext,
): Promise<number> {
  const { name, flags, addDirs } = command;
  const explained = await explainAgent({
    ...agentsPlace(command, context),
    name,
    flags,
    addDirs: addDirs.map((path) => resolve(context.cwd, path)),
  });
  context.out(command.json ? `${jsonText(explained, 2)}\n` : asText(explained, context));
  return explained.call.verdict === 'deny' ? 1 : 0;
}

function asText(explained: AgentExplanation, { cwd, home }: CommandContext): string {
  const { name, origin, background, inactive } = explained;
  return factLines([
    ['agent', exactLine(name)],
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
    ...explained.warnings.map((message): Fact => ['note', exactLine(message)]),
    ...inactive.map(({ field, consequence }): Fact => {
      const what = consequence ?? 'Muster does not use it.';
      return ['no effect', `${exactLine(field)}: ${exactLine(what)}`];
    }),
  ]);
}

function reuseText({ reuse: { on, from } }: AgentExplanation): string {
  const by = from === 'definition' ? '`cache` of its definition' : 'task_tool.cache';
  return on ? `results, while everything they read is unchanged (${by})` : `none (${by} is false)`;
}

function memoryFacts({ memory }: AgentExplanation): readonly Fact[] {
  return memory === null ? [] : [['notes', `${exactLine(memory.directory)} (${memory.scope})`]];
}

const VERDICT_WORDS = { deny: 'refused', ask: 'asked about' } as const;

function callFacts({ call: { reason, verdict } }: AgentExplanation): readonly Fact[] {
  return verdict === 'allow' ? [] : [[VERDICT_WORDS[verdict], exactLine(reason)]];
}

function toolFacts({ tools, delegatesTo }: AgentExplanation): readonly Fact[] {
  return [
    ['tools', exactLine(tools.names.join(', ')) || 'none'],
    ...tools.dropped.map(({ name, reason }): Fact => [
      'not available',
      `${exactLine(name)}: ${exactLine(reason)}`,
    ]),
    ...tools.unknown.map((message): Fact => ['unknown', exactLine(message)]),
    ['delegates to', exactLine(delegatesTo.join(', ')) || 'nobody'],
  ];
}

function grantedText({ grantedBy }: AgentExplanation['rights']): string {
  return grantedBy === null ? '' : `; granted by ${exactLine(grantedBy)}`;
}

function rightsFacts({ rights }: AgentExplanation): readonly Fact[] {
  const { asked, mode, parentMode, refusesQuestions, disallowedTools, rules, roots } = rights;
  const { callLimits } = rights;
  const wish = asked === null ? 'its file requests none' : `its file requests ${exactLine(asked)}`;
  return [
    ['mode', `${mode} (${wish}; its parent has ${parentMode}${grantedText(rights)})`],
    ...(refusesQuestions ? [['asks', 'nobody: calls that would ask are refused'] as const] : []),
    ...(disallowedTools.length === 0
      ? []
      : [['denied', exactLine(disallowedTools.join(', '))] as const]),
    ...callLimits.map(({ tool, rules: covering, newFiles, where }): Fact => {
      const ways = [...covering, ...(newFiles ? ['files that do not exist yet'] : [])];
      return ['limited', exactLine(`${tool} to ${ways.join(', ') || 'no call'} (${where})`)];
    }),
    ...(['deny', 'ask', 'allow'] as const).flatMap((list) =>
      rules[list].map(({ rule, where }): Fact => [
        `rule: ${list}`,
        `${exactLine(rule)} (${exactLine(where)})`,
      ]),
    ),
    ...roots.map((root): Fact => ['works in', exactLine(root)]),
    ['network', rights.network ? 'available to commands' : 'not available to commands'],
    ['depth', `${rights.depth} of at most ${rights.maxDepth}`],
  ];
}

function modelFacts({ model }: AgentExplanation): readonly Fact[] {
  const { chain, effort, fallbacks, name, warning } = model;
  return [
    ['model', `${exactLine(name)} (${chain.map(exactLine).join(' → ')})`],
    ...(warning === null ? [] : [['warning', exactLine(warning)] as const]),
    ...(fallbacks.length === 0
      ? []
      : [['if it fails', exactLine(fallbacks.join(', then '))] as const]),
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

/** Of those that are rarely set, nothing is said where they are not. */
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
      `  ${exactLine(each.name).padEnd(width)}  ${String(each.bytes).padStart(6)} bytes  ~${each.tokens} tokens`,
    ]),
    ['system prompt', `sha256 ${systemSha256}`],
  ];
}
