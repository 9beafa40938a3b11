import type { AgentDefinition } from '../../protocol/agent.ts';

/** The rules of two parts of one file, each once. */
export function joinedRules(
  one: AgentDefinition['rules'],
  other: AgentDefinition['rules'],
): Pick<AgentDefinition, 'rules'> {
  if (one === undefined || other === undefined) {
    const rules = one ?? other;
    return rules === undefined ? {} : { rules };
  }
  const joined = (list: 'ask' | 'deny') => [...new Set([...one[list], ...other[list]])];
  return { rules: { ask: joined('ask'), deny: joined('deny') } };
}
