import { sanitizeLine } from '../../../base/terminal-text.ts';
import type {
  InputQuestion,
  PermissionQuestion,
  ServerQuestion,
} from '../../../protocol/question.ts';
import { canAcceptAsShown, listFewOptions } from '../../../report/server-question.ts';
import { OPTION_ACTIONS } from '../model/answer-choices.ts';
import type { ProposedChange } from '../model/call-details.ts';
import type { Action, Bindings, OwnAction } from '../model/key-bindings.ts';
import { keyHint, keysOf } from '../model/key-names.ts';
import type { PendingQuestion } from '../model/task-tree.ts';
import { visibleWidth } from './fit.ts';
import { offeredRuleTexts } from './question-texts.ts';
import { typedHint, type TypingFor } from './question-typing.ts';

/** The place and the state of a question on the screen. */
export interface QuestionStyle {
  readonly width: number;
  /** The maximum number of lines; at least 4. */
  readonly height: number;
  /** Whether the question has the focus. */
  readonly isFocused: boolean;
  /** The number of waiting questions, this question included. */
  readonly waiting: number;
  /** The index of the first line in view. */
  readonly scroll: number;
  /** The key bindings in force. */
  readonly bindings: Bindings;
  /** The directory to which paths are relative. */
  readonly cwd: string;
  /** Whether the answer keys act without the focus if all of the question is in view. */
  readonly isDirect: boolean;
  /** The other waiting questions that one answer may answer together with this one. */
  readonly similar: readonly PendingQuestion[];
  /** Whether the next answer is for these questions, too. They are then shown in full. */
  readonly isForSimilar: boolean;
  /** The purpose of the text in the editor: a message, or an answer to this question. */
  readonly typing: TypingFor;
  /** The action of the answer that Enter gives; null while Enter gives none. */
  readonly chosen: OwnAction | null;
  /** The change that its edits would make in their file; null if that is not known. */
  readonly proposal: ProposedChange | null;
}

/** The width of the border at the left of a question. */
export const BORDER_WIDTH = 2;

/** Returns the rules that "always" would add if they are to be listed because they do not fit beside its key. */
export function hiddenRules(
  question: PendingQuestion,
  { width, bindings, cwd }: QuestionStyle,
): readonly string[] {
  const rules = question.kind === 'confirm' ? [] : offeredRuleTexts(question, cwd);
  const [rule = ''] = rules;
  const [hint = ''] = keyHint(bindings, 'answer-always', `${ALWAYS_HERE}: ${sanitizeLine(rule)}`);
  return rules.length === 1 && visibleWidth(hint) <= width - BORDER_WIDTH ? [] : rules;
}

const ALWAYS_HERE = 'always (conversation)';
const ALWAYS_IN_PROJECT = 'always (project)';

/** Lists the keys that answer a question, on as many lines as needed. */
export function keyLines(
  question: PendingQuestion,
  style: QuestionStyle,
  rules: readonly string[],
): readonly string[] {
  const { isFocused, isDirect, bindings, width } = style;
  const hint = (action: Action, words: string) =>
    keyHint(bindings, action, words).map((text) => (action === style.chosen ? `▶ ${text}` : text));
  const line = (...hints: readonly (readonly string[])[]) =>
    joined(hints.flat(), width - BORDER_WIDTH);
  if (!isFocused && !isDirect) return line(typedHint(style.typing, bindings));
  const later = isFocused ? hint('interrupt', 'later') : hint('focus-question', 'to focus');
  if (question.kind === 'input') {
    return line(choiceKeys(question, bindings), hint('answer-text', 'type an answer'), later);
  }
  if (question.kind === 'server') return line(...serverHints(question, hint, bindings), later);
  const why = hint('answer-reason', 'no, with a reason');
  const no = hint('answer-no', 'no');
  if (question.kind === 'plan') {
    const unasked = hint('answer-always', 'approve and allow edits');
    const change = hint('answer-edit', 'change it');
    return [...line(hint('answer-once', 'approve'), unasked, change), ...line(no, why, later)];
  }
  if (question.kind === 'confirm') return line(hint('answer-once', 'yes'), no, later);
  const edits =
    question.offersEdits === true ? hint('cycle-mode', 'accept edits from here on') : [];
  return [
    ...line(hint('answer-once', 'once'), no, why, later),
    ...line(edits, similarHint(style, hint)),
    ...line(...alwaysHints(question, { listed: rules, cwd: style.cwd }, hint)),
    ...line(...modeHints(question, hint)),
  ];
}

