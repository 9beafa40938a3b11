import type { Keybinding } from '@earendil-works/pi-tui';

/** The part of the screen that must have the focus for a key to act. */
export type KeyScope =
  | 'anywhere'
  | 'editor'
  | 'completion'
  | 'question'
  | 'tasks'
  | 'entries'
  | 'search'
  | 'picker'
  /** A text on the full screen, and the search that is typed in it. */
  | 'pager'
  | 'find';

/** The keys of one action. */
export interface ActionBinding {
  /** The keys by the names of the terminal library: `ctrl+b`, `shift+tab`, `escape`. */
  readonly keys: readonly string[];
  readonly scope: KeyScope;
  /** Set if the key works only while nothing is typed, so that it is not taken from a text. */
  readonly needsEmptyEditor?: true;
  /**
   * Set if a default key of the action gives way to the same key that the user configured for another action, so that a
   * configuration from before the action existed stays valid.
   */
  readonly givesWay?: true;
  /** The name that the terminal library's editor has for the action. Set if the editor itself handles the key. */
  readonly editorAction?: Keybinding;
  /** The line of the help; `{ACTION}` stands for the keys of another action. Absent if the key is not listed. */
  readonly help?: string;
}

/** Defines keys that the editor handles while a text is typed. */
function editing(editorAction: Keybinding, ...keys: readonly string[]): ActionBinding {
  return { keys, scope: 'editor', editorAction };
}

/** Defines keys that the editor handles while it offers completions. */
function completing(editorAction: Keybinding, ...keys: readonly string[]): ActionBinding {
  return { keys, scope: 'completion', editorAction };
}

/** Defines keys that act wherever the focus is. */
function anywhere(help: string, ...keys: readonly string[]): ActionBinding {
  return { keys, scope: 'anywhere', help };
}

/** The keys that edit the text, as in a shell, except the keys that the screen uses itself. */
const EDITING_BINDINGS = {
  'cursor-up': editing('tui.editor.cursorUp', 'up'),
  'cursor-down': editing('tui.editor.cursorDown', 'down'),
  'cursor-left': editing('tui.editor.cursorLeft', 'left'),
  'cursor-right': editing('tui.editor.cursorRight', 'right'),
  'word-left': editing('tui.editor.cursorWordLeft', 'alt+left', 'ctrl+left', 'alt+b'),
  'word-right': editing('tui.editor.cursorWordRight', 'alt+right', 'ctrl+right', 'alt+f'),
  'line-start': editing('tui.editor.cursorLineStart', 'home', 'ctrl+home', 'ctrl+a'),
  'line-end': editing('tui.editor.cursorLineEnd', 'end', 'ctrl+e'),
  'jump-forward': editing('tui.editor.jumpForward', 'ctrl+]'),
  'jump-backward': editing('tui.editor.jumpBackward', 'ctrl+alt+]'),
  'delete-back': editing('tui.editor.deleteCharBackward', 'backspace'),
  'delete-forward': editing('tui.editor.deleteCharForward', 'delete', 'ctrl+d'),
  'delete-word-back': editing('tui.editor.deleteWordBackward', 'ctrl+w', 'alt+backspace'),
  'delete-word-forward': editing('tui.editor.deleteWordForward', 'alt+d', 'alt+delete'),
  'delete-to-start': editing('tui.editor.deleteToLineStart', 'ctrl+u'),
  'delete-to-end': editing('tui.editor.deleteToLineEnd', 'ctrl+k'),
  yank: editing('tui.editor.yank', 'ctrl+y'),
  'yank-pop': editing('tui.editor.yankPop', 'alt+y'),
  'undo-typing': editing('tui.editor.undo', 'ctrl+-'),
  'history-previous': editing('tui.editor.historyPrevious'),
  'history-next': editing('tui.editor.historyNext'),
  complete: editing('tui.input.tab', 'tab'),
  'completion-up': completing('tui.select.up', 'up'),
  'completion-down': completing('tui.select.down', 'down'),
  'completion-take': completing('tui.select.confirm', 'enter'),
  'completion-close': completing('tui.select.cancel', 'escape', 'ctrl+c'),
} satisfies Readonly<Record<string, ActionBinding>>;

