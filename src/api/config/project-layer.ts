import { PERMISSION_MODES } from '../../protocol/permission.ts';
import type { ConfigNotice } from './source.ts';
import type { Assignment, Layer } from './layer.ts';
import { quoted } from './quote.ts';

/**
 * What a trusted project's file may set, by SECURITY "Trust of project files": never providers, state
 * or the sandbox, and no wider mode than the user's. The rest is named and left out.
 */
export function projectLayer(layer: Layer, userMode: unknown): Layer {
  const assignments: Assignment[] = [];
  const notices: ConfigNotice[] = [];
  for (const assignment of layer.assignments) {
    const refusal = refusalOf(assignment, userMode);
    if (refusal === undefined) assignments.push(assignment);
    else notices.push({ where: assignment.source.where, message: refusal });
  }
  for (const [name, { source }] of layer.providers) {
    notices.push({
      where: source.where,
      message: `a project cannot configure providers; [models.providers.${name}] is ignored. Put it into your own configuration`,
    });
  }
  return { assignments, providers: new Map(), problems: layer.problems, notices };
}

function refusalOf({ entry, value }: Assignment, userMode: unknown): string | undefined {
  switch (entry.spec.project) {
    case 'may':
      return undefined;
    case 'never':
      return `a project cannot set ${entry.key}; ignored. Put it into your own configuration`;
    case 'narrow':
      return width(value) <= width(userMode)
        ? undefined
        : `a project cannot widen ${entry.key} from your ${quoted(userMode)} to ${quoted(value)}; ignored`;
  }
}

function width(mode: unknown): number {
  return PERMISSION_MODES.findIndex((candidate) => candidate === mode);
}
