import type { AppState } from '../model/app-state.ts';
import {
  shownOptions,
  takesFilter,
  TypedSecret,
  type ChoiceDialog,
  type Dialog,
  type DialogInput,
  type TextDialog,
} from '../model/dialog.ts';
import { pickSetting } from './open-picker.ts';
import { hasWork } from '../model/task-tree.ts';
import { addNote, andThen, hint, next, type Update } from './step.ts';

/** The number of lines that one press of a page key scrolls. */
const PAGE_LINES = 8;

/** Opens a dialog, or closes it with null. Then the next dialog opens, or the message that waited for the dialogs is sent. */
export function showDialog(state: AppState, dialog: Dialog | null): Update {
  const { firstMessage, laterDialogs } = state;
  const [subject, ...rest] = laterDialogs;
  if (dialog === null && subject !== undefined) {
    const opened = { type: 'open-dialog', subject, argument: '' } as const;
    return next({ ...state, dialog, laterDialogs: rest }, opened);
  }
  if (dialog !== null || firstMessage === null) return next({ ...state, dialog });
  const send = { type: 'dispatch', message: { type: 'submitted', text: firstMessage } } as const;
  return next({ ...state, dialog, firstMessage: null }, send);
}

/** The argument for a review that the user asks for. The start leaves out a review that was postponed. */
export const WANTED = 'wanted';

/** Opens a dialog of the user's setup. In plain lines, says which command does the same. */
export function openSetup(state: AppState, subject: 'login' | 'trust', argument: string): Update {
  if (state.surface === 'screen') return next(state, { type: 'open-dialog', subject, argument });
  const command = subject === 'login' ? `muster login ${argument}`.trimEnd() : 'muster trust add';
  return hint(state, `type ${command} in another terminal, then /restart here`);
}

/** Handles a key or a text while a dialog is open. */
export function typeIntoDialog(state: AppState, input: DialogInput): Update {
  const { dialog } = state;
  if (dialog === null) return next(state);
  const { key } = input;
  if (key === 'escape' || key === 'ctrl+c') return cancel(state);
  if (dialog.kind === 'busy') return next(state);
  if (dialog.kind === 'choice') return typeIntoChoice(state, dialog, input);
  if (dialog.kind === 'text') return typeIntoText(state, dialog, input);
  const { subject, secret } = dialog;
  if (key === 'enter') {
    return secret.length === 0 ? next(state) : answer(state, subject, secret.reveal());
  }
  const typed =
    key === 'ctrl+u'
      ? new TypedSecret()
      : key === 'backspace'
        ? secret.deleteBack()
        : secret.append(input.text);
  return next({ ...state, dialog: { ...dialog, secret: typed } });
}

/** Handles a key in the line of a setting. Its title is the key of the setting. */
function typeIntoText(state: AppState, dialog: TextDialog, { key, text }: DialogInput): Update {
  if (key === 'enter') {
    const typed = dialog.text.trim();
    const value = typed === '' ? null : typed;
    return next(state, { type: 'change-setting', key: dialog.title, text: value, isListed: true });
  }
  const typed =
    key === 'ctrl+u'
      ? ''
      : key === 'backspace'
        ? Array.from(dialog.text).slice(0, -1).join('')
        : `${dialog.text}${text.replaceAll(/\s+/g, ' ')}`;
  return next({ ...state, dialog: { ...dialog, text: typed, problem: null } });
}

function typeIntoChoice(state: AppState, dialog: ChoiceDialog, { key, text }: DialogInput): Update {
  const options = shownOptions(dialog);
  const chosen = options[dialog.chosen];
  const change = (changed: Partial<ChoiceDialog>): Update =>
    next({ ...state, dialog: { ...dialog, ...changed } });
  switch (key) {
    case 'enter':
      return chosen === undefined ? next(state) : answer(state, dialog.subject, chosen.value);
    case 'up':
      return change({ chosen: Math.max(0, dialog.chosen - 1) });
    case 'down':
      return change({ chosen: Math.max(0, Math.min(options.length - 1, dialog.chosen + 1)) });
    case 'pageUp':
      return change({ scroll: Math.max(0, dialog.scroll - PAGE_LINES) });
    case 'pageDown':
      return change({ scroll: dialog.scroll + PAGE_LINES });
    case 'backspace':
      return change({ filter: dialog.filter.slice(0, -1), chosen: 0 });
    default:
  }
  if (takesFilter(dialog)) return change({ filter: dialog.filter + text, chosen: 0 });
  const numbered = /^[1-9]$/.test(text) ? options[Number(text) - 1] : undefined;
  return numbered === undefined ? next(state) : answer(state, dialog.subject, numbered.value);
}

/** Gives an answer. The dialog stays in view without taking another answer until the next dialog replaces it. */
function answer(state: AppState, subject: Dialog['subject'], text: string): Update {
  const { dialog } = state;
  if (dialog === null) return next(state);
  const { title, lines } = dialog;
  const busy: Dialog = { kind: 'busy', subject, title, lines };
  return next(
    { ...state, dialog: busy },
    { type: 'answer-dialog', subject, answer: new TypedSecret(text) },
  );
}

/**
 * Opens Muster again, so that a change of the setup applies to the next message. Nothing that is at work is cut off: the
 * user does it later then.
 */
export function restart(state: AppState, done: string): Update {
  const { isAtWork, isSending } = state.conversation;
  const isBusy = isAtWork || isSending || state.isShellRunning || hasWork(state.tree);
  if (!isBusy) return next(state, { type: 'restart', done });
  const text = `${done}. This applies after /restart, once nothing is at work`;
  return next(addNote(state, 'info', text));
}

/** Closes a dialog; returns to the list of providers if a wrong one was chosen there. */
function cancel(state: AppState): Update {
  const { dialog } = state;
  if (dialog?.kind === 'secret' && dialog.hasList) {
    const list = { type: 'open-dialog', subject: 'login', argument: '' } as const;
    return next({ ...state, dialog: null }, { type: 'cancel-dialog' }, list);
  }
  return andThen(next(state, { type: 'cancel-dialog' }), (left) =>
    andThen(showDialog(left, null), (closed) =>
      dialog?.subject === 'setting' ? pickSetting(closed, dialog.title) : next(closed),
    ),
  );
}
