/** `muster-agent`: what a program that runs Muster uses. */
export { MusterError, UsageError, type ErrorCode, type ErrorInfo } from '../base/errors.ts';
export { VERSION } from '../base/version.ts';
export type { Question, QuestionPort } from '../engine/deps.ts';
export type { AgentDefinition } from '../protocol/agent.ts';
export type { TaskEvent } from '../protocol/event.ts';
export type { Receipt, ResultEnvelope, ShellRun, TaskStatus } from '../protocol/result.ts';
export { createMuster } from './muster.ts';
export type { EventListener } from './event-router.ts';
export type { MusterOptions, ResumeRequest, RunRequest } from './options.ts';
export type { Muster, Run, StopRequest } from './session.ts';
export { listAgentsIn, openTasks, type ListAgentsOptions, type TaskReader } from './listings.ts';
export { parseSessionAgents } from '../agents/formats/claude.ts';
