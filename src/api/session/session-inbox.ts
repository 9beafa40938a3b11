import { UsageError } from '../../base/errors.ts';
import { describeConfigProblem } from '../../config/setting.ts';
import { Inbox } from '../../engine/task/inbox.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { OnAsk } from '../../protocol/question.ts';
import { configuredModes, createModeGrantStore } from '../../trust/mode-grants.ts';
import { openSavedAnswers } from '../../trust/saved-answers.ts';
import { openSavedModes } from '../../trust/saved-modes.ts';
import { createStandingRules } from '../../trust/standing-rules.ts';
import { ineffectiveRuleNotices } from '../setup/rules-without-effect.ts';
import type { SessionConfig } from './session-config.ts';

interface InboxOptions {
  /** Default: `permissions.on_ask`. */
  readonly questions: OnAsk | undefined;
  readonly keepsRecords: boolean;
  readonly agents: readonly AgentDefinition[];
}

/**
 * Opens the inbox of questions with the answers and the modes that the user has given before. Gives a notice about
 * each grant and rule without effect. Throws UsageError where questions are to be parked in a run without a log.
 */
export function openSessionInbox(
  { state, loaded, onNotice }: SessionConfig,
  { questions, keepsRecords, agents }: InboxOptions,
): Inbox {
  const onAsk = questions ?? loaded.config.permissions.onAsk;
  if (onAsk === 'park' && !keepsRecords) {
    throw new UsageError(
      "questions can't be parked in a run that keeps no log: leave out --no-log, or --on-ask park",
    );
  }
  const saved = openSavedAnswers({ ...state, onProblem: onNotice });
  const standing = createStandingRules({ saved, onNotice });
  const modes = configuredModes(loaded, agents);
  const notices = [...modes.notices, ...ineffectiveRuleNotices(loaded.rules, agents)];
  for (const notice of notices) onNotice(describeConfigProblem(notice));
  const savedModes = openSavedModes({ ...state, onProblem: onNotice });
  return new Inbox({ onAsk, standing, modeGrants: createModeGrantStore(modes.grants, savedModes) });
}
