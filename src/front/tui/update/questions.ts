import type { QuestionAnswer } from '../../../api/index.ts';
import type { AppState, Writing } from '../model/app-state.ts';
import { frameLayout } from '../view/frame.ts';
import {
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
import { answerRewind } from './rewind.ts';

type WithoutQuestion = Omit<QuestionAnswer, 'question'>;

/**
 * The handlers of the keys of the focused question. After each answer the editor gets the keys again, because a key that
 * is pressed once too often must not answer the next question, which is then shown instead.
 */
export const QUESTION_ACTIONS = {
  'focus-question': focusQuestion,
  'ask-up': (state) => scrollQuestion(state, -1),
  'ask-down': (state) => scrollQuestion(state, 1),
  'answer-once': (state) => giveVerdict(state, 'yes'),
  'answer-always': (state) => giveVerdict(state, 'always'),
  'answer-no': (state) => giveVerdict(state, 'no'),
  'answer-mode': (state) => grantMode(state, 'task'),
  'answer-mode-user': (state) => grantMode(state, 'user'),
  'answer-reason': (state) => {
    const kind = focusedQuestion(state)?.kind;
    return kind === 'permission' || kind === 'plan' ? write(state, 'reason') : next(state);
  },
  'answer-text': (state) =>
    focusedQuestion(state)?.kind === 'input' ? write(state, 'answer') : next(state),
  'answer-edit': (state) => {
    const question = focusedQuestion(state);
    return question?.kind === 'plan' ? write(state, 'plan', question.text) : next(state);
  },
  'option-1': (state) => chooseOption(state, 1),
  'option-2': (state) => chooseOption(state, 2),
  'option-3': (state) => chooseOption(state, 3),
  'option-4': (state) => chooseOption(state, 4),
} as const satisfies ActionHandlers;

/** The handlers of keys that scroll the question while it has the focus; otherwise these keys scroll the conversation. */
export const QUESTION_SCROLL_ACTIONS = {
  'page-up': (state, context) => scrollQuestion(state, -questionPage(state, context)),
  'page-down': (state, context) => scrollQuestion(state, questionPage(state, context)),
  'to-end': (state) => scrollQuestion(state, Infinity),
} as const satisfies ActionHandlers;

function focusQuestion(state: AppState): Update {
  const [oldest] = state.tree.questions.keys();
  if (oldest === undefined || state.writing.kind !== 'message') return next(state);
  return next({ ...state, focus: 'question', question: oldest, questionScroll: 0 });
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
  return send(state, question.id, typedAnswer(kind, text), text);
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
  if (question.kind !== 'confirm') return send(state, question.id, { text });
  return text === 'always' ? next(state) : confirm(state, text === 'yes');
}

/** Answers the question that the UI itself has asked. */
export function confirm(state: AppState, isYes: boolean): Update {
  const settled = editTree(state, ({ questions }) => {
    for (const { id, kind } of questions.values()) if (kind === 'confirm') questions.delete(id);
  });
  return andThen(leaveQuestion(settled), (left) => answerRewind(left, isYes));
}

/** Grants the mode that the agent lacks, if the question offers that. */
function grantMode(state: AppState, scope: 'task' | 'user'): Update {
  const question = focusedQuestion(state);
  if (question?.kind !== 'permission') return next(state);
  if (question.modeToGrant?.scopes.includes(scope) !== true) return next(state);
  return send(state, question.id, { text: 'mode', scope });
}

function chooseOption(state: AppState, number: number): Update {
  const question = focusedQuestion(state);
  if (question?.kind !== 'input' || number > question.options.length) return next(state);
  return send(state, question.id, { text: String(number) });
}

function send(
  state: AppState,
  question: string,
  answer: WithoutQuestion,
  typed: string | null = null,
): Update {
  return next(state, { type: 'answer-question', answer: { question, ...answer }, typed });
}

function questionPage(state: AppState, context: UpdateContext): number {
  return Math.max(1, frameLayout(state, context).question.shown - 1);
}

/** Scrolls the question. The limit at the end depends on the drawn lines, so the next frame applies it. */
function scrollQuestion(state: AppState, lines: number): Update {
  return next({ ...state, questionScroll: Math.max(0, state.questionScroll + lines) });
}
