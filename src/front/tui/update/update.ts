import { transcriptInView, type AppState, type TerminalSize } from '../model/app-state.ts';
import {
  applySignalToTree,
  applyToTree,
  attentionText,
  beginTree,
  placeTask,
  hasWork,
} from '../model/task-tree.ts';
import { updateShell } from '../model/transcript.ts';
import { frameLayout, paneHeightOf } from '../view/frame.ts';
import {
  type UpdateContext,
  andThen,
  hint,
  next,
  setEditorText,
  type Update,
  addNote,
  editTree,
  leaveSettledQuestion,
  type ActionHandler,
} from './step.ts';
import { restart, showDialog, typeIntoDialog } from './dialogs.ts';
import { openFound } from './commands/conversations.ts';
import { showPage } from './commands/pages.ts';
import type { UiMessage } from './message.ts';
import {
  acceptAnswer,
  confirm,
  rejectAnswer,
  QUESTION_ACTIONS,
  QUESTION_SCROLL_ACTIONS,
} from './questions.ts';
import { showRewindPlan, showRewound } from './rewind.ts';
import { chooseEntry, scroll, withEarlierEntries, SCROLL_ACTIONS } from './scroll.ts';
import { goToMatch, searchTyped, stepSearch, SEARCH_ACTIONS } from './search.ts';
import { runSlashCommand, submit } from './submit.ts';
import { TASK_ACTIONS } from './tasks.ts';
import type { TaskEvent } from '../../../protocol/events/event.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import {
  DEFAULT_BINDINGS,
  isEditingAction,
  type Action,
  type OwnAction,
} from '../model/key-bindings.ts';
import { keyFocus, type KeyMeaning } from './key-action.ts';

/**
 * Returns the next state after a message, and the effects of the message. The function is pure: it changes no state in
 * place and carries out no effect. The files in this folder contain the handlers.
 */
export function update(state: AppState, message: UiMessage, context: UpdateContext): Update {
  switch (message.type) {
    case 'key-pressed':
      return pressKey(state, message.meaning, context);
    case 'typed':
      return next(searchTyped({ ...state, typed: message.text }, message.text));
    case 'submitted':
      return submit(state, message.text, context);
    case 'run-command':
      return runSlashCommand(state, message, context);
    case 'frame':
      return settleFrame(state, message.size, context);
    case 'scroll':
      return scroll(state, message, context);
    case 'choose-entry':
      return chooseEntry(state, message, context);
    case 'go-to-match':
      return next(goToMatch(state, message.key, message.by, context));
    case 'entries-read':
      return update(withEntries(state, message), message.next, context);
    case 'log-searched': {
      const { key, matches, by } = message;
      return stepSearch({ ...state, searchedLog: { key, matches } }, by, context);
    }
    case 'task-event':
      return applyEvent(state, message.event, message.task);
    case 'task-signal': {
      const { signal } = message;
      return next(editTree(state, (tree) => applySignalToTree(tree, signal), signal.task));
    }
    case 'task-found':
      return next(editTree(state, (tree) => placeTask(tree, message.task, message)));
    case 'tasks-passed-over': {
      const { tree } = state;
      return next({ ...state, tree: { ...tree, droppedRows: tree.droppedRows + message.count } });
    }
    case 'task-opened': {
      const { task: openTask, transcript: opened } = message;
      return next({ ...state, openTask, tree: { ...state.tree, opened } });
    }
    case 'hint':
      return hint(state, message.text);
    case 'note':
      return next(addNote(state, message.level, message.text));
    case 'request-failed': {
      // An open task hides the note.
      const noted = addNote(state, 'error', message.text);
      return state.openTask === null ? next(noted) : hint(noted, message.text);
    }
    case 'page':
      return showPage(state, message, context);
    case 'conversation-changed':
      return next({ ...state, conversation: { ...state.conversation, ...message.status } });
    case 'conversation-idle':
      return next({ ...state, hint: null });
    case 'conversation-found':
      return openFound(state, message.found);
    case 'conversation-loaded':
      return next(
        editTree({ ...state, tree: { ...state.tree, main: message.main } }, (tree) =>
          beginTree(tree, message.id),
        ),
      );
    case 'mode-taken':
      // The user may have chosen another mode in the meantime, which stays chosen.
      return next(state.chosenMode === message.mode ? { ...state, chosenMode: null } : state);
    case 'model-set': {
      const when = state.conversation.isAtWork
        ? 'once the current turn has ended'
        : 'from the next message on';
      return next(addNote(state, 'info', `${message.name} ${when}`));
    }
    case 'send-failed':
      return andThen(hint(state, message.reason), (hinted) => setEditorText(hinted, message.text));
    case 'dialog':
      return showDialog(state, message.dialog);
    case 'dialog-typed':
      return typeIntoDialog(state, message.input);
    case 'restart-wanted':
      return restart(state, message.done);
    case 'restarted': {
      const noted = addNote(state, 'info', message.done);
      return setEditorText({ ...noted, chosenMode: message.mode }, message.typed);
    }
    case 'started': {
      const { firstMessage, dialogs: laterDialogs } = message;
      return showDialog({ ...state, firstMessage, laterDialogs }, null);
    }
    case 'text-edited':
      return takeEditedText(state, message, context);
    case 'answer':
      return next(state, { type: 'answer-question', answer: message.answer, typed: null });
    case 'answer-accepted':
      return acceptAnswer(state, message.question);
    case 'answer-rejected':
      return rejectAnswer(state, message.reason, message.typed);
    case 'confirmed':
      return confirm(state, message.isYes);
    case 'rewind-planned':
      return showRewindPlan(state, message, context);
    case 'rewound':
      return showRewound(state, message);
    case 'sandbox-checked':
      return next({ ...state, sandbox: message.sandbox });
    case 'shell-output':
      return next({
        ...editTree(state, ({ main }) => updateShell(main, message.key, message.change)),
        isShellRunning: message.change.outcome === null,
      });
    default:
      return message satisfies never;
  }
}

