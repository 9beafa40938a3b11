/** `muster-agent/events`: the data of Muster, for whoever reads its logs and streams. */
export { ERROR_CODES, type ErrorCode, type ErrorInfo } from '../base/errors.ts';
export type * from './agent.ts';
export type * from './end-reason.ts';
export { LOG_VERSION } from './event.ts';
export type * from './event.ts';
export type * from './input.ts';
export type * from './message.ts';
export type * from './permission.ts';
export type * from './question.ts';
export type * from './result.ts';
export type * from './stream-line.ts';
export type * from './task.ts';
export type { Activity } from './activity.ts';
export { applyEvent, foldEvents, initialState, type TaskState } from './state.ts';
