import type {
  PermissionOption,
  RequestPermissionRequest,
  ToolCallContent,
} from '@agentclientprotocol/sdk/unstable';
import type { AnswerRequest } from '../../api/index.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import {
  createRefusal,
  offeredRules,
  questionSubject,
  type GrantScope,
  type Question,
} from '../../protocol/question.ts';
import { describeQuestionContent } from '../../report/question-content.ts';
import { toDiff, toKind, toTextContent } from './tool-call.ts';

/** The meaning of an option. */
export type Choice =
  | { readonly kind: 'answer'; readonly answer: AnswerRequest }
  /** The user answers or refuses in words of their own. */
  | { readonly kind: 'words' };

/** An option with its meaning. */
interface OfferedChoice extends PermissionOption {
  readonly choice: Choice;
}

/** The maximum length of a title, in UTF-16 units. */
const MAX_TITLE = 200;

/** The scopes of a grant that editors offer, and the words for them. */
const SCOPES: readonly (readonly [GrantScope, string])[] = [
  ['task', 'in this conversation'],
  ['project', 'in this project'],
];

/** Creates the request that asks a user a question with a list of options. `toolCallId`: the call that waits for the answer. */
export function createPermissionRequest(
  question: Question,
  { sessionId, toolCallId }: { readonly sessionId: string; readonly toolCallId: string },
): RequestPermissionRequest {
  return {
    sessionId,
    toolCall: {
      toolCallId,
      title: describeAsker(question),
      kind: question.kind === 'plan' ? 'switch_mode' : toKind(question.tool),
      status: 'pending',
      content: describeContent(question),
      ...(question.kind === 'permission' && question.paths.length > 0
        ? { locations: question.paths.map((path) => ({ path })) }
        : {}),
    },
    options: listChoices(question).map(({ optionId, kind, name }) => ({ optionId, kind, name })),
  };
}

/** Returns what the chosen option means. A client may send any text; an unknown option refuses. */
export function readChoice(question: Question, optionId: string): Choice {
  const chosen = listChoices(question).find((each) => each.optionId === optionId);
  if (chosen !== undefined) return chosen.choice;
  const reason = `the editor chose an option that was not offered: ${JSON.stringify(optionId)}`;
  return { kind: 'answer', answer: createRefusal(question, reason) };
}

/** Names the agents from the main agent down to the one that asks, and what it asks for. */
function describeAsker(question: Question): string {
  const { chain, tool, kind } = question;
  const asks =
    kind === 'permission'
      ? `${tool}: ${questionSubject(question)}`
      : kind === 'plan'
        ? 'carry out this plan?'
        : question.text;
  return truncate(sanitizeLine(`${chain.join(' > ')}: ${asks}`), MAX_TITLE);
}

function describeContent(question: Question): ToolCallContent[] {
  if (question.kind === 'permission' && question.edits.length > 0) {
    return [...question.edits.map(toDiff), toTextContent(sanitizeLine(question.reason))];
  }
  const reason = question.kind === 'permission' ? [question.reason] : [];
  const lines = [...describeQuestionContent(question), ...reason];
  return [toTextContent(sanitizeForTerminal(lines.join('\n'), 'exact'))];
}

function listChoices(question: Question): readonly OfferedChoice[] {
  switch (question.kind) {
    case 'permission': {
      const rules = sanitizeLine(offeredRules(question).join(', '));
      const offered = SCOPES.filter(([scope]) => rules !== '' && question.scopes.includes(scope));
      return [
        toAnswer('once', 'allow_once', 'Allow once', { text: 'yes' }),
        ...(question.offersEdits === true
          ? [
              toAnswer('edits', 'allow_always', 'Allow all edits in this conversation', {
                text: 'edits',
              }),
            ]
          : []),
        ...offered.map(([scope, where]) =>
          toAnswer(`always:${scope}`, 'allow_always', `Always allow ${rules} ${where}`, {
            text: 'always',
            scope,
          }),
        ),
        ...listRefusals(),
      ];
    }
    case 'plan':
      return [
        toAnswer('approve', 'allow_once', 'Carry out the plan', { text: 'yes' }),
        toAnswer('approve-edits', 'allow_always', 'Carry out the plan, and allow its edits', {
          text: 'always',
        }),
        ...listRefusals(),
      ];
    case 'input':
      return [
        ...question.options.map((option, index) =>
          toAnswer(`option:${index + 1}`, 'allow_once', sanitizeLine(option), {
            text: String(index + 1),
          }),
        ),
        toWords('Answer in your own words'),
      ];
    case 'server':
      return [
        toAnswer('accept', 'allow_once', question.url === null ? 'Accept' : 'I have opened it', {
          text: 'yes',
        }),
        toAnswer('decline', 'reject_once', 'Decline', { text: 'no' }),
      ];
  }
}

function listRefusals(): readonly OfferedChoice[] {
  return [
    toAnswer('reject', 'reject_once', 'Reject', { text: 'no' }),
    toWords('Reject, and say what to do instead'),
  ];
}

function toAnswer(
  optionId: string,
  kind: PermissionOption['kind'],
  name: string,
  answer: AnswerRequest,
): OfferedChoice {
  return { optionId, kind, name, choice: { kind: 'answer', answer } };
}

function toWords(name: string): OfferedChoice {
  return { optionId: 'words', kind: 'reject_once', name, choice: { kind: 'words' } };
}
