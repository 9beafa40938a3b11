import type { AppState, HeldAnswer } from '../model/app-state.ts';
import type { Action, Bindings } from '../model/key-bindings.ts';
import { isText, keyHint, keysOf } from '../model/key-names.ts';
import {
  directQuestion,
  hasOptions,
  hasUnseenText,
  similarQuestions,
} from '../model/similar-questions.ts';
import type { PendingQuestion } from '../model/task-tree.ts';
import {
  answerHint,
  giveFocus,
  isTooEarly,
  markAnswer,
  QUESTION_ACTIONS,
  UNHURRIED_MS,
} from './questions.ts';
import type { Direction } from './message.ts';
import {
  andThen,
  focusedQuestion,
  hint,
  next,
  setEditorText,
  type ActionHandlers,
  type Update,
  type UpdateContext,
} from './step.ts';

/** The time without a further key after which a key without the focus is an answer, and not the start of a message. */
const ANSWER_PAUSE_MS = 300;

/** The actions of keys that answer a question without the focus. */
const ANSWER_ACTIONS = [
  'answer-once',
  'answer-always',
  'answer-project',
  'answer-similar',
  'answer-no',
  'answer-reason',
  'answer-text',
  'answer-edit',
  'answer-cancel',
  'answer-mode',
  'answer-mode-user',
  'option-1',
  'option-2',
  'option-3',
  'option-4',
] as const satisfies readonly Action[];

/** Notes which question is on the screen, and since when. `isDirect`: answer keys act without the focus. */
export function showQuestion(
  state: AppState,
  { isDirect, now }: { readonly isDirect: boolean; readonly now: number },
): AppState {
  const { tree, question, shownQuestion, answersAlike } = state;
  const [oldest] = tree.questions.keys();
  const id = question !== null && tree.questions.has(question) ? question : oldest;
  const isAlike = answersAlike !== null;
  const isUnchanged =
    id === shownQuestion?.id &&
    isDirect === shownQuestion?.isDirect &&
    isAlike === shownQuestion?.isAlike;
  if (isUnchanged) return state;
  if (id === undefined) return { ...state, shownQuestion: null };
  const isNew = id !== shownQuestion?.id;
  const isReplaced = shownQuestion !== null && shownQuestion.id !== id;
  const replacedAt = isReplaced ? now : (shownQuestion?.replacedAt ?? null);
  // The mark of another question must not answer this one. A question that gets the focus starts without a mark.
  const chosenAnswer = isNew && state.focus !== 'question' ? null : state.chosenAnswer;
  const shown = { id, isDirect, isAlike, since: now, replacedAt };
  return { ...state, chosenAnswer, shownQuestion: shown };
}

/** The times that decide whether a key may answer a question without the focus, in milliseconds of one clock. */
interface KeyTimes {
  readonly pressedAt: number;
  /** The time since when the question is on the screen. */
  readonly shownSince: number;
  /** The time when the text in the editor changed last. */
  readonly typedAt: number;
}

/** Whether the user has had the time to see a question before pressing a key, and was not typing meanwhile. */
function isUnhurried({ pressedAt, shownSince, typedAt }: KeyTimes): boolean {
  return pressedAt - Math.max(shownSince, typedAt) >= UNHURRIED_MS;
}

/** Returns the question that a key at this time may answer without the focus. */
function answerableAt(state: AppState, pressedAt: number): PendingQuestion | undefined {
  const question = directQuestion(state);
  const { shownQuestion, typed, typedAt } = state;
  if (question === undefined || typed !== '') return undefined;
  if (shownQuestion?.id !== question.id || !shownQuestion.isDirect) return undefined;
  return isUnhurried({ pressedAt, shownSince: shownQuestion.since, typedAt })
    ? question
    : undefined;
}

/** Returns the id of the question of an edit that a key at this time accepts with all later edits; null if there is none. */
export function findEditQuestion(state: AppState, pressedAt: number): string | null {
  const isFocused = state.focus === 'question';
  if (isFocused && isTooEarly(state, pressedAt)) return null;
  const question = isFocused ? focusedQuestion(state) : answerableAt(state, pressedAt);
  return question?.kind === 'permission' && question.offersEdits === true ? question.id : null;
}

/**
 * Handles a key that goes to the editor. If it could answer the question on the screen, it is held: it is an answer once
 * no further key has followed for a moment. Otherwise a message that begins with such a letter would be an answer. Two
 * keys are held if the first one extends the answer to all similar questions.
 */
export function holdAnswer(
  state: AppState,
  { key, at }: { readonly key?: string; readonly at?: number },
  context: UpdateContext,
): Update {
  const free: AppState = { ...state, heldAnswer: null };
  if (key === undefined || at === undefined) return next(free);
  const action = findAnswerAction(key, context.bindings);
  const held = action === undefined ? null : extendHeld(state, action, { key, at });
  if (held === null || !isAnswer(giveAnswer(free, held, context))) return next(free);
  return next(
    { ...free, heldAnswer: held },
    { type: 'dispatch-later', message: { type: 'answer-settled', at }, ms: ANSWER_PAUSE_MS },
  );
}

function findAnswerAction(key: string, bindings: Bindings): Action | undefined {
  return isText(key) ? ANSWER_ACTIONS.find((each) => bindings[each].keys.includes(key)) : undefined;
}

