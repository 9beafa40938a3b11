import { suggestNames } from '../../base/name-suggestions.ts';
import { agentCouldMatch } from '../../policy/rule-match.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { oneLine, quoted } from '../../config/quote.ts';
import type { ConfigNotice } from '../../config/source.ts';
import { agentNames, findAgent } from '../../agents/find-agent.ts';

/**
 * Notices about rules that no call can match at this start: rules for an agent that does not exist, and rules for
 * tools of MCP servers. A rule in a flag was written for this start, so every one of them is told. A rule in a
 * file holds for other projects and later versions, too: it is told only where its name looks like a mistake.
 */
export function rulesWithoutEffect(
  { allow, ask, deny }: RuleSet,
  agents: readonly AgentDefinition[],
): readonly ConfigNotice[] {
  return [...allow, ...ask, ...deny].flatMap((rule) => {
    const because = whyNoCallMatches(rule, agents);
    if (because === null) return [];
    const message = `rule ${quoted(rule.text)} has no effect: ${oneLine(because)}`;
    return [{ where: rule.source.where, message }];
  });
}

function whyNoCallMatches(
  { tool, specifier, source }: PermissionRule,
  agents: readonly AgentDefinition[],
): string | null {
  const isFlag = source.kind === 'flag';
  if (tool.startsWith('mcp__')) {
    return isFlag ? 'this version of Muster connects to no MCP server' : null;
  }
  if (tool !== 'Task' || specifier === undefined || specifier === '*') return null;
  const words = agents.flatMap(({ name }) => agentNames(name, agents));
  if (words.some((word) => agentCouldMatch(specifier, word))) return null;
  if (!isFlag && suggestNames(specifier, words).length === 0) return null;
  const found = findAgent(specifier, agents);
  return found.ok ? null : found.error.message;
}
