import type { AgentDefinition } from '../../protocol/agent.ts';
import { lintDelegates } from './delegates.ts';
import { lintDescription } from './description.ts';
import { fieldLine } from './field-line.ts';
import type { Finding, Lint, LintContext } from './finding.ts';
import { lintInactive } from './inactive-fields.ts';
import { lintProblems } from './loading-problems.ts';
import { lintPlace } from './name-conflicts.ts';
import { lintReach } from './excess-rights.ts';

/**
 * All that is worth telling about a definition and its file, as they stand in the file. Pure: nothing is
 * read, and the agent need not be trusted.
 */
export function lintAgent(agent: AgentDefinition, context: LintContext): readonly Finding[] {
  const lints = [
    ...lintSecrets(context),
    ...lintUnusable(agent),
    ...lintProblems(agent.problems),
    ...lintDescription(agent, context),
    ...lintPrompt(agent),
    ...lintModel(agent, context),
    ...lintOutputSchema(context),
    ...lintReach(agent, context),
    ...lintDelegates(context),
    ...lintInactive(agent, context),
    ...lintPlace(agent, context),
  ];
  return lints
    .map((lint) => findingOf(agent, lint))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function findingOf({ name, origin }: AgentDefinition, { line, ...lint }: Lint): Finding {
  return { ...lint, path: origin.path, line: line ?? null, agent: name };
}

function lintSecrets({ secrets }: LintContext): readonly Lint[] {
  return secrets.map(({ line, what }) => ({
    code: 'secret',
    severity: 'error',
    message: `This looks like a secret: ${what}. Every request of the agent and whoever gets the file would hold it.`,
    fix: 'Take it out, make it invalid where it came from, and name an environment variable instead.',
    line,
  }));
}

function lintUnusable({ unusable, problems }: AgentDefinition): readonly Lint[] {
  // Where loading told it on its line, that says more.
  const isTold = problems.some(({ code }) => code === 'no-known-tools' || code === 'invalid-tools');
  if (unusable === undefined || isTold) return [];
  const message = `It cannot be started: ${unusable}`;
  return [{ code: 'unusable', severity: 'error', message, fix: null }];
}

function lintPrompt({ prompt }: AgentDefinition): readonly Lint[] {
  if (prompt.trim() !== '') return [];
  const message = 'The prompt is empty: it works like any other agent.';
  const fix = 'Write below the front matter what it is to do, and how it ends.';
  return [{ code: 'empty-prompt', severity: 'warning', message, fix }];
}

function lintOutputSchema({ outputSchemaProblem, text }: LintContext): readonly Lint[] {
  if (outputSchemaProblem === null) return [];
  return [
    {
      code: 'invalid-output-schema',
      severity: 'error',
      message: `No task can be made of it: the schema of its answers can't be used: ${outputSchemaProblem}`,
      fix: 'Correct the schema, or take it out.',
      line: fieldLine(text, ['output-schema', 'response']),
    },
  ];
}

function lintModel(
  { model }: AgentDefinition,
  { model: outlook, text }: LintContext,
): readonly Lint[] {
  if (model === undefined || outlook.warning === null) return [];
  return [
    {
      code: 'unknown-model',
      severity: outlook.isConfigured ? 'warning' : 'note',
      message: outlook.warning,
      fix: 'Write a tier (fast, balanced, powerful) or inherit, or configure the provider; see `muster models`.',
      line: fieldLine(text, ['model']),
    },
  ];
}
