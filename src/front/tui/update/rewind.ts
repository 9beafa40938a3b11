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
import { closeTask } from './tasks.ts';
import { describeRewind } from '../../../report/rewind-lines.ts';

type RewindPlanned = Extract<UiMessage, { type: 'rewind-planned' }>;
type Rewound = Extract<UiMessage, { type: 'rewound' }>;

/**
 * Plans an undo of the last message with everything that followed from it, or a redo, which takes back the last undo.
 */
export function startRewind(state: AppState, isRedo: boolean): Update {
  return whenIdle(state, (conversation) =>
    next(state, { type: 'plan-rewind', conversation, isRedo }),
  );
}

/** Shows what the undo would do and asks for a confirmation. */
export function showRewindPlan(
  state: AppState,
  { plan, prompt }: RewindPlanned,
  { library }: UpdateContext,
): Update {
  if (plan.isThere) return hint(state, 'there is nothing to undo');
  const lines = describeRewind(plan, library.cwd);
  if (plan.refused.length > 0) return next(addNote(state, 'warning', lines.join('\n')));
  const quoted = prompt === null ? [] : [`> ${prompt.text.split('\n')[0] ?? ''}`];
  const asked = askConfirmation(state, {
    kind: 'confirm',
    id: 'undo',
    task: '',
    title: prompt === null ? 'redo what was undone?' : 'undo the last message?',
    lines: [...quoted, ...lines],
  });
  return next({ ...asked, pendingRewind: { plan, prompt } });
}

/** Carries out the planned undo or redo if the user agreed and no task has started to work since. */
export function answerRewind(state: AppState, isYes: boolean): Update {
  const { pendingRewind } = state;
  if (pendingRewind === null) return next(state);
  const answered: AppState = { ...state, pendingRewind: null };
  if (!isYes) return hint(answered, 'nothing was changed');
  return whenIdle(answered, () => next(answered, { type: 'rewind', ...pendingRewind }));
}

/** Shows the conversation after an undo or a redo. The message that an undo took back returns to the editor. */
export function showRewound(state: AppState, { files, skipped, prompt }: Rewound): Update {
  const { id } = state.conversation;
  const isEmpty = prompt?.before === null;
  const again = prompt === null ? '' : '; /redo reverts that';
  const notes = [
    dispatchNote('info', `${plural(files, 'file')} put back${again}`),
    ...skipped.map((each) => dispatchNote('warning', `not ${each}`)),
  ];
  const restart: readonly UiEffect[] = isEmpty ? [{ type: 'start-new-conversation' }] : [];
  if (state.surface === 'lines') {
    // Written lines stay in the terminal, so the conversation is not written again.
    const taken = prompt === null ? [] : [dispatchNote('info', `taken back: ${prompt.text}`)];
    return next(state, ...restart, ...taken, ...notes);
  }
  const reload: readonly UiEffect[] =
    isEmpty || id === null ? restart : [{ type: 'load-conversation', id }];
  return andThen(closeTask(state), (closed) => {
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
