/** The functions and types of the core that front ends and the package's entry point import. */
export { MusterError, UsageError, type ErrorCode, type ErrorInfo } from '../base/errors.ts';
export { VERSION } from '../base/version.ts';
export type { QuestionAnswer } from '../engine/engine-requests.ts';
export type { WaitingQuestion } from '../engine/task/inbox.ts';
export type {
  Answer,
  GrantScope,
  InputQuestion,
  OnAsk,
  PermissionQuestion,
  PlanQuestion,
  ProposedEdit,
  Question,
} from '../protocol/question.ts';
export type { AgentDefinition } from '../protocol/agent.ts';
export type { SkillDefinition } from '../protocol/skill.ts';
export type { TaskEvent } from '../protocol/events/event.ts';
export type {
  QuestionJson,
  Receipt,
  ResultEnvelope,
  ShellRun,
  TaskStatus,
} from '../protocol/result.ts';
export { createMuster } from './muster.ts';
export type { EventListener } from './session/event-router.ts';
export type { SignalListener } from './session/signal-router.ts';
export type { SandboxState } from '../sys/sandbox/sandbox.ts';
export type { TaskSignal } from '../protocol/signal.ts';
export type { ProjectFileToTrust, TrustDecision } from '../trust/project-trust.ts';
export type { MusterOptions, ResumeRequest, RunRequest } from './setup/options.ts';
export type { Muster, Run, StopRequest } from './session/contract.ts';
export type { TemplateRequest } from './templates/plan-fan-out.ts';
export type { TemplateReport } from './templates/template-report.ts';
export type { ItemRow } from '../engine/fan-out/item-rows.ts';
export { listAgentsBelow, listAgentsIn, type ListAgentsOptions } from './agents/list-agents.ts';
export {
  checkSkillsIn,
  listSkillsIn,
  type ListSkillsOptions,
  type SkillChecks,
} from './agents/list-skills.ts';
export { openTasks } from './tasks/tasks.ts';
export type { Tasks, TasksOptions } from './tasks/contract.ts';
export type { DeletedTask } from './tasks/delete-tasks.ts';
export type { RewindPlan, RewindRequest } from '../engine/rewind/plan-rewind.ts';
export type { RewindOutcome } from '../engine/rewind/rewind.ts';
export type { FileForm, FileLeft, RewoundFile } from '../protocol/events/rewound.ts';
export type { AnswerOutcome, AskedQuestion } from './tasks/questions.ts';
export type { UsageKey } from './tasks/usage-keys.ts';
export type { UsageQuery, UsageReport, UsageRow, UsageSum } from './tasks/usage-report.ts';
export type { WatchListener } from './tasks/watch-tasks.ts';
export type { TreeListener } from './tasks/follow-tree.ts';
export { activityText } from '../engine/results/task-report.ts';
export { reusedText } from '../engine/results/result.ts';
export type { TaskSummary } from '../store/task-store.ts';
export { parseSessionAgents } from '../agents/formats/claude/reader.ts';
