/**
 * All names that front ends import: types, small functions that every command may load, and functions that load their
 * module at the first call (docs/decisions/0036).
 */
export { MusterError, UsageError, type ErrorCode, type ErrorInfo } from '../base/errors.ts';
export { VERSION } from '../base/version.ts';
export { EXAMPLE_AGENTS } from '../agents/example-agents.ts';
export { activityText, reusedText } from '../protocol/state/task-texts.ts';
export { workspaceRoots } from './setup/workspace.ts';
export { contextLines } from './tasks/context-lines.ts';
export { USAGE_KEYS, type UsageKey } from './tasks/usage-keys.ts';

export const createMuster = loadAtFirstCall(async () => (await import('./muster.ts')).createMuster);
export const openTasks = loadAtFirstCall(async () => (await import('./tasks/tasks.ts')).openTasks);
export const readTree = loadAtFirstCall(
  async () => (await import('./tasks/read-tree.ts')).readTree,
);
export const recentRepairs = loadAtFirstCall(
  async () => (await import('./tasks/recent-repairs.ts')).recentRepairs,
);
export const loadItems = loadAtFirstCall(
  async () => (await import('./templates/read-items.ts')).loadItems,
);
export const listTemplatesIn = loadAtFirstCall(
  async () => (await import('./templates/list-templates.ts')).listTemplatesIn,
);
export const loadAgents = loadAtFirstCall(
  async () => (await import('./agents/load-agents.ts')).loadAgents,
);
export const listAgentsIn = loadAtFirstCall(
  async () => (await import('./agents/list-agents.ts')).listAgentsIn,
);
export const listAgentsBelow = loadAtFirstCall(
  async () => (await import('./agents/list-agents.ts')).listAgentsBelow,
);
export const showAgent = loadAtFirstCall(
  async () => (await import('./agents/list-agents.ts')).showAgent,
);
export const checkAgents = loadAtFirstCall(
  async () => (await import('./agents/check-agents.ts')).checkAgents,
);
export const resolveAgentFiles = loadAtFirstCall(
  async () => (await import('./agents/choose-agents.ts')).resolveAgentFiles,
);
export const createAgent = loadAtFirstCall(
  async () => (await import('./agents/create-agent.ts')).createAgent,
);
export const readPromptFile = loadAtFirstCall(
  async () => (await import('./agents/create-agent.ts')).readPromptFile,
);
export const importAgents = loadAtFirstCall(
  async () => (await import('./agents/import-agents.ts')).importAgents,
);
export const explainAgent = loadAtFirstCall(
  async () => (await import('./explain/explain-agent.ts')).explainAgent,
);
export const parseSessionAgents = loadAtFirstCall(
  async () => (await import('../agents/formats/claude/reader.ts')).parseSessionAgents,
);
export const outputSchemaProblem = loadAtFirstCall(
  async () => (await import('./agents/output-schema.ts')).outputSchemaProblem,
);
export const listSkillsIn = loadAtFirstCall(
  async () => (await import('./agents/list-skills.ts')).listSkillsIn,
);
export const checkSkillsIn = loadAtFirstCall(
  async () => (await import('./agents/list-skills.ts')).checkSkillsIn,
);
export const reportModels = loadAtFirstCall(
  async () => (await import('./setup/models-report.ts')).reportModels,
);
export const reportListedModels = loadAtFirstCall(
  async () => (await import('./setup/listed-models.ts')).reportListedModels,
);
export const reportProviderProbe = loadAtFirstCall(
  async () => (await import('./setup/probe-report.ts')).reportProviderProbe,
);
export const changeUserSetting = loadAtFirstCall(
  async () => (await import('./setup/user-settings.ts')).changeUserSetting,
);
export const prepareSignIn = loadAtFirstCall(
  async () => (await import('./setup/sign-in.ts')).prepareSignIn,
);
export const listProvidersToSignIn = loadAtFirstCall(
  async () => (await import('./setup/account-list.ts')).listProvidersToSignIn,
);
export const listAccounts = loadAtFirstCall(
  async () => (await import('./setup/account-list.ts')).listAccounts,
);
export const signOut = loadAtFirstCall(
  async () => (await import('./setup/account-list.ts')).signOut,
);
export const openConfiguredSandbox = loadAtFirstCall(
  async () => (await import('./setup/sandbox.ts')).openConfiguredSandbox,
);
export const confineProgram = loadAtFirstCall(
  async () => (await import('./setup/sandbox.ts')).confineProgram,
);
export const createEnvironmentRedactor = loadAtFirstCall(
  async () => (await import('./setup/secrets.ts')).createEnvironmentRedactor,
);

/** Returns a function that loads its implementation with `load` when it is called, and passes on its arguments. */
function loadAtFirstCall<Args extends readonly unknown[], Result>(
  load: () => Promise<(...args: Args) => Result | Promise<Result>>,
): (...args: Args) => Promise<Result> {
  return async (...args) => (await load())(...args);
}

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
export type {
  FileForm,
  UnrestoredFile as FileLeft,
  RewoundFile,
} from '../protocol/events/rewound.ts';
export type { TaskSignal } from '../protocol/signal.ts';
export type { SandboxState } from '../sys/sandbox/sandbox.ts';
export type { TaskSummary } from '../store/task-store.ts';
export type { ItemRow } from '../engine/fan-out/item-rows.ts';
export type { UserSetting } from '../config/show.ts';
export type { ListedModels } from './session/session-model-lists.ts';
export type { RewindPlan, RewindRequest, RewindScope } from '../engine/rewind/plan-rewind.ts';
export type { RewindOutcome } from '../engine/rewind/rewind.ts';
export type { ProjectFileToTrust, TrustDecision } from '../trust/project-trust.ts';
export type { EventListener, SignalListener } from './session/event-router.ts';
export type {
  CommandOutput,
  ImageDescription,
  MessageQuoteRequest,
  Muster,
  QuotedItems,
  Run,
  ShownImage,
  StopRequest,
} from './session/contract.ts';
export type { MusterOptions, ResumeRequest, RunRequest } from './setup/options.ts';
export type { ListedModelsReport } from './setup/listed-models.ts';
export type { PlannedProbe, ProviderProbeReport } from './setup/probe-report.ts';
export type { ModelsReport } from './setup/models-report.ts';
export type { AccountOptions, AccountReport, ProviderToSignIn } from './setup/account-list.ts';
export type { KeyStoreChoice, SignIn, StoredKey } from './setup/sign-in.ts';
export type { SandboxOptions } from './setup/sandbox.ts';
export type { AgentsLocation } from './agents/load-agents.ts';
export type { AgentDetails, ListAgentsOptions } from './agents/list-agents.ts';
export type { AgentsCheckReport } from './agents/check-agents.ts';
export type { NewAgent } from './agents/create-agent.ts';
export type { ImportedAgent } from './agents/import-agents.ts';
export type { AgentExplanation } from './explain/explain-agent.ts';
export type { ListSkillsOptions, SkillChecks } from './agents/list-skills.ts';
export type { TemplateRequest } from './templates/plan-fan-out.ts';
export type { TemplateReport } from './templates/template-report.ts';
export type { Tasks, TasksOptions } from './tasks/contract.ts';
export type { DeletedTask } from './tasks/delete-tasks.ts';
export type { AnswerOutcome, AskedQuestion } from './tasks/questions.ts';
export type { UsageQuery, UsageReport, UsageRow, UsageSum } from './tasks/usage-report.ts';
export type { WatchListener } from './tasks/watch-tasks.ts';
export type { TreeListener } from './tasks/follow-tree.ts';
