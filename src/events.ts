/** `muster-agent/events`: the data of Muster, for whoever reads its logs and streams. */
export type { CodeLocation } from './base/code-search/format-ranking.ts';
export { ERROR_CODES, type ErrorCode, type ErrorInfo } from './base/errors.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './base/json.ts';
export type {
  AcceptanceCriteria,
  AcceptanceOutcome,
  AcceptanceRun,
  WorkScore,
} from './protocol/acceptance.ts';
export type {
  AgentDefinition,
  AgentLimits,
  AgentOrigin,
  AgentParameter,
  AgentProblem,
  AgentScope,
  LimitedTools,
  ToolLimit,
  ToolSelection,
} from './protocol/agent.ts';
export type { Attachment, AttachmentDetails, AttachmentType } from './protocol/attachment.ts';
export type { BoardFinding, FindingAuthor, FindingContent } from './protocol/board.ts';
export type { EndReason, StoppedBy } from './protocol/end-reason.ts';
export type {
  ClearedCall,
  CompactionEvent,
  ContextSize,
} from './protocol/events/compaction-event.ts';
export type { HookEventBody } from './protocol/events/hook-event.ts';
export {
  LOG_VERSION,
  type DelegationFields,
  type EventBody,
  type EventStamp,
  type EventType,
  type NoticeLevel,
  type RemoteReference,
  type TaskEvent,
} from './protocol/events/event.ts';
export type { FileForm, Rewound, RewoundFile, UnrestoredFile } from './protocol/events/rewound.ts';
export type { AnswerFault, ModelFault } from './protocol/fault.ts';
export type { FormField, FormFormat, FormOption, FormValue, FormValues } from './protocol/form.ts';
export type {
  HookEventName,
  HookIdentity,
  HookOutcome,
  HookRecord,
  HookSource,
  HookVerdict,
} from './protocol/hook.ts';
export type {
  CountedTokens,
  ForkedConversation,
  InitialContext,
  ParentConversation,
  Statement,
  SummarizedConversation,
  SummaryTransfer,
} from './protocol/initial-context.ts';
export type {
  AnswerLine,
  InputLine,
  InterruptLine,
  UserLine,
  UserMessageLine,
} from './protocol/input-line.ts';
export type { TaskInput } from './protocol/input.ts';
export type { LimitHit, OptionalLimitField } from './protocol/limits.ts';
export type { MemoryScope } from './protocol/memory.ts';
export type {
  AssistantMessage,
  AssistantPart,
  Message,
  ProviderMeta,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from './protocol/message.ts';
export type {
  Amount,
  AwaitedProgress,
  Effort,
  FailureKind,
  FinishReason,
  ModelFailure,
  ModelOutputLimit,
  PromptPartLength,
  ReplacedModel,
  RequestPrefix,
  ResolvedModel,
  Silence,
  Tier,
  ToolSpec,
  Usage,
  Work,
} from './protocol/model.ts';
export type { OutputCap } from './protocol/output-cap.ts';
export type {
  CallLimit,
  Decision,
  DecisionStep,
  GrantedDefinition,
  ModeGrant,
  ModeToGrant,
  PermissionMode,
  PermissionRule,
  Rights,
  RuleList,
  RuleSet,
  RuleSource,
  Verdict,
} from './protocol/permission.ts';
export type {
  Answer,
  AnsweredBy,
  GrantScope,
  InputQuestion,
  ModeToOffer,
  PermissionQuestion,
  PlanQuestion,
  ProposedEdit,
  Question,
  QuestionBase,
  ServerQuestion,
} from './protocol/question.ts';
export type { QuotedCall, QuotedItem } from './protocol/quoted-item.ts';
export type { A2aAuth, A2aServer, AcpProgram, RemoteAgent } from './protocol/remote-agent.ts';
export type { Repair, Repairs } from './protocol/repair.ts';
export type {
  ChildReceipt,
  ClaimFlag,
  EndStatus,
  EnvelopeStatus,
  EnvelopeUsage,
  QuestionJson,
  Receipt,
  ResultEnvelope,
  ResultPlace,
  ShellEnd,
  ShellRun,
  TaskStatus,
} from './protocol/result.ts';
export type { ServerLogLevel } from './protocol/server-message.ts';
export type { TaskSignal } from './protocol/signal.ts';
export type { Activation, CompactingActivation } from './protocol/state/activation.ts';
export type { Activity, RunningCall } from './protocol/state/activity.ts';
export type { AnswersState } from './protocol/state/answers.ts';
export type { CallRecord } from './protocol/state/call-record.ts';
export type { AddressedStatement, Compaction } from './protocol/state/compaction.ts';
export type { Conversation, AgentMention } from './protocol/state/conversation.ts';
export type { DelegationRounds, Delegations } from './protocol/state/delegations.ts';
export type { AnswerTexts } from './protocol/state/earlier-report.ts';
export { applyEvent, foldEvents } from './protocol/state/fold.ts';
export type { FoundTools } from './protocol/state/found-tools.ts';
export type { Ledger, LedgerEntry, UsageTotal } from './protocol/state/ledger.ts';
export type { ChildState, OwnedWork, ShellState } from './protocol/state/owned-work.ts';
export type {
  GrantedRule,
  InboxState,
  QuestionState,
  RecordedModeGrant,
  Restriction,
} from './protocol/state/questions.ts';
export type { UnsentMessage } from './protocol/state/quoted-calls.ts';
export type { Repetition, CallRound } from './protocol/state/repetition.ts';
export type { Lifetime } from './protocol/state/steady-time.ts';
export {
  initialState,
  type AcceptanceState,
  type TaskState,
  type ToldToHooks,
  type WorkspaceState,
} from './protocol/state/task-state.ts';
export type { TurnTerms } from './protocol/state/turn-terms.ts';
export type { ErrorLine, ResultLine, StreamLine } from './protocol/stream-line.ts';
export type { LoopSettings, TaskLimits, TaskSource, TaskSpec } from './protocol/task.ts';
export type { FanOut, ItemSource, TemplateDefinition, TemplateItem } from './protocol/template.ts';
export type {
  CallDetails,
  CommandRun,
  FileChange,
  FileSeen,
  LeftProcesses,
  TodoItem,
  UnlistedChanges,
} from './protocol/tool.ts';
export type { UnmetKind, UnmetRequest } from './protocol/unmet-request.ts';
export type { AnswerUsage, EstimatedUsage, LoggedAnswer } from './protocol/used.ts';
export type { WorkspaceInUse, WorkspaceTrees } from './protocol/workspace-paths.ts';
export type {
  ChangedFile,
  ExpectedConflict,
  Isolation,
  TaskWorkspace,
  WorkspaceResult,
  WorkspaceStart,
} from './protocol/workspace.ts';