/** The keys of the UI. Each action has a row in this table and a handler in `update/`. */
const OWN_BINDINGS = {
  send: {
    keys: ['enter'],
    scope: 'editor',
    editorAction: 'tui.input.submit',
    help: 'send; while it works, the message steers its next turn',
  },
  'new-line': {
    keys: ['shift+enter', 'ctrl+j'],
    scope: 'editor',
    editorAction: 'tui.input.newLine',
    help: 'a new line',
  },
  'paste-image': {
    keys: ['ctrl+v'],
    scope: 'editor',
    help: 'attach the image of the clipboard (or drop an image file)',
  },
  interrupt: anywhere(
    'go back, take back waiting messages, or stop the turn; twice: stop everything, or /undo',
    'escape',
  ),
  'stop-focused': {
    ...anywhere('stop the open or chosen task with all tasks below it', 'ctrl+x'),
    givesWay: true,
  },
  'take-back': {
    keys: ['up'],
    scope: 'editor',
    needsEmptyEditor: true,
    givesWay: true,
    help: 'take back waiting messages (with an empty editor)',
  },
  leave: anywhere(
    'clear the editor; twice: stop everything and leave (it can be resumed)',
    'ctrl+c',
  ),
  'leave-empty': { keys: ['ctrl+d'], scope: 'anywhere', needsEmptyEditor: true },
  background: anywhere('send the running tasks to the background', 'ctrl+b'),
  'edit-in-editor': {
    keys: ['ctrl+g'],
    scope: 'editor',
    help: 'edit the text in $VISUAL or $EDITOR',
  },
  'cycle-mode': anywhere(
    'next permission mode: plan, default, acceptEdits, autonomous',
    'shift+tab',
  ),
  'focus-question': {
    keys: ['tab'],
    scope: 'editor',
    needsEmptyEditor: true,
    help: 'answer the pending question (with an empty editor)',
  },
  'focus-tasks': anywhere(
    'choose a task: {choose-up} {choose-down}, {open-task} opens, {stop-task} stops, {background-task} to the background, {resume-task} resumes',
    'ctrl+t',
  ),
  back: {
    keys: ['left'],
    scope: 'editor',
    needsEmptyEditor: true,
    help: 'return from a task to the conversation (with an empty editor)',
  },
  expand: anywhere('show or hide changes, output and plans', 'ctrl+o'),
  'focus-entries': anywhere(
    'choose an entry: {entry-up} {entry-down}, {unfold-entry} unfolds, {view-entry} shows all',
    'ctrl+s',
    'alt+up',
  ),
  'entry-up': { keys: ['up'], scope: 'entries' },
  'entry-down': { keys: ['down'], scope: 'entries' },
  'unfold-entry': { keys: ['enter'], scope: 'entries' },
  'view-entry': { keys: ['v'], scope: 'entries' },
  'pager-up': { keys: ['up', 'k'], scope: 'pager' },
  'pager-down': { keys: ['down', 'j', 'enter'], scope: 'pager' },
  'pager-page-up': { keys: ['b'], scope: 'pager' },
  'pager-page-down': { keys: ['space', 'f'], scope: 'pager' },
  'pager-start': { keys: ['g', 'home'], scope: 'pager' },
  'pager-end': { keys: ['G', 'shift+g', 'end'], scope: 'pager' },
  'pager-search': { keys: ['/'], scope: 'pager' },
  'pager-next': { keys: ['n'], scope: 'pager' },
  'pager-previous': { keys: ['N', 'shift+n'], scope: 'pager' },
  'pager-close': { keys: ['q'], scope: 'pager' },
  'find-done': { keys: ['enter'], scope: 'find' },
  search: anywhere('search: {search-next} next, {search-previous} previous', 'ctrl+f'),
  history: anywhere('search the messages that you typed before', 'ctrl+r'),
  'search-here': { keys: ['/'], scope: 'entries' },
  'search-next': { keys: ['enter', 'ctrl+n', 'down'], scope: 'search' },
  'search-previous': { keys: ['ctrl+p', 'up'], scope: 'search' },
  // These two must stand before the actions with the same keys that act anywhere.
  'completion-page-up': { keys: ['pageUp'], scope: 'completion' },
  'completion-page-down': { keys: ['pageDown'], scope: 'completion' },
  'page-up': anywhere('scroll up; {page-down} down; {line-up} {line-down} by a line', 'pageUp'),
  'page-down': { keys: ['pageDown'], scope: 'anywhere' },
  'line-up': { keys: ['shift+up'], scope: 'anywhere' },
  'line-down': { keys: ['shift+down'], scope: 'anywhere' },
  'to-end': anywhere('go to the end and follow it', 'ctrl+end'),
  redraw: anywhere('redraw the screen', 'ctrl+l'),
  suspend: anywhere('suspend Muster and all its tasks; type `fg` to continue', 'ctrl+z'),
  'choose-up': { keys: ['up'], scope: 'tasks' },
  'choose-down': { keys: ['down'], scope: 'tasks' },
  'open-task': { keys: ['enter'], scope: 'tasks' },
  'stop-task': { keys: ['s'], scope: 'tasks' },
  'background-task': { keys: ['b'], scope: 'tasks' },
  'resume-task': { keys: ['r'], scope: 'tasks' },
  'picker-up': { keys: ['up', 'ctrl+p'], scope: 'picker' },
  'picker-down': { keys: ['down', 'ctrl+n'], scope: 'picker' },
  'picker-page-up': { keys: ['pageUp'], scope: 'picker' },
  'picker-page-down': { keys: ['pageDown'], scope: 'picker' },
  'picker-take': { keys: ['enter'], scope: 'picker' },
  'picker-toggle': { keys: ['tab'], scope: 'picker' },
  'ask-enter': { keys: ['enter'], scope: 'question' },
  'ask-previous': { keys: ['left'], scope: 'question' },
  'ask-next': { keys: ['right'], scope: 'question' },
  'ask-up': { keys: ['up'], scope: 'question' },
  'ask-down': { keys: ['down'], scope: 'question' },
  'answer-once': { keys: ['y'], scope: 'question' },
  'answer-always': { keys: ['a'], scope: 'question' },
  'answer-project': { keys: ['p'], scope: 'question' },
  'answer-similar': { keys: ['shift+a'], scope: 'question' },
  'answer-mode': { keys: ['m'], scope: 'question' },
  'answer-mode-user': { keys: ['u'], scope: 'question' },
  'answer-no': { keys: ['n'], scope: 'question' },
  'answer-reason': { keys: ['r'], scope: 'question' },
  'answer-text': { keys: ['t'], scope: 'question' },
  'answer-edit': { keys: ['e'], scope: 'question' },
  'answer-cancel': { keys: ['c'], scope: 'question' },
  'option-1': { keys: ['1'], scope: 'question' },
  'option-2': { keys: ['2'], scope: 'question' },
  'option-3': { keys: ['3'], scope: 'question' },
  'option-4': { keys: ['4'], scope: 'question' },
} satisfies Readonly<Record<string, ActionBinding>>;

/** An action of the UI, as opposed to the editor. */
export type OwnAction = keyof typeof OWN_BINDINGS;
export type Action = OwnAction | keyof typeof EDITING_BINDINGS;
export type Bindings = Readonly<Record<Action, ActionBinding>>;

export const DEFAULT_BINDINGS: Bindings = { ...OWN_BINDINGS, ...EDITING_BINDINGS };

/** All actions. A key without an action goes to the editor. */
export const ACTIONS: readonly Action[] = Object.keys(DEFAULT_BINDINGS).filter(isAction);

function isAction(name: string): name is Action {
  return Object.hasOwn(DEFAULT_BINDINGS, name);
}

/** Whether the editor itself carries out an action. Keys that the user configures for other actions are taken from these actions. */
export function isEditingAction(action: string): action is keyof typeof EDITING_BINDINGS {
  return Object.hasOwn(EDITING_BINDINGS, action);
}
