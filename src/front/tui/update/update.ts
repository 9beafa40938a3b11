import type { AppState, Focus, TerminalSize } from '../model/app-state.ts';
import { applySignalToTree, hasWork, openTranscript } from '../model/task-tree.ts';
import { updateShell } from '../model/call-entries.ts';
import { frameLayout, paneHeightOf } from '../view/frame.ts';
import { newHintsAbout } from '../view/hints.ts';
import {
  type UpdateContext,
  andThen,
  hint,
  next,
  setEditorText,
  type Update,
  addNote,
  countHints,
  editTree,
  expireArmed,
  leaveSettledQuestion,
  type ActionHandler,
  type ActionHandlers,
} from './step.ts';
import { restart, showDialog, typeIntoDialog } from './dialogs.ts';
import {
  offerConversations,
  openFound,
  findEarlier,
  showChosenModel,
  showEarlier,
} from './commands/conversations.ts';
import { receiveServers } from './commands/mcp.ts';
import { showPage } from './commands/pages.ts';
import { receiveRules } from './commands/permissions.ts';
import type { UiMessage } from './message.ts';
import { IN_PAGER, PAGER_ACTIONS, scrollPager, showDocument } from './pager.ts';
import {
  receiveEvent,
  receiveFoundTask,
  readStatus,
  showLoaded,
  receiveFormerContent,
  receiveStatus,
} from './task-events.ts';
import {
  acceptAnswer,
  confirm,
  rejectAnswer,
  sendAnswer,
  QUESTION_ACTIONS,
  QUESTION_SCROLL_ACTIONS,
} from './questions.ts';
import { receiveLandings, showLandingPlan } from './landing.ts';
import { MODE_ACTIONS, settleMode } from './modes.ts';
import {
  DIRECT_CHOICES,
  dropHeldAnswer,
  holdAnswer,
  settleAnswer,
  showQuestion,
} from './direct-answer.ts';
import { readProposal, receiveProposal } from './proposal.ts';
import { showRewindPlan, showRewound } from './rewind.ts';
import { chooseEntry, scroll, receiveEntries, SCROLL_ACTIONS } from './scroll.ts';
import { goToMatch, searchTyped, stepSearch, SEARCH_ACTIONS } from './search.ts';
import { runSlashCommand, submit, takeEditedText } from './submit.ts';
import { closePicker } from './open-picker.ts';
import { receiveSetting } from './settings.ts';
import {
  fillPicker,
  IN_PICKER,
  moveBy,
  settlePicker,
  showPreview,
  typeInPicker,
  PICKER_ACTIONS,
} from './picker.ts';
import { restoreMessages, TASK_ACTIONS, TREE_SCROLL_ACTIONS } from './tasks.ts';
import { isEditingAction, type OwnAction } from '../model/key-bindings.ts';
import { isInScope } from './key-action.ts';

/**
 * Returns the next state after a message, and the effects of the message. The function is pure: it changes no state in
 * place and carries out no effect. The files in this folder contain the handlers.
 */
