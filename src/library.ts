/** `muster-agent`: the names that programs import which use Muster as a library. */
export { MusterError, UsageError, VERSION } from './api/index.ts';
export { createMuster } from './library/create-muster.ts';
export { defineTool } from './library/define-tool.ts';
export type { AgentFields, AgentFunction, AgentFunctionResult } from './library/agents.ts';
export type { MusterConfig } from './library/config.ts';
export type { Muster, MusterRun, OutputOf, RunEvent, RunResult } from './library/contract.ts';
export type { CustomTool, ToolDefinition } from './library/define-tool.ts';
export type {
  AnswerQuestion,
  BranchOptions,
  RunBudget,
  Model,
  MusterOptions,
  ResumeOptions,
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
