import type { AgentDefinition } from '../../protocol/agent.ts';
import { lookUpAgent } from '../find-agent.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './finding.ts';

/** Words of `delegates-to`, or of `Task(…)` among its tools, that mean none of these agents. */
export function missingDelegates(
  { delegatesTo = [] }: Pick<AgentDefinition, 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): readonly string[] {
  return delegatesTo.filter((word) => lookUpAgent(word, agents) === undefined);
}

export function nobodyIsCalled(word: string): string {
  return `It may delegate to \`${word}\`, but there is no such agent here.`;
}

/** Whether those are there that it delegates to. */
export function lintDelegates({
  missingDelegates: missing,
  text,
}: Pick<LintContext, 'missingDelegates' | 'text'>): readonly Lint[] {
  return missing.map((word) => ({
    code: 'unknown-agent',
    severity: 'warning',
    message: nobodyIsCalled(word),
    fix: 'Correct the name, or take it out.',
    line: fieldLine(text, ['delegates-to', 'agents']) ?? fieldLine(text, ['tools']),
  }));
}