export function update(state: AppState, message: UiMessage, context: UpdateContext): Update {
  switch (message.type) {
    case 'key-pressed':
      return pressKey(state, message, context);
    case 'answer-settled':
      return settleAnswer(state, message.at, context);
    case 'mode-settled':
      return state.pendingMode?.at === message.at ? settleMode(state) : next(state);
    case 'typed': {
      const { text } = message;
      const typed: AppState = {
        ...state,
        typed: text,
        // Enter reports the empty text of an empty editor once more.
        typedAt: text === state.typed ? state.typedAt : context.now(),
        typedUnder: state.typed === '' ? (state.shownQuestion?.id ?? null) : state.typedUnder,
      };
      return andThen(next(searchTyped(dropHeldAnswer(typed), text)), (searched) =>
        typeInPicker(searched, text),
      );
    }
    case 'submitted':
      return submit(state, message.text, context);
    case 'run-command':
      return runSlashCommand(state, message, context);
    case 'frame':
      return settleFrame(state, message.size, context);
    case 'scroll':
      if (state.picker !== null) return moveBy(state, message.lines);
      return state.pager === null
        ? scroll(state, message, context)
        : scrollPager(state, message.lines, context);
    case 'choose-entry':
      return chooseEntry(state, message, context);
    case 'go-to-match':
      return next(goToMatch(state, message.key, message.by, context));
    case 'entries-read':
      return update(receiveEntries(state, message), message.next, context);
    case 'log-searched': {
      const { key, matches, by } = message;
      return stepSearch({ ...state, searchedLog: { key, matches } }, by, context);
    }
    case 'task-event':
      return receiveEvent(state, message.event, message.task, context);
    case 'task-signal': {
      const { signal } = message;
      return next(editTree(state, (tree) => applySignalToTree(tree, signal), signal.task));
    }
    case 'task-found':
      return receiveFoundTask(state, message);
    case 'tasks-passed-over': {
      const { tree } = state;
      return next({ ...state, tree: { ...tree, droppedRows: tree.droppedRows + message.count } });
    }
    case 'task-opened': {
      const { task: openTask, transcript } = message;
      const shown = editTree(state, (tree) => openTranscript(tree, transcript));
      return next({ ...shown, openTask });
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
    case 'picker-filled':
      return fillPicker(state, message);
    case 'setting-changed':
    case 'setting-refused':
      return receiveSetting(state, message);
    case 'preview-read':
      return next(showPreview(state, message));
    case 'pager-opened':
      return showDocument(state, message.document);
    case 'conversation-changed':
      return next({ ...state, conversation: { ...state.conversation, ...message.status } });
    case 'servers-changed':
    case 'servers-awaited':
      return receiveServers(state, message, context);
    case 'conversation-idle':
      // Nothing is left to stop, but a prepared end of the session stays prepared.
      return andThen(
        next(state.armed === 'leave' ? state : { ...state, armed: null, hint: null }),
        readStatus,
      );
    case 'read-status':
      return readStatus(state);
    case 'started': {
      const { firstMessage, dialogs: laterDialogs, isNew } = message;
      const begun: AppState = { ...state, firstMessage, laterDialogs };
      return andThen(isNew ? findEarlier(begun) : next(begun), (found) => showDialog(found, null));
    }
    case 'earlier-found':
      return next(showEarlier(state, message));
    case 'branch-read':
    case 'context-window-read':
      return next(receiveStatus(state, message));
    case 'conversation-found':
      return openFound(state, message.found);
    case 'conversation-missing':
      return offerConversations(state, message.problem);
    case 'conversation-loaded':
      return showLoaded(state, message);
    case 'armed-expired':
      return expireArmed(state);
    case 'messages-withdrawn':
      return restoreMessages(state, message.texts);
    case 'rules-read':
    case 'new-rules':
    case 'rules-taken':
      return receiveRules(state, message, context);
    case 'mode-taken':
      // The user may have chosen another mode in the meantime, which stays chosen.
      return next(state.chosenMode === message.mode ? { ...state, chosenMode: null } : state);
    case 'model-set':
      return next(showChosenModel(state, message.name));
    case 'send-failed':
      return andThen(closePicker(state), (closed) =>
        andThen(hint(closed, message.reason), (hinted) => setEditorText(hinted, message.text)),
      );
    case 'dialog':
      return showDialog(state, message.dialog);
    case 'dialog-typed':
      return typeIntoDialog(state, message.input);
    case 'restart-wanted':
      return restart(state, message.done);
    case 'restarted': {
      const noted = addNote(state, 'info', message.done);
      const { mode: chosenMode, rules: newRules, typed } = message;
      return setEditorText({ ...noted, chosenMode, newRules }, typed);
    }
    case 'text-edited':
      return takeEditedText(state, message, context);
    case 'answer':
      return sendAnswer(state, message);
    case 'answer-accepted':
      return acceptAnswer(state, message.question);
    case 'answer-rejected':
      return rejectAnswer(state, message.reason, message.typed);
    case 'confirmed':
      return confirm(state, message.isYes);
    case 'rewind-planned':
      return showRewindPlan(state, message, context);
    case 'landing-planned':
      return showLandingPlan(state, message, context);
    case 'landings-read':
      return next(receiveLandings(state, message));
    case 'rewound':
      return showRewound(state, message);
    case 'former-content-read':
      return next(receiveFormerContent(state, message));
    case 'proposal-read':
      return next(receiveProposal(state, message));
    case 'sandbox-checked':
      return next({ ...state, sandbox: message.sandbox });
    case 'shell-output':
      return andThen(
        next({
          ...editTree(state, ({ main }) => updateShell(main, message.key, message.change)),
          isShellRunning: message.change.outcome === null,
        }),
        // The command may have checked out another branch.
        (shown) => (message.change.outcome === null ? next(shown) : readStatus(shown)),
      );
    default:
      return message satisfies never;
  }
}

/** Updates the parts of the state that depend on the size of the terminal. Takes the focus from a question that somebody else has settled. */
function settleFrame(state: AppState, size: TerminalSize, context: UpdateContext): Update {
  return andThen(leaveSettledQuestion(state), (left) => {
    const sized: AppState = settlePicker({ ...left, size }, context);
    const settled: AppState = { ...sized, paneHeight: paneHeightOf(sized, hasWork(sized.tree)) };
    const { scroll: questionScroll, isDirect } = frameLayout(settled, context).question;
    const shown = showQuestion({ ...settled, questionScroll }, { isDirect, now: context.now() });
    return readProposal(shown);
  });
}

/**
 * The handlers of all actions. To add an action, add a row to `key-bindings.ts` and a handler to one of these tables.
 * The compiler reports an action without a handler.
 */
const HANDLERS: Readonly<Record<OwnAction, ActionHandler>> = {
  ...PAGER_ACTIONS,
  ...QUESTION_ACTIONS,
  ...MODE_ACTIONS,
  ...SCROLL_ACTIONS,
  ...SEARCH_ACTIONS,
  ...PICKER_ACTIONS,
  ...TASK_ACTIONS,
  'paste-image': (state) => next(state, { type: 'paste-image' }),
  redraw: (state) => next(state, { type: 'redraw' }),
  suspend: (state) => next(state, { type: 'suspend' }),
  'edit-in-editor': (state) => next(state, { type: 'edit-text', text: null }),
  // The editor itself sends the text and breaks lines.
  send: (state) => next(state),
  'new-line': (state) => next(state),
};

type PressedKey = Extract<UiMessage, { type: 'key-pressed' }>;

/**
 * Handles a key. Every key but a paste removes the hint and the action that the previous key had prepared, and every key
 * but the one that goes on to another mode settles the chosen mode.
 */
function pressKey(state: AppState, pressed: PressedKey, context: UpdateContext): Update {
  const { meaning } = pressed;
  if (meaning === 'paste-image') return HANDLERS[meaning](state, context, state.armed);
  const settled = meaning === 'cycle-mode' ? next(state) : settleMode(state);
  return andThen(settled, (current) => {
    const isEnter = context.bindings.send.keys.includes(pressed.key ?? '');
    const enterAnswers = isEnter ? current.enterAnswers : null;
    const cleared: AppState = { ...current, hint: null, armed: null, enterAnswers };
    if (meaning === 'editor') return holdAnswer(cleared, pressed, context);
    if (meaning === 'nothing' || isEditingAction(meaning)) return next(cleared);
    if (!isInScope(meaning, state)) return next(cleared);
    return andThen(
      countHints(cleared, newHintsAbout(meaning, state, context.bindings)),
      (counted) => handlerOf(meaning, state)(counted, context, state.armed),
    );
  });
}

/** The handlers of keys that do something else while a part of the screen has the focus, such as scrolling that part. */
const HANDLERS_IN: Readonly<Partial<Record<Focus, ActionHandlers>>> = {
  editor: DIRECT_CHOICES,
  question: QUESTION_SCROLL_ACTIONS,
  tasks: TREE_SCROLL_ACTIONS,
  pager: IN_PAGER,
  picker: IN_PICKER,
};

function handlerOf(action: OwnAction, { focus }: AppState): ActionHandler {
  return HANDLERS_IN[focus]?.[action] ?? HANDLERS[action];
}
