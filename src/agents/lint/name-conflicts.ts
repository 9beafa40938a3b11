import { dirname } from 'node:path';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './findings.ts';

const OTHER_NAME = 'Rename one of them.';

/** Reports other agents with its name. */
export function lintNameConflicts(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  const line = fieldLine(context.text, ['name']);
  const { shadowedBy, shadows } = context;
  // The agent that replaces a built-in one reports it.
  const isReported = agent.origin.scope === 'builtin';
  const shadowed =
    shadowedBy === null || isReported ? [] : [{ ...shadowedLint(agent, shadowedBy), line }];
  const clash: readonly Lint[] =
    context.clash === null
      ? []
      : [{ code: 'id-clash', severity: 'warning', message: context.clash, fix: OTHER_NAME, line }];
  const builtin = shadows.filter(({ origin }) => origin.scope === 'builtin');
  return [
    ...shadowed,
    ...clash,
    ...builtin.map((each): Lint => ({
      code: 'replaces-built-in',
      severity: 'note',
      message: `It replaces the built-in agent \`${each.name}\` everywhere.`,
      fix: 'If you do not want that, rename it.',
      line,
    })),
  ];
}

/** The same name in one folder is a mistake; in different folders, the search order decides on purpose. */
function shadowedLint(agent: AgentDefinition, by: AgentDefinition): Lint {
  const isInSameFolder = dirname(agent.origin.path) === dirname(by.origin.path);
  return isInSameFolder
    ? {
        code: 'same-name',
        severity: 'warning',
        message: `It is never used: ${by.origin.path} in the same folder has the same name, and comes first.`,
        fix: OTHER_NAME,
      }
    : {
        code: 'shadowed',
        severity: 'note',
        message: `It is not used here: ${by.origin.path} has the same name, and has precedence.`,
        fix: 'To use both, rename one of them.',
      };
}
