import { describeTools } from '../../protocol/model-families/describe-tools.ts';
import { findModelFamily } from '../../protocol/model-families/model-families.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { DELEGATING_TOOLS, LANDING_TOOL } from '../../protocol/tool-names.ts';
import { isToolDisallowed } from '../../policy/rules/tool-cover.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { LandingTool } from '../task/landing-tool.ts';

/**
 * Finds the landing tool for a task that can delegate. Requests list it from the moment on at which a descendant gets a
 * workspace. Returns null if the task can't have it.
 */
export function findLandingTool(
  { tools, settings }: Pick<EngineDeps, 'tools' | 'settings'>,
  task: Pick<TaskSpec, 'tools' | 'rights' | 'model'>,
): LandingTool | null {
  const tool = tools.find(({ name }) => name === LANDING_TOOL);
  const delegates = task.tools.some((name) => DELEGATING_TOOLS.includes(name));
  if (tool === undefined || !delegates || isToolDisallowed(task.rights, LANDING_TOOL)) return null;
  const [spec] = describeTools([tool], findModelFamily(task.model.id, settings.modelFamily));
  return spec === undefined ? null : { tool, spec };
}
