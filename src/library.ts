/** `muster-agent`: Muster as a library, for programs that run agents. */
export {
  MusterError,
  UsageError,
  VERSION,
  type ErrorCode,
  type ErrorInfo,
  type MusterErrorOptions,
} from './api/index.ts';
export type {
  AnswerRequest,
  Clock,
  OpenQuestionSummary,
  ProgramContext,
  ProjectFileKind,
  ProjectFileName,
  ProjectFileToTrust,
  RerunDifference,
  TaskRerun,
  TaskSummary,
  TreeRerun,
} from './api/index.ts';
export { createMuster } from './library/create-muster.ts';
export { defineTool } from './library/define-tool.ts';
export { taskTool } from './library/task-tool.ts';
export type { AgentFields, AgentFunction, AgentFunctionResult } from './library/agents.ts';
export type { ConfigTables, MusterConfig, NamedTables } from './library/config.ts';
export type { Muster, MusterRun, OutputOf, RunEvent, RunResult } from './library/contract.ts';
export type { TaskTool, TaskToolInput, TaskToolOptions } from './library/task-tool.ts';
export type { CustomTool, ToolDefinition } from './library/define-tool.ts';
export type {
  AnswerQuestion,
  BranchOptions,
  FunctionHook,
  JudgeCall,
  JudgedCall,
  Model,
  MusterOptions,
  Narrowing,
  ResumeOptions,
  RunBudget,
  RunOptions,
} from './library/options.ts';
export type {
  InferOutput,
  JsonSchemaObject,
  Schema,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './library/standard-schema.ts';
export type { AcceptanceRequest } from './protocol/acceptance.ts';
export type { TaskEvent } from './protocol/events/event.ts';
export type { LanguageModelObject } from './protocol/language-model.ts';
export type { AssistantMessage, Message, ToolMessage, UserMessage } from './protocol/message.ts';
export type {
  AnswerListener,
  Effort,
  FinishReason,
  ModelFailure,
  ModelPart,
  ModelPort,
  ModelRequest,
  ProgressPart,
  RequestPriority,
  Usage,
  UsageMissing,
} from './protocol/model.ts';
export type { RemoteTask } from './protocol/remote-agent.ts';
export type { PermissionMode } from './protocol/permission.ts';
export type {
  ProgramToolAccess,
  ProgramToolContext,
  ProgramToolResult,
} from './protocol/program-tool.ts';
export type {
  InputQuestion,
  PermissionQuestion,
  PlanQuestion,
  Question,
  ServerQuestion,
} from './protocol/question.ts';
export type { Receipt, ResultEnvelope, TaskStatus } from './protocol/result.ts';
export type { StoredTask, StorePort, StoreWatchOptions } from './protocol/store-port.ts';
export type { TaskSignal } from './protocol/signal.ts';
export type { CitedPage, SearchDomains } from './protocol/web.ts';
