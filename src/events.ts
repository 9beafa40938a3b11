/** `muster-agent/events`: the data of Muster, for whoever reads its logs and streams. */
export { ERROR_CODES, type ErrorCode, type ErrorInfo } from './base/errors.ts';
export type * from './protocol/agent.ts';
/** An earlier name of `requestedModels`, which programs may still import. */
export type { requestedModels as modelWishes } from './protocol/agent.ts';
export type * from './protocol/end-reason.ts';
export { LOG_VERSION } from './protocol/events/event.ts';
export type * from './protocol/events/event.ts';
export type * from './protocol/input.ts';
export type {
  AnswerLine,
  InputLine,
  InterruptLine,
  UserLine,
  UserMessageLine,
} from './protocol/input-line.ts';
export type * from './protocol/message.ts';
export type { EFFORTS, Effort } from './protocol/model.ts';
export type * from './protocol/permission.ts';
export type * from './protocol/question.ts';
export type * from './protocol/result.ts';
export type * from './protocol/stream-line.ts';
export type * from './protocol/task.ts';
export type { Activity } from './protocol/state/activity.ts';
export { applyEvent, foldEvents } from './protocol/state/fold.ts';
export { initialState, type TaskState } from './protocol/state/task-state.ts';
