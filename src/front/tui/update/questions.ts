import type { QuestionAnswer } from '../../../api/index.ts';
import { formTemplate } from '../../../protocol/form.ts';
import { offeredRules } from '../../../protocol/question.ts';
import { canAcceptAsShown, listFewOptions } from '../../../report/server-question.ts';
import type { AppState, Writing } from '../model/app-state.ts';
import { hasOptions, hasUnseenText, similarQuestions } from '../model/similar-questions.ts';
import { answerChoices } from '../model/answer-choices.ts';
import type { Action, Bindings, OwnAction } from '../model/key-bindings.ts';
import { keyHint } from '../model/key-names.ts';
import type { PendingQuestion } from '../model/task-tree.ts';
import { frameLayout } from '../view/frame.ts';
import {
  type ActionHandler,
  type ActionHandlers,
  type UpdateContext,
  andThen,
  hint,
  next,
  setEditorText,
  type Update,
  editTree,
  focusedQuestion,
  leaveQuestion,
} from './step.ts';
import type { Direction, UiMessage } from './message.ts';
import { answerLanding } from './landing.ts';
import { answerRewind } from './rewind.ts';

/**
 * The time for which a question must be on the screen, and nothing typed, before a key without the focus answers it, in
 * milliseconds. A focused question that has taken the place of another one, and similar questions that are answered, too,
 * must be on the screen for as long.
 */
export const UNHURRIED_MS = 500;

type WithoutQuestion = Omit<QuestionAnswer, 'question'>;

/**
 * The handlers of the keys of the focused question. After each answer the editor gets the keys again, because a key that
 * is pressed once too often must not answer the next question, which is then shown instead.
 */
export const QUESTION_ACTIONS = {
  'focus-question': focusQuestion,
  'ask-enter': onceSeen(giveChosenAnswer),
  'ask-previous': (state, context) => chooseAnswer(state, -1, context),
  'ask-next': (state, context) => chooseAnswer(state, 1, context),
  'ask-up': (state, context) => chooseOrScroll(state, -1, context),
  'ask-down': (state, context) => chooseOrScroll(state, 1, context),
  'answer-once': onceSeen((state) => giveVerdict(state, 'yes')),
  'answer-always': onceSeen((state) => giveVerdict(state, 'always')),
  'answer-project': onceSeen(allowInProject),
  'answer-similar': (state) => next(toggleSimilar(state)),
  'answer-no': onceSeen((state) => giveVerdict(state, 'no')),
  'answer-mode': onceSeen((state) => grantMode(state, 'task')),
  'answer-mode-user': onceSeen((state) => grantMode(state, 'user')),
  'answer-reason': (state) => {
    const kind = focusedQuestion(state)?.kind;
    return kind === 'permission' || kind === 'plan' ? write(state, 'reason') : next(state);
  },
  'answer-text': (state) => {
    const question = focusedQuestion(state);
    if (question?.kind === 'input') return write(state, 'answer');
    if (question?.kind !== 'server' || question.fields.length === 0) return next(state);
    return write(state, 'answer', formTemplate(question.fields));
  },
  'answer-cancel': onceSeen((state) => {
    const question = focusedQuestion(state);
    return question?.kind === 'server' ? send(state, question, { text: 'cancel' }) : next(state);
  }),
  'answer-edit': (state) => {
    const question = focusedQuestion(state);
    return question?.kind === 'plan' ? write(state, 'plan', question.text) : next(state);
  },
  'option-1': onceSeen((state) => chooseOption(state, 1)),
  'option-2': onceSeen((state) => chooseOption(state, 2)),
  'option-3': onceSeen((state) => chooseOption(state, 3)),
  'option-4': onceSeen((state) => chooseOption(state, 4)),
} as const satisfies ActionHandlers;

/** The handlers of keys that scroll the question while it has the focus; otherwise these keys scroll the conversation. */
export const QUESTION_SCROLL_ACTIONS = {
  'page-up': (state, context) => scrollQuestion(state, -questionPage(state, context)),
  'page-down': (state, context) => scrollQuestion(state, questionPage(state, context)),
  'to-end': (state) => scrollQuestion(state, Infinity),
} as const satisfies ActionHandlers;

