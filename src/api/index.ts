/** `muster-agent`: what a program that runs Muster uses. */
export { MusterError, UsageError, type ErrorCode, type ErrorInfo } from '../base/errors.ts';
export { VERSION } from '../base/version.ts';
export type { QuestionAnswer } from '../engine/engine.ts';
export type { WaitingQuestion } from '../engine/inbox.ts';
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
export type { TaskEvent } from '../protocol/event.ts';
export type {
  QuestionJson,
  Receipt,
  ResultEnvelope,
  ShellRun,
  TaskStatus,
} from '../protocol/result.ts';
export { createMuster } from './muster.ts';
export type { EventListener } from './event-router.ts';
export type { SignalListener } from './signal-router.ts';
export type { SandboxState } from '../sys/sandbox/sandbox.ts';
export type { TaskSignal } from '../protocol/signal.ts';
export type { ProjectFileToTrust, TrustDecision } from './trust/project-trust.ts';
export type { MusterOptions, ResumeRequest, RunRequest } from './options.ts';
export type { Muster, Run, StopRequest } from './contract.ts';
export type { TemplateRequest } from './templates/fan-out.ts';
export type { TemplateReport } from './templates/report.ts';
export type { ItemRow } from '../engine/fan-out/rows.ts';
export { listAgentsBelow, listAgentsIn, type ListAgentsOptions } from './listings.ts';
export { checkSkillsIn, listSkillsIn, type ListSkillsOptions, type SkillChecks } from './skills.ts';
export { openTasks } from './tasks.ts';
export type { Tasks, TasksOptions } from './tasks-contract.ts';
export type { Deleted } from './tasks-family.ts';
export type { RewindPlan, RewindWish } from '../engine/rewind/plan.ts';
export type { RewindOutcome } from '../engine/rewind/rewind.ts';
export type { FileForm, FileLeft, RewoundFile } from '../protocol/rewound.ts';
export type { Answered, AskedQuestion } from './tasks-questions.ts';
export type { UsageKey } from './usage-keys.ts';
export type { UsageQuery, UsageReport, UsageRow, UsageSum } from './usage-report.ts';
export type { WatchListener } from './tasks-watch.ts';
export type { TreeListener } from './tree-follow.ts';
export { activityText } from '../engine/task-report.ts';
export { reusedText } from '../engine/result.ts';
export type { TaskSummary } from '../store/task-store.ts';
export { parseSessionAgents } from '../agents/formats/claude/reader.ts';
