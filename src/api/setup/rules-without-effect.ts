import { couldAgentMatch } from '../../policy/rules/match-rules.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { canNameServer, isServerToolName } from '../../protocol/server-tool-names.ts';
import { escapeLine, quoteValue } from '../../config/message-text.ts';
import type { ConfigNotice } from '../../config/setting.ts';
import { listAgentNames, findAgent } from '../../agents/find-agent.ts';

/** The agents and servers that rules can be about. */
interface RuleSubjects {
  readonly agents: readonly AgentDefinition[];
  /** The parts of the names of tools that stand for the configured MCP servers. */
  readonly servers: readonly string[];
}

/**
 * Lists rules that no call can match: rules for an agent that does not exist, and rules for tools of MCP servers that are not configured. A
 * rule in a flag was written for this session, so it is always listed. A rule in a file may be meant for other projects
 * or later versions, so it is listed only if its agent name looks like a typing error.
 */
export function listIneffectiveRules(
  { allow, ask, deny }: RuleSet,
  { agents, servers }: RuleSubjects,
): readonly ConfigNotice[] {
  return [...allow, ...ask, ...deny].flatMap((rule) => {
    const reason = explainNoMatch(rule, { agents, servers });
    if (reason === null) return [];
    const message = `rule ${quoteValue(rule.text)} has no effect: ${escapeLine(reason)}`;
    return [{ where: rule.source.where, message }];
  });
}

function explainNoMatch(
  { tool, specifier, source }: PermissionRule,
  { agents, servers }: RuleSubjects,
): string | null {
  const isFlag = source.kind === 'flag';
  if (isServerToolName(tool)) {
    const isKnown = servers.some((part) => canNameServer(tool, part));
    return !isFlag || isKnown ? null : describeUnknownServer(tool, servers);
  }
  if (tool !== 'Task' || specifier === undefined || specifier === '*') return null;
  const names = agents.flatMap(({ name }) => listAgentNames(name, agents));
  if (names.some((name) => couldAgentMatch(specifier, name))) return null;
  if (!isFlag && suggestNames(specifier, names).length === 0) return null;
  const found = findAgent(specifier, agents);
  return found.ok ? null : found.error.message;
}

function describeUnknownServer(tool: string, servers: readonly string[]): string {
  const [, named = ''] = tool.split('__');
  const known = servers.length === 0 ? '' : `; configured: ${servers.join(', ')}`;
  return `no MCP server "${named}" is configured${known}`;
}