/** Formats the most important keys that answer a question. */
export function answerHint(question: PendingQuestion, bindings: Bindings): string {
  const keys = (action: Action, words: string) => keyHint(bindings, action, words);
  const words = {
    permission: [...keys('answer-once', 'allows it once'), ...keys('answer-no', 'refuses it')],
    plan: [...keys('answer-once', 'approves the plan'), ...keys('answer-no', 'refuses it')],
    confirm: [...keys('answer-once', 'means yes'), ...keys('answer-no', 'no')],
    input: [
      ['type your answer', ...(hasOptions(question) ? keys('ask-down', 'chooses one') : [])].join(
        ', or ',
      ),
    ],
    server: [...keys('answer-text', 'fills in the form'), ...keys('answer-no', 'declines')],
  }[question.kind];
  return words.join(', ');
}

function focusQuestion(state: AppState, { now }: UpdateContext): Update {
  const [oldest] = state.tree.questions.keys();
  if (oldest === undefined || state.writing.kind !== 'message') return next(state);
  return next({ ...giveFocus(state, oldest), questionFocusedAt: now() });
}

/** Gives the keys to a question. */
export function giveFocus(state: AppState, question: string): AppState {
  const shown = { questionScroll: 0, answersAlike: null, chosenAnswer: null };
  return { ...state, ...shown, focus: 'question', question };
}

const READ_FIRST = 'read what is shown now, then press the key again';

/** Makes a key answer only what the user has had the time to see. */
function onceSeen(answer: (state: AppState, context: UpdateContext) => Update): ActionHandler {
  return (state, context) =>
    isTooEarly(state, context.now()) ? hint(state, READ_FIRST) : answer(state, context);
}

/** Lists the answers that the keys of the focused question choose from. */
function choicesOf(
  state: AppState,
  question: PendingQuestion,
  { bindings }: UpdateContext,
): readonly OwnAction[] {
  const hasSimilar = similarQuestions(state, question).length > 1;
  return answerChoices(question, { hasSimilar, bindings });
}

/** Chooses the next answer (1) of the focused question or the previous one (-1), which Enter then gives. */
function chooseAnswer(state: AppState, by: Direction, context: UpdateContext): Update {
  const question = focusedQuestion(state);
  return next(question === undefined ? state : markAnswer(state, question, { by, context }));
}

/** Marks the next answer to a question (1) or the previous one (-1), and scrolls it into view. */
export function markAnswer(
  state: AppState,
  question: PendingQuestion,
  { by, context }: { readonly by: Direction; readonly context: UpdateContext },
): AppState {
  const choices = choicesOf(state, question, context);
  const marked = choices.findIndex((each) => each === state.chosenAnswer);
  // The first answer of a focused question is marked from the beginning.
  const from = marked === -1 && state.focus === 'question' ? 0 : marked;
  const index = Math.max(0, Math.min(choices.length - 1, from + by));
  const chosen: AppState = { ...state, chosenAnswer: choices[index] ?? null };
  const { scroll, shown, chosenLines } = frameLayout(chosen, context).question;
  if (chosenLines === null) return chosen;
  const { start, end } = chosenLines;
  return { ...chosen, questionScroll: Math.min(start, Math.max(scroll, end - shown)) };
}

/** Moves the mark between the answers that the model offers, or scrolls any other question. */
function chooseOrScroll(state: AppState, by: Direction, context: UpdateContext): Update {
  const question = focusedQuestion(state);
  return hasOptions(question) ? chooseAnswer(state, by, context) : scrollQuestion(state, by);
}

/**
 * Gives the chosen answer of the focused question, as its own key does. Because Enter is pressed easily, it counts only
 * once the question has had the focus for a moment.
 */
