/** `muster-agent/events`: the data of Muster, for whoever reads its logs and streams. */
export { ERROR_CODES, type ErrorCode, type ErrorInfo } from './base/errors.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './base/json.ts';
export type { CodeLocation } from './base/code-search/format-ranking.ts';
export type * from './protocol/acceptance.ts';
export type * from './protocol/agent.ts';
export type * from './protocol/attachment.ts';
export type * from './protocol/board.ts';
export type * from './protocol/end-reason.ts';
export type * from './protocol/events/compaction-event.ts';
export { LOG_VERSION } from './protocol/events/event.ts';
export type * from './protocol/events/event.ts';
export type * from './protocol/events/rewound.ts';
export type * from './protocol/fault.ts';
export type * from './protocol/form.ts';
export type * from './protocol/hook.ts';
export type * from './protocol/initial-context.ts';
export type * from './protocol/input.ts';
export type { LimitHit, OptionalLimitField } from './protocol/limits.ts';
export type * from './protocol/memory.ts';
export type {
  AnswerLine,
  InputLine,
  InterruptLine,
  UserLine,
  UserMessageLine,
} from './protocol/input-line.ts';
export type * from './protocol/message.ts';
export type * from './protocol/model.ts';
export type * from './protocol/output-cap.ts';
export type * from './protocol/permission.ts';
export type * from './protocol/question.ts';
export type * from './protocol/quoted-item.ts';
export type * from './protocol/repair.ts';
export type * from './protocol/result.ts';
export type { ServerLogLevel } from './protocol/server-message.ts';
export type * from './protocol/signal.ts';
export type * from './protocol/stream-line.ts';
export type * from './protocol/task.ts';
export type * from './protocol/template.ts';
export type {
  CallDetails,
  CommandRun,
  FileChange,
  FileSeen,
  LeftProcesses,
  TodoItem,
  UnlistedChanges,
} from './protocol/tool.ts';
export type { UnmetRequest } from './protocol/unmet-request.ts';
export type * from './protocol/used.ts';
export type * from './protocol/web.ts';
export type * from './protocol/workspace.ts';
export type { WorkspaceTrees } from './protocol/workspace-paths.ts';
export type { Activity } from './protocol/state/activity.ts';
export { applyEvent, foldEvents } from './protocol/state/fold.ts';
export { initialState, type TaskState } from './protocol/state/task-state.ts';
