import type { AgentDefinition } from '../../protocol/agent.ts';
import { lintDelegates } from './delegates.ts';
import { lintDescription } from './description.ts';
import { fieldLine } from './field-line.ts';
import type { Finding, Lint, LintContext } from './findings.ts';
import { lintInactive } from './inactive-fields.ts';
import { lintProblems } from './loading-problems.ts';
import { lintNameConflicts } from './name-conflicts.ts';
import { lintExcessRights } from './excess-rights.ts';

/** Checks a definition and its file, and sorts the findings by line. Nothing is read, and the agent does not need to be trusted. */
export function lintAgent(agent: AgentDefinition, context: LintContext): readonly Finding[] {
  const lints = [
    ...lintSecrets(context),
    ...lintUnusable(agent),
    ...lintProblems(agent.problems),
    ...lintDescription(agent, context),
    ...lintPrompt(agent),
    ...lintModel(agent, context),
    ...lintOutputSchema(context),
    ...lintExcessRights(agent, context),
    ...lintDelegates(context),
    ...lintInactive(agent, context),
    ...lintNameConflicts(agent, context),
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
    message: `This looks like a secret: ${what}. It would be part of every request of the agent, and everybody with the file could read it.`,
    fix: 'Remove it, revoke it, and refer to an environment variable instead.',
    line,
  }));
}

function lintUnusable({ unusable, problems }: AgentDefinition): readonly Lint[] {
  // The report from loading has a line, and says more.
  const isReported = problems.some(
    ({ code }) => code === 'no-known-tools' || code === 'invalid-tools',
  );
  if (unusable === undefined || isReported) return [];
  const message = `It cannot be started: ${unusable}`;
  return [{ code: 'unusable', severity: 'error', message, fix: null }];
}

function lintPrompt({ prompt }: AgentDefinition): readonly Lint[] {
  if (prompt.trim() !== '') return [];
  const message = 'The prompt is empty, so the agent has no instructions of its own.';
  const fix = 'Write below the front matter what it should do, and what its result should contain.';
  return [{ code: 'empty-prompt', severity: 'warning', message, fix }];
}

function lintOutputSchema({ outputSchemaProblem, text }: LintContext): readonly Lint[] {
  if (outputSchemaProblem === null) return [];
  return [
    {
      code: 'invalid-output-schema',
      severity: 'error',
      message: `It cannot be started, because the schema of its answers cannot be used: ${outputSchemaProblem}`,
      fix: 'Correct the schema, or remove it.',
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