function giveChosenAnswer(state: AppState, context: UpdateContext): Update {
  const question = focusedQuestion(state);
  if (question === undefined) return next(state);
  if (context.now() - state.questionFocusedAt < UNHURRIED_MS) return hint(state, READ_FIRST);
  const choices = choicesOf(state, question, context);
  const meaning = choices.find((each) => each === state.chosenAnswer) ?? choices[0];
  if (meaning === undefined) return next(state);
  return next(state, { type: 'dispatch', message: { type: 'key-pressed', meaning } });
}

/**
 * Whether the focused question has just taken the place of another one, or shows similar questions for too short a time,
 * so that a key at this time may be meant for what was shown before. A question that the user's own command asks is no
 * surprise.
 */
export function isTooEarly(state: AppState, now: number): boolean {
  const { answersAlike, shownQuestion } = state;
  const question = focusedQuestion(state);
  if (question === undefined || question.kind === 'confirm') return false;
  const isShown = shownQuestion?.id === question.id;
  // Another question was on the screen when the key was pressed.
  if (shownQuestion !== null && !isShown) return true;
  if (isShown && now - (shownQuestion.replacedAt ?? -Infinity) < UNHURRIED_MS) return true;
  if (answersAlike === null) return false;
  const similar = similarQuestions(state, question).filter(({ id }) => answersAlike.has(id));
  if (!hasUnseenText(question, similar)) return false;
  return !isShown || !shownQuestion.isAlike || now - shownQuestion.since < UNHURRIED_MS;
}

/** Makes the next answer one for all similar questions, which are then shown, or for the focused question alone. */
function toggleSimilar(state: AppState): AppState {
  const question = focusedQuestion(state);
  const similar = question === undefined ? [] : similarQuestions(state, question);
  if (similar.length < 2) return state;
  // Questions that are asked later are not answered, because the user may not have seen them.
  const ids = new Set(similar.map(({ id }) => id));
  return {
    ...state,
    answersAlike: state.answersAlike === null ? ids : null,
    chosenAnswer: null,
    questionScroll: 0,
  };
}

/** Sends the editor's text as the answer to the focused question. */
export function submitAnswer(state: AppState, text: string): Update {
  const question = focusedQuestion(state);
  const { kind } = state.writing;
  if (question === undefined || question.kind === 'confirm') return next(state);
  if (kind === 'message' || kind === 'search' || kind === 'picker' || kind === 'find') {
    return next(state);
  }
  if (kind !== 'reason' && text.trim() === '') return next(state);
  return send(state, question, typedAnswer(kind, text), text);
}

function typedAnswer(kind: 'reason' | 'answer' | 'plan', text: string): WithoutQuestion {
  if (kind === 'plan') return { text: 'yes', plan: text };
  if (kind === 'answer') return { text };
  return text.trim() === '' ? { text: 'no' } : { text: 'no', reason: text };
}

/** Leaves a question whose answer was accepted. If another question has the focus by then, it keeps the focus. */
export function acceptAnswer(state: AppState, question: string): Update {
  return state.question === question ? leaveQuestion(state) : next(state);
}

export function rejectAnswer(state: AppState, reason: string, typed: string | null): Update {
  return andThen(hint(state, reason), (hinted) =>
    typed === null || hinted.question === null ? next(hinted) : setEditorText(hinted, typed),
  );
}

function write(
  state: AppState,
  kind: Exclude<Writing['kind'], 'message' | 'search'>,
  text = '',
): Update {
  const writing: Writing = { kind, draft: state.typed };
  return setEditorText({ ...state, writing, focus: 'editor' }, text);
}

function giveVerdict(state: AppState, text: 'yes' | 'always' | 'no'): Update {
  const question = focusedQuestion(state);
  if (question === undefined || question.kind === 'input') return next(state);
  if (question.kind === 'server') {
    const isOffered = text === 'no' || (text === 'yes' && canAcceptAsShown(question));
    return isOffered ? send(state, question, { text }) : next(state);
  }
  if (question.kind !== 'confirm') {
    const isOffered = text !== 'always' || question.kind === 'plan' || offersRules(question);
    return isOffered ? send(state, question, { text }) : next(state);
  }
  return text === 'always' ? next(state) : confirm(state, text === 'yes');
}