/** Lists the keys that answer a question of a server. */
function serverHints(
  question: ServerQuestion,
  hint: HintMaker,
  bindings: Bindings,
): readonly (readonly string[])[] {
  const isForm = question.url === null && question.fields.length > 0;
  const accept = isForm ? 'send the defaults' : question.url === null ? 'yes' : 'you open the page';
  return [
    optionKeys(listFewOptions(question).length, bindings),
    isForm ? hint('answer-text', 'fill it in') : [],
    canAcceptAsShown(question) ? hint('answer-once', accept) : [],
    hint('answer-no', 'decline'),
    hint('answer-cancel', 'cancel'),
  ];
}

type HintMaker = (action: Action, words: string) => readonly string[];

/** Formats the key that makes the next answer one for all similar questions, or for this one alone again. */
function similarHint({ similar, isForSimilar }: QuestionStyle, hint: HintMaker): readonly string[] {
  if (similar.length === 0) return [];
  const words = isForSimilar ? 'only this one' : `answer all ${similar.length + 1} similar alike`;
  return hint('answer-similar', words);
}

/** Lists the keys that add the rules of the question, each with its scope. `listed`: the rules if the question lists them. */
function alwaysHints(
  question: PermissionQuestion,
  { listed, cwd }: { readonly listed: readonly string[]; readonly cwd: string },
  hint: HintMaker,
): readonly (readonly string[])[] {
  const [rule] = offeredRuleTexts(question, cwd);
  if (rule === undefined) return [];
  const what = listed.length === 0 ? `: ${sanitizeLine(rule)}` : ', see above';
  const here = hint('answer-always', `${ALWAYS_HERE}${what}`);
  return question.scopes.includes('project')
    ? [here, hint('answer-project', ALWAYS_IN_PROJECT)]
    : [here];
}

/** Lists the keys that grant the agent the mode of its definition. */
function modeHints(
  { modeToGrant }: PermissionQuestion,
  hint: HintMaker,
): readonly (readonly string[])[] {
  if (modeToGrant === undefined) return [];
  const { agent, mode, scopes } = modeToGrant;
  const what = `let ${sanitizeLine(agent)} run in its mode, ${mode}`;
  const here = hint('answer-mode', `${what}, in this conversation`);
  if (!scopes.includes('user')) return [here];
  return [here, hint('answer-mode-user', 'the same in every conversation')];
}

/** Joins hints into as many lines as needed, without cutting a hint. */
function joined(hints: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const hint of hints) {
    const last = lines.at(-1);
    const longer = `${last} · ${hint}`;
    if (last !== undefined && visibleWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(hint);
  }
  return lines;
}

/** Lists the keys that choose one of the answers that the model offers. */
function choiceKeys(question: InputQuestion, bindings: Bindings): readonly string[] {
  const [numbers] = optionKeys(question.options.length, bindings);
  const arrows = CHOICE_ACTIONS.flatMap((action) => keysOf(bindings, action).slice(0, 1)).join(' ');
  if (numbers === undefined || arrows === '') return numbers === undefined ? [] : [numbers];
  return [`${arrows} or ${numbers}`];
}

const CHOICE_ACTIONS = ['ask-up', 'ask-down'] as const;

function optionKeys(count: number, bindings: Bindings): readonly string[] {
  const keys = OPTION_ACTIONS.slice(0, count).flatMap((action) =>
    keysOf(bindings, action).slice(0, 1),
  );
  const [first, last] = [keys[0], keys.at(-1)];
  if (first === undefined) return [];
  return [first === last ? first : `${first}–${last} choose`];
}
