import { couldAgentMatch } from '../../policy/rules/match-rules.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { escapeLine, quoteValue } from '../../config/message-text.ts';
import type { ConfigNotice } from '../../config/setting.ts';
import { listAgentNames, findAgent } from '../../agents/find-agent.ts';

/**
 * Notices about rules that no call can match at this start: rules for an agent that does not exist, and rules for
 * tools of MCP servers. A rule in a flag was written for this start, so every one of them is told. A rule in a
 * file holds for other projects and later versions, too: it is told only where its name looks like a mistake.
 */
export function ineffectiveRuleNotices(
  { allow, ask, deny }: RuleSet,
  agents: readonly AgentDefinition[],
): readonly ConfigNotice[] {
  return [...allow, ...ask, ...deny].flatMap((rule) => {
    const reason = reasonForNoMatch(rule, agents);
    if (reason === null) return [];
    const message = `rule ${quoteValue(rule.text)} has no effect: ${escapeLine(reason)}`;
    return [{ where: rule.source.where, message }];
  });
}

function reasonForNoMatch(
  { tool, specifier, source }: PermissionRule,
  agents: readonly AgentDefinition[],
): string | null {
  const isFlag = source.kind === 'flag';
  if (tool.startsWith('mcp__')) {
    return isFlag ? 'this version of Muster connects to no MCP server' : null;
  }
  if (tool !== 'Task' || specifier === undefined || specifier === '*') return null;
  const names = agents.flatMap(({ name }) => listAgentNames(name, agents));
  if (names.some((name) => couldAgentMatch(specifier, name))) return null;
  if (!isFlag && suggestNames(specifier, names).length === 0) return null;
  const found = findAgent(specifier, agents);
  return found.ok ? null : found.error.message;
}