/** Answers the question that the UI itself has asked. */
export function confirm(state: AppState, isYes: boolean): Update {
  const settled = editTree(state, ({ questions }) => {
    for (const { id, kind } of questions.values()) if (kind === 'confirm') questions.delete(id);
  });
  return andThen(leaveQuestion(settled), (left) =>
    left.pendingLanding === null ? answerRewind(left, isYes) : answerLanding(left, isYes),
  );
}

/** Grants the mode that the agent lacks, if the question offers that. */
function grantMode(state: AppState, scope: 'task' | 'user'): Update {
  const question = focusedQuestion(state);
  if (question?.kind !== 'permission') return next(state);
  if (question.modeToGrant?.scopes.includes(scope) !== true) return next(state);
  return send(state, question, { text: 'mode', scope });
}

function chooseOption(state: AppState, number: number): Update {
  const question = focusedQuestion(state);
  if (question?.kind === 'server') {
    const value = listFewOptions(question)[number - 1];
    const [field] = question.fields;
    if (value === undefined || field === undefined) return next(state);
    return send(state, question, { text: JSON.stringify({ [field.name]: value }) });
  }
  if (question?.kind !== 'input' || number > question.options.length) return next(state);
  return send(state, question, { text: String(number) });
}

/** Adds the rules that the question offers to the project. */
function allowInProject(state: AppState): Update {
  const question = focusedQuestion(state);
  if (question?.kind !== 'permission' || !question.scopes.includes('project')) return next(state);
  return send(state, question, { text: 'always', scope: 'project' });
}

/** Gives an answer that was typed as a line. */
export function sendAnswer(
  state: AppState,
  { answer, similar }: Extract<UiMessage, { type: 'answer' }>,
): Update {
  const { question: id, ...others } = answer;
  const question = state.tree.questions.get(id);
  if (question === undefined) return next(state, { type: 'answer-question', answer, typed: null });
  const answersAlike = similar === undefined ? null : new Set([id, ...similar]);
  return send({ ...state, answersAlike }, question, others);
}

/** Answers a question, or all similar ones. `typed` is the text of the answer; null for an answer by a key. */
function send(
  state: AppState,
  question: PendingQuestion,
  answer: WithoutQuestion,
  typed: string | null = null,
): Update {
  const { answersAlike } = state;
  const answered =
    answersAlike === null
      ? [question]
      : similarQuestions(state, question).filter(({ id }) => answersAlike.has(id));
  const ids = answer.text === 'always' ? withDistinctRules(answered) : answered.map(({ id }) => id);
  return next(
    state,
    ...ids.map(
      (id) =>
        ({
          type: 'answer-question',
          answer: { question: id, ...answer },
          typed: id === question.id ? typed : null,
        }) as const,
    ),
  );
}

/**
 * Returns the ids of the questions to which "always" is to be answered: one for each set of rules, because the answer to
 * it releases the others.
 */
function withDistinctRules(questions: readonly PendingQuestion[]): readonly string[] {
  const [first] = questions;
  if (first?.kind !== 'permission') return questions.map(({ id }) => id);
  const byRules = new Map<string, string>();
  for (const each of questions) {
    if (each.kind !== 'permission' || !offersRules(each)) continue;
    const rules = offeredRules(each).join('\n');
    if (!byRules.has(rules)) byRules.set(rules, each.id);
  }
  return [...byRules.values()];
}

function offersRules(question: PendingQuestion): boolean {
  return question.kind === 'permission' && offeredRules(question).length > 0;
}

function questionPage(state: AppState, context: UpdateContext): number {
  return Math.max(1, frameLayout(state, context).question.shown - 1);
}

/** Scrolls the question. The limit at the end depends on the drawn lines, so the next frame applies it. */
function scrollQuestion(state: AppState, lines: number): Update {
  return next({ ...state, questionScroll: Math.max(0, state.questionScroll + lines) });
}
