import type { AgentDefinition } from '../../protocol/agent.ts';
import { lookUpAgent } from '../find-agent.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './findings.ts';

/** Returns the names in `delegates-to`, or in `Task(…)` in its tools, that match none of these agents. */
export function missingDelegates(
  { delegatesTo = [] }: Pick<AgentDefinition, 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): readonly string[] {
  return delegatesTo.filter((word) => lookUpAgent(word, agents) === undefined);
}

export function unknownDelegateMessage(word: string): string {
  return `It may delegate to \`${word}\`, but there is no such agent.`;
}

/** Reports agents that it may delegate to and that do not exist. */
export function lintDelegates({
  missingDelegates: missing,
  text,
}: Pick<LintContext, 'missingDelegates' | 'text'>): readonly Lint[] {
  return missing.map((word) => ({
    code: 'unknown-agent',
    severity: 'warning',
    message: unknownDelegateMessage(word),
    fix: 'Correct the name, or remove it.',
    line: fieldLine(text, ['delegates-to', 'agents']) ?? fieldLine(text, ['tools']),
  }));
}
