/**
 * `muster-agent/testing`: scripted models, a fake model server and checks, for tests of programs that use Muster.
 */
export type { ModelRequest } from '../protocol/model.ts';
export type {
  ScriptedAnswer as Answer,
  AnswerSearch,
  AnswerToolCall,
  BreakPoint,
  Fault,
  FaultKind,
  SendInterval,
} from './answer.ts';
export type { AnswerHandler } from './rules.ts';
export { assertAppendOnly, canonicalPrefix, type CanonicalPrefix } from './canonical-prefix.ts';
export type { BaseUrls } from './endpoints.ts';
export { startFakeModel, type FakeModel, type FakeModelOptions } from './fake-model.ts';
export type { PromptCacheOptions } from './prompt-cache.ts';
export type { RecordedViolation } from './request-recorder.ts';
export type { Rule, RuleCondition } from './rules.ts';
export {
  startCassette,
  type Cassette,
  type CassetteOptions,
  type CassetteTarget,
} from './cassette/cassette.ts';
export type { NormalizedRequest } from './cassette/normalize-request.ts';
export { manualClock, type ManualClock } from './manual-clock.ts';
export { recordLog, createLog, type LoggedCall, type RecordedLog } from './record-log.ts';
export {
  expectCalls,
  expectChildren,
  expectLimits,
  expectRefusals,
  type ExpectedCall,
} from './expect-log.ts';
export {
  scriptedModel,
  type ModelScript,
  type ScriptedModelAnswer,
  type ScriptedModelCall,
  type ScriptedModel,
} from './scripted-model.ts';
export { memoryStore } from './store/memory-store-port.ts';
export { storeContract, type StoreContractCase } from './store/store-contract.ts';
export { checkRequest, type CheckedRequest } from './strict/check-request.ts';
export { CHAT_SERVERS, type ChatServer, type StrictOptions } from './strict/options.ts';
export { describeViolations, type Violation } from './strict/rule.ts';
export {
  firstUserText,
  lastUserText,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type ParsedBody,
  type RecordedRequest,
  type RequestOutcome,
  type WireMessage,
  type WireProtocol,
  type WireTool,
  type WireToolCall,
  type WireAttachment,
  type WireToolResult,
} from './wire-request.ts';
