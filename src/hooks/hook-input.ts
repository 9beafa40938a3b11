import type { JsonObject } from '../base/json.ts';
import type { HookOccasion } from '../protocol/hook.ts';
import type { PermissionMode } from '../protocol/permission.ts';

/** The names that Claude Code has for the modes. */
const CLAUDE_MODES: Readonly<Record<PermissionMode, string>> = {
  plan: 'plan',
  default: 'default',
  acceptEdits: 'acceptEdits',
  autonomous: 'bypassPermissions',
};

/**
 * Builds the JSON that a hook gets. The field names are those of Claude Code. Further fields are `muster_mode`, and for a
 * subagent `parent_agent_id` and `depth`. The fields of the event cannot replace those about the task.
 */
export function buildHookInput({ event, task, fields }: HookOccasion): JsonObject {
  return {
    ...fields,
    session_id: task.rootId,
    transcript_path: task.rootLogFile,
    cwd: task.cwd,
    permission_mode: CLAUDE_MODES[task.mode],
    muster_mode: task.mode,
    hook_event_name: event,
    ...(task.parentId === null
      ? {}
      : {
          agent_id: task.id,
          agent_type: task.agentType,
          agent_transcript_path: task.logFile,
          parent_agent_id: task.parentId,
          depth: task.depth,
        }),
  };
}
