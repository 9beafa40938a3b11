import { plural } from '../../../base/text.ts';
import type { AppState } from '../model/app-state.ts';
import { emptyTree, hasWork } from '../model/task-tree.ts';
import {
  type UpdateContext,
  andThen,
  hint,
  next,
  setEditorText,
  type UiEffect,
  type Update,
  addNote,
  editTree,
  askConfirmation,
  dispatchNote,
} from './step.ts';
import type { UiMessage } from './message.ts';
import { closePicker, pickMessage } from './open-picker.ts';
import { eventBefore } from './picker-items.ts';
import type { RewindScope } from '../../../api/index.ts';
import type { PickerItem } from '../model/picker.ts';
import { closeTask } from './tasks.ts';
import { describeUndo } from '../../../report/rewind-lines.ts';

type RewindPlanned = Extract<UiMessage, { type: 'rewind-planned' }>;
type Rewound = Extract<UiMessage, { type: 'rewound' }>;

/**
 * `/undo`: returns to before a message of the user. Without an argument, the screen lists the messages, and plain lines
 * take the last message. The argument is the number of messages to take back, and `files` or `conversation` if only
 * these go back.
 */
export function undo(state: AppState, argument: string): Update {
  return whenIdle(state, (conversation) => {
    if (argument === '' && state.surface === 'screen') return pickMessage(state, conversation);
    const match = UNDO_ARGUMENT.exec(argument);
    if (match === null)
      return hint(state, 'type /undo, /undo 2, /undo files or /undo conversation');
    const [, digits = '1', word] = match;
    const target = { prompt: null, back: Number(digits), only: toScope(word) };
    return next(state, { type: 'plan-rewind', conversation, isRedo: false, ...target });
  });
}

const UNDO_ARGUMENT = /^(?:([1-9]\d{0,3})(?:\s+|$))?(files|conversation|both)?$/;

function toScope(word: string | undefined): RewindScope | null {
  return word === 'files' || word === 'conversation' ? word : null;
}

/** `/redo`: takes back the last undo. */
export function redo(state: AppState): Update {
  const target = { isRedo: true, prompt: null, back: 0, only: null };
  return whenIdle(state, (conversation) =>
    next(state, { type: 'plan-rewind', conversation, ...target }),
  );
}

/** Plans to return to before the message that the user has chosen. `scope` is the id of the chosen row. */
export function planUndo(state: AppState, message: PickerItem, scope: string): Update {
  const prompt = { text: message.text ?? '', before: eventBefore(message) };
  const only = toScope(scope);
  return whenIdle(state, (conversation) =>
    next(state, { type: 'plan-rewind', conversation, isRedo: false, prompt, back: 0, only }),
  );
}

/** Shows what the undo would do and asks for a confirmation. */
export function showRewindPlan(
  state: AppState,
  { plan, prompt }: RewindPlanned,
  { library, now }: UpdateContext,
): Update {
  if (plan.isThere) {
    const nothing =
      plan.only === 'files' ? 'no file was changed since then' : 'there is nothing to undo';
    return hint(state, nothing);
  }
  const lines = describeUndo(plan, library.cwd);
  if (plan.refused.length > 0) return next(addNote(state, 'warning', lines.join('\n')));
  const quoted = prompt === null ? [] : [`> ${prompt.text.split('\n')[0] ?? ''}`];
  const asked = askConfirmation(state, {
    kind: 'confirm',
    id: 'undo',
    task: '',
    title: prompt === null ? 'redo what was undone?' : UNDO_TITLES[plan.only ?? 'both'],
    lines: [...quoted, ...lines],
  });
  const pending = { pendingRewind: { plan, prompt }, pendingLanding: null };
  return next({ ...asked, ...pending, questionFocusedAt: now() });
}

const UNDO_TITLES = {
  both: 'go back to before this message?',
  conversation: 'go back to before this message, and keep the files?',
  files: 'put the files back to before this message?',
} as const;

/** Carries out the planned undo or redo if the user agreed and no task has started to work since. */
export function answerRewind(state: AppState, isYes: boolean): Update {
  const { pendingRewind } = state;
  if (pendingRewind === null) return next(state);
  const answered: AppState = { ...state, pendingRewind: null };
  if (!isYes) return hint(answered, 'nothing was changed');
  return whenIdle(answered, () => next(answered, { type: 'rewind', ...pendingRewind }));
}

/** Shows the conversation after an undo or a redo. The message that an undo took back returns to the editor. */
export function showRewound(state: AppState, { files, skipped, prompt, only }: Rewound): Update {
  const { id } = state.conversation;
  const isEmpty = prompt?.before === null && only !== 'files';
  const again = prompt === null ? '' : '; /redo reverts that';
  const done =
    only === 'conversation' ? 'went back; all files stay' : `${plural(files, 'file')} put back`;
  const notes = [
    dispatchNote('info', `${done}${again}`),
    ...skipped.map((each) => dispatchNote('warning', `not ${each}`)),
  ];
  // The conversation stays as it is.
  if (only === 'files') return next(state, ...notes);
  const restart: readonly UiEffect[] = isEmpty ? [{ type: 'start-new-conversation' }] : [];
  if (state.surface === 'lines') {
    // Written lines stay in the terminal, so the conversation is not written again.
    const taken = prompt === null ? [] : [dispatchNote('info', `taken back: ${prompt.text}`)];
    return next(state, ...restart, ...taken, ...notes);
  }
  const reload: readonly UiEffect[] =
    isEmpty || id === null ? restart : [{ type: 'load-conversation', id }];
  return andThen(andThen(closePicker(state), closeTask), (closed) => {
    const emptied = editTree(closed, emptyTree);
    const hasDraft = emptied.typed !== '';
    const restored =
      prompt === null || hasDraft ? next(emptied) : setEditorText(emptied, prompt.text);
    return andThen(restored, (shown) => next(shown, ...reload, ...notes));
  });
}

/** Calls `step` if there is a conversation and no task of it is at work. Otherwise shows a hint with the reason. */
function whenIdle(state: AppState, step: (conversation: string) => Update): Update {
  const { id, isAtWork: isRunning, isSending } = state.conversation;
  if (isRunning || isSending || hasWork(state.tree)) {
    return hint(state, 'the conversation is at work: stop it first');
  }
  return id === null ? hint(state, 'there is no conversation yet') : step(id);
}