function extendHeld(
  state: AppState,
  action: Action,
  { key, at }: { readonly key: string; readonly at: number },
): HeldAnswer | null {
  const letter = key.startsWith('shift+') ? key.slice('shift+'.length).toUpperCase() : key;
  const before = state.heldAnswer;
  const isContinued =
    before !== null &&
    before.text === state.typed &&
    before.actions.length === 1 &&
    before.actions[0] === 'answer-similar';
  if (isContinued) {
    const question = directQuestion(state);
    if (question?.id !== before.question) return null;
    // What the user has not seen is shown first, and only the next key answers.
    const actions = hasUnseenText(question, similarQuestions(state, question))
      ? before.actions
      : [...before.actions, action];
    return { ...before, actions, text: before.text + letter, at };
  }
  const question = answerableAt(state, at);
  return question === undefined
    ? null
    : {
        question: question.id,
        actions: [action],
        similar: new Set(similarQuestions(state, question).map(({ id }) => id)),
        text: letter,
        at,
      };
}

/** The handlers of keys that choose an answer without the focus. A message that is typed answers the question as well. */
export const DIRECT_CHOICES = {
  'ask-up': (state, context) => chooseDirectly(state, -1, context),
  'ask-down': (state, context) => chooseDirectly(state, 1, context),
} as const satisfies ActionHandlers;

/** Marks another answer of the question on the screen, once the user has had the time to see the question. */
function chooseDirectly(state: AppState, by: Direction, context: UpdateContext): Update {
  const question = answerableAt(state, context.now());
  return next(hasOptions(question) ? markAnswer(state, question, { by, context }) : state);
}

/** The time in which a second Enter answers a question, in milliseconds. */
const SECOND_ENTER_MS = 5_000;

/**
 * Handles Enter in an empty editor while a question waits. It gives the answer that the arrow keys have marked. Otherwise
 * it only says which keys answer, because it is pressed too
 * easily; pressed again, but not at once, it allows a call or approves a plan. All of the question must have been in view
 * since the first time, and no other key may have been pressed.
 */
export function pressEnter(
  state: AppState,
  question: PendingQuestion,
  context: UpdateContext,
): Update {
  const { bindings, now } = context;
  const at = now();
  const isAnswerable = answerableAt(state, at)?.id === question.id;
  if (isAnswerable && question.kind === 'input' && state.chosenAnswer !== null) {
    const handlers: ActionHandlers = QUESTION_ACTIONS;
    const focused = giveFocus(state, question.id);
    return handlers[state.chosenAnswer]?.(focused, context, null) ?? next(state);
  }
  const isReady =
    isAnswerable && question.kind !== 'input' && keysOf(bindings, 'answer-once').length > 0;
  if (!isReady) return hint({ ...state, enterAnswers: null }, answerHint(question, bindings));
  const first = state.enterAnswers;
  const { shownQuestion } = state;
  const isSecond =
    first?.question === question.id &&
    shownQuestion !== null &&
    shownQuestion.since <= first.at &&
    at - first.at >= UNHURRIED_MS &&
    at - first.at <= SECOND_ENTER_MS;
  if (isSecond) {
    const focused = giveFocus({ ...state, enterAnswers: null }, question.id);
    return QUESTION_ACTIONS['answer-once'](focused, context, null);
  }
  // A press that comes too soon after the first one starts the time again.
  const armed: AppState = { ...state, enterAnswers: { question: question.id, at } };
  const [enter = ''] = keysOf(bindings, 'send');
  const no = keyHint(bindings, 'answer-no', 'refuses it');
  const words = question.kind === 'plan' ? 'approves the plan' : 'allows it once';
  return hint(armed, [`${enter} again ${words}`, ...no].join(', '));
}

/** Drops the held keys if the user types something else. */
export function dropHeldAnswer(state: AppState): AppState {
  const { heldAnswer, typed } = state;
  return heldAnswer === null || heldAnswer.text === typed ? state : { ...state, heldAnswer: null };
}

/** Gives the answer of the held keys, unless the user has gone on typing or the question has been settled meanwhile. */
export function settleAnswer(state: AppState, at: number, context: UpdateContext): Update {
  const { heldAnswer, typed } = state;
  if (heldAnswer?.at !== at) return next(state);
  const free: AppState = { ...state, heldAnswer: null };
  if (typed !== heldAnswer.text || directQuestion(state)?.id !== heldAnswer.question) {
    return next(free);
  }
  return andThen(setEditorText(free, ''), (empty) => giveAnswer(empty, heldAnswer, context));
}

function giveAnswer(
  state: AppState,
  { question, actions, similar }: HeldAnswer,
  context: UpdateContext,
): Update {
  const handlers: ActionHandlers = QUESTION_ACTIONS;
  return actions.reduce(
    (update, action) =>
      andThen(
        update,
        (current) =>
          handlers[action]?.(limitAlike(current, similar), context, null) ?? next(current),
      ),
    next({ ...giveFocus(state, question), questionFocusedAt: context.now() }),
  );
}

/** Limits the questions that the next answer answers to those that were asked when the first key was pressed. */
function limitAlike(state: AppState, similar: ReadonlySet<string>): AppState {
  const { answersAlike } = state;
  if (answersAlike === null) return state;
  return { ...state, answersAlike: new Set([...answersAlike].filter((id) => similar.has(id))) };
}

/** Whether an action has done anything that this question offers. */
function isAnswer({ state, effects }: Update): boolean {
  return effects.length > 0 || state.writing.kind !== 'message' || state.answersAlike !== null;
}
