import { dirname } from 'node:path';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './finding.ts';

const OTHER_NAME = 'Give one of the two another name.';

/** Which other agents have its name. */
export function lintPlace(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  const line = fieldLine(context.text, ['name']);
  const { shadowedBy, shadows } = context;
  // Whatever takes the place of a built-in agent tells so itself.
  const isTold = agent.origin.scope === 'builtin';
  const shadowed =
    shadowedBy === null || isTold ? [] : [{ ...shadowedLint(agent, shadowedBy), line }];
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
      message: `It is used in the place of the built-in agent \`${each.name}\`, wherever that is asked for.`,
      fix: 'If that is not meant, give it another name.',
      line,
    })),
  ];
}

/** In one folder it is a mistake; between places the order of search is there for it. */
function shadowedLint(agent: AgentDefinition, by: AgentDefinition): Lint {
  const isBeside = dirname(agent.origin.path) === dirname(by.origin.path);
  return isBeside
    ? {
        code: 'same-name',
        severity: 'warning',
        message: `It is never used: ${by.origin.path} beside it has the same name, and goes first.`,
        fix: OTHER_NAME,
      }
    : {
        code: 'shadowed',
        severity: 'note',
        message: `It is not used here: ${by.origin.path} has the same name, and is found first.`,
        fix: 'If both are wanted, give one of them another name.',
      };
}