function applyEvent(state: AppState, event: TaskEvent, task: TaskState): Update {
  const applied = editTree(state, (tree) => applyToTree(tree, event, task), event.task);
  const text = attentionText(applied.tree, event);
  return text === null ? next(applied) : next(applied, { type: 'call-attention', text });
}

/** Puts a text from the external editor into the editor. If the question of the text is settled, a page shows the text. */
function takeEditedText(
  state: AppState,
  { text, writing }: Extract<UiMessage, { type: 'text-edited' }>,
  context: UpdateContext,
): Update {
  if (state.writing.kind === writing) return setEditorText(state, text);
  const title = 'Your text, for a question that is settled';
  return showPage(state, { title, lines: text.split('\n') }, context);
}

/** Adds entries that were read back from the log. Ignores entries of a transcript that is no longer in view. */
function withEntries(
  state: AppState,
  { task, earlier }: Extract<UiMessage, { type: 'entries-read' }>,
): AppState {
  if (earlier === null || transcriptInView(state).task !== task) return state;
  return withEarlierEntries(state, earlier);
}

/** Updates the parts of the state that depend on the size of the terminal. Takes the focus from a question that somebody else has settled. */
function settleFrame(state: AppState, size: TerminalSize, context: UpdateContext): Update {
  return andThen(leaveSettledQuestion(state), (left) => {
    const sized: AppState = { ...left, size };
    const settled: AppState = { ...sized, paneHeight: paneHeightOf(sized, hasWork(sized.tree)) };
    const { scroll: questionScroll } = frameLayout(settled, context).question;
    return next({ ...settled, questionScroll });
  });
}

/**
 * The handlers of all actions. To add an action, add a row to `key-bindings.ts` and a handler to one of these tables.
 * The compiler reports an action without a handler.
 */
const HANDLERS: Readonly<Record<OwnAction, ActionHandler>> = {
  ...QUESTION_ACTIONS,
  ...SCROLL_ACTIONS,
  ...SEARCH_ACTIONS,
  ...TASK_ACTIONS,
  'paste-image': (state) => next(state, { type: 'paste-image' }),
  redraw: (state) => next(state, { type: 'redraw' }),
  suspend: (state) => next(state, { type: 'suspend' }),
  'edit-in-editor': (state) => next(state, { type: 'edit-text', text: state.typed }),
  // The editor itself sends the text and breaks lines.
  send: (state) => next(state),
  'new-line': (state) => next(state),
};

/** Handles a key. Every key removes the hint and the action that the previous key had prepared. */
function pressKey(state: AppState, meaning: KeyMeaning, context: UpdateContext): Update {
  const cleared: AppState = { ...state, hint: null, armed: null };
  if (meaning === 'editor' || meaning === 'nothing' || isEditingAction(meaning)) {
    return next(cleared);
  }
  if (!hasScope(meaning, state)) return next(cleared);
  return handlerOf(meaning, state)(cleared, context, state.armed);
}

/** Whether the part of the screen to which an action belongs has the focus. `back` belongs to all parts. */
function hasScope(action: OwnAction, state: AppState): boolean {
  const { scope } = DEFAULT_BINDINGS[action];
  return action === 'back' || scope === 'anywhere' || scope === keyFocus(state);
}

function handlerOf(action: OwnAction, { focus }: AppState): ActionHandler {
  const scrolling: Partial<Record<Action, ActionHandler>> = QUESTION_SCROLL_ACTIONS;
  const inQuestion = focus === 'question' ? scrolling[action] : undefined;
  return inQuestion ?? HANDLERS[action];
}
