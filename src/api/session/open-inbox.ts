import { UsageError } from '../../base/errors.ts';
import { describeConfigProblem } from '../../config/setting.ts';
import { Inbox } from '../../engine/task/inbox.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { OnAsk } from '../../protocol/question.ts';
import { readConfiguredModes, createModeGrantStore } from '../../trust/mode-grants.ts';
import { openSavedAnswers } from '../../trust/saved-answers.ts';
import { openSavedModes } from '../../trust/saved-modes.ts';
import { createStandingRules } from '../../trust/standing-rules.ts';
import { listIneffectiveRules } from '../setup/rules-without-effect.ts';
import type { SessionConfig } from './session-config.ts';

interface InboxOptions {
  /** Default: `permissions.on_ask`. */
  readonly questions: OnAsk | undefined;
  /** True if the user sits at a prompt. */
  readonly attended: boolean;
  readonly log: boolean | undefined;
  readonly canWriteDataDir: boolean;
  /** The parts of the names of tools that stand for the configured MCP servers. */
  readonly servers: readonly string[];
  readonly agents: readonly AgentDefinition[];
}

/**
 * Opens the inbox of questions with the answers and the modes that the user has given before. Gives a notice about
 * each grant and rule without effect. Throws UsageError where questions are to be parked in a run that was asked to
 * keep no log.
 */
export function openInbox(
  { state, loaded, onNotice }: SessionConfig,
  { questions, attended, log, canWriteDataDir, agents, servers }: InboxOptions,
): Inbox {
  const wanted = questions ?? loaded.config.permissions.onAsk;
  const canPark = wanted !== 'park' || canWriteDataDir;
  if (!canPark && log === false) {
    throw new UsageError(
      'questions cannot be parked without a log: omit either --no-log or --on-ask park',
    );
  }
  if (!canPark) onNotice('questions are refused and not parked, because nothing is kept');
  const onAsk = canPark ? wanted : 'deny';
  const saved = openSavedAnswers({ ...state, onProblem: onNotice });
  const standing = createStandingRules({ saved, onNotice });
  const modes = readConfiguredModes(loaded, agents);
  const notices = [...modes.notices, ...listIneffectiveRules(loaded.rules, { agents, servers })];
  for (const notice of notices) onNotice(describeConfigProblem(notice));
  const savedModes = openSavedModes({ ...state, onProblem: onNotice });
  const modeGrants = createModeGrantStore(modes.grants, savedModes);
  return new Inbox({ onAsk, standing, modeGrants, isUserPresent: attended });
}
