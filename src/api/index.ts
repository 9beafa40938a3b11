/**
 * All names that front ends import: types, small functions that every command may load, and functions that load a part of
 * the library (docs/decisions/0036).
 */
export {
  MusterError,
  UsageError,
  type ErrorCode,
  type ErrorInfo,
  type MusterErrorOptions,
} from '../base/errors.ts';
export { VERSION } from '../base/version.ts';
export { EXAMPLE_AGENTS } from '../agents/example-agents.ts';
export {
  activityText,
  describeRemoteEnd,
  describeShellEnd,
  reusedText,
} from '../protocol/state/task-texts.ts';
export { workspaceRoots } from './setup/workspace.ts';
export { contextLines } from './tasks/context-lines.ts';

/** Loads the functions about definitions of agents, skills and templates. */
export const loadDefinitions = () => import('./definitions.ts');
/** Loads `openSession`, which opens a session. */
export const loadSessions = () => import('./open-session.ts');
/** Loads the function that passes on the messages of a conversation. */
export const loadConversations = () => import('./session/converse.ts');
/** Loads the check of values against a JSON schema. */
export const loadSchemaCompiler = () => import('../engine/structured/compile-schema.ts');
/** Loads the functions for programs that use Muster as a library. */
export const loadProgramSupport = () => import('./setup/program-support.ts');
/** Loads the functions about stored tasks. */
export const loadStoredTasks = () => import('./stored-tasks.ts');
/** Loads the functions about the accounts and keys of providers. */
export const loadAccounts = () => import('./accounts.ts');
/** Loads the reports about models and providers. */
export const loadModelReports = () => import('./model-reports.ts');
/** Loads the sandbox as configured. */
export const loadSandbox = () => import('./setup/sandbox.ts');
/** Loads the function that changes the user's configuration file. */
export const loadUserSettings = () => import('./setup/user-settings.ts');
/** Loads the functions that remove the secrets of the environment from texts. */
export const loadSecrets = () => import('./setup/secrets.ts');

/** Loads the list of hooks. */
export const loadHookList = () => import('./setup/list-hooks.ts');
/** Loads the import of hooks from other products. */
export const loadHookImport = () => import('./hooks/import-hooks.ts');
export type { HookImport } from './hooks/import-hooks.ts';
/** Loads the trial of hooks. */
export const loadHookTrials = () => import('./hooks/try-hooks.ts');
export type { HookTrial, SampleOccasion } from './hooks/try-hooks.ts';

/** Loads the commands about MCP servers. */
export const loadServerCommands = () => import('./mcp/manage-servers.ts');
/** Loads the login to MCP servers. */
export const loadServerLogin = () => import('./mcp/login.ts');
export type { LoginDialog, LoginOutcome } from './mcp/login.ts';
export type { ContentServer, ServerContent, ServerPrompt } from './mcp/server-content.ts';
/** Loads the test of all MCP servers. */
export const loadServerChecks = () => import('./mcp/check-servers.ts');
export type { ServerChecks } from './mcp/check-servers.ts';
/** Loads the import of MCP servers from other products. */
export const loadServerImport = () => import('./mcp/import-servers.ts');
export type { FoundServer, ServerImport } from './mcp/import-servers.ts';
export type { ServerState, ServerStatus } from './mcp/server-status.ts';
export type { ServerReport, ServerRow, ServerTest } from './mcp/manage-servers.ts';

/** Loads the commands about plugins and marketplaces. */
export const loadPluginCommands = () => import('./plugins/plugin-commands.ts');
export type { MarketplaceDetails, MarketplaceRow } from './plugins/manage-marketplaces.ts';
export type { PluginDetails, PluginRow } from './plugins/manage-plugins.ts';
export type { PluginProposal, PluginReview } from './plugins/propose-plugin.ts';

export type { RuleChange } from '../engine/permissions/change-rules.ts';
export type { RuleInForce, TaskRules } from './session/conversation-rules.ts';
export type { QuestionAnswer } from '../engine/engine-requests.ts';
export type { AnswerRequest } from '../engine/questions/parse-answer.ts';
export type { WaitingQuestion } from '../engine/task/inbox.ts';
export type { ContextFile } from '../protocol/project-context.ts';
export type { AgentListings } from '../agents/list-agents.ts';
export type { CommandListings } from '../agents/commands/list-commands.ts';
export type { SkillListings } from '../agents/skills/list-skills.ts';
export type { AgentDefinition } from '../protocol/agent.ts';
export type { TaskEvent } from '../protocol/events/event.ts';
export type { ResultEnvelope } from '../protocol/result.ts';
export type { TaskSignal } from '../protocol/signal.ts';
export type { SandboxState } from '../sys/sandbox/sandbox.ts';
export type { OpenQuestionSummary, TaskSummary } from '../store/task-store.ts';
export type { ItemRow } from '../engine/fan-out/item-rows.ts';
export type { UserSetting } from '../config/show.ts';
export type { ListedModels } from './session/session-model-lists.ts';
export type { RewindPlan, RewindRequest, RewindScope } from '../engine/rewind/plan-rewind.ts';
export type { RewindOutcome } from '../engine/rewind/rewind.ts';
export type { EventListener } from './session/event-router.ts';
export type {
  CommandOutput,
  ImageDescription,
  MessageQuoteRequest,
  Session,
  QuotedItems,
  Run,
  ShownImage,
} from './session/contract.ts';
export type { WorkspaceProblem } from './workspaces/workspace-problems.ts';
export type { LandingForm, LandingOutcome, LandingPreview } from './workspaces/contract.ts';
export type { WorkspaceSummary } from '../workspaces/landing-state.ts';
export type { SessionOptions, ResumeRequest } from './setup/options.ts';
export type { Clock } from '../base/clock.ts';
export type { ProjectFileToTrust } from '../trust/project-trust.ts';
export type { ProgramContext, ProgramStorePart } from './setup/program-parts.ts';
export type { ProjectFileKind, ProjectFileName } from '../sys/files/project-file.ts';
export type { OwnModel } from '../model/own-models.ts';
export type { RerunDifference } from '../replay/difference.ts';
export type { TaskRerun, TreeRerun } from '../replay/rerun-tree.ts';
export type { ListedModelsReport } from './setup/listed-models.ts';
export type { PlannedProbe, ProviderProbeReport } from './setup/probe-report.ts';
export type { ModelsReport } from './setup/models-report.ts';
export type { AccountOptions, AccountReport, ProviderToSignIn } from './setup/account-list.ts';
export type { KeyStoreChoice, SignIn, StoredKey } from './setup/sign-in.ts';
export type { SandboxOptions } from './setup/sandbox.ts';
export type { AgentsLocation } from './agents/load-agents.ts';
export type { AgentDetails } from './agents/list-agents.ts';
export type { AgentsCheckReport } from './agents/check-agents.ts';
export type { NewAgent } from './agents/create-agent.ts';
export type { ImportedAgent } from './agents/import-agents.ts';
export type { AgentExplanation } from './explain/explain-agent.ts';
export type { ListSkillsOptions } from './agents/list-skills.ts';
export type { TemplateRequest } from './templates/plan-fan-out.ts';
export type { TemplateReport } from './templates/template-report.ts';
export type { Tasks } from './tasks/contract.ts';
export type { DeletedTask } from './tasks/delete-tasks.ts';
export type { AskedQuestion } from './tasks/questions.ts';
export type { UsageGroup, UsageReport, UsageSum } from './tasks/usage-report.ts';
export type { TreeListener } from './tasks/follow-tree.ts';
