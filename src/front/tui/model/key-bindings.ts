/** Where a key has its meaning: anywhere, or only while this part of the screen has the focus. */
export type KeyScope =
  | 'anywhere'
  | 'editor'
  | 'completion'
  | 'question'
  | 'tasks'
  | 'entries'
  | 'search';

/** The keys of one action. */
export interface KeyBinding {
  /** Names as the terminal library has them: `ctrl+b`, `shift+tab`, `escape`. */
  readonly keys: readonly string[];
  readonly scope: KeyScope;
  /** Set if the key works only while nothing is typed, so that it is not taken from a text. */
  readonly needsEmptyEditor?: true;
  /** Set if the editor itself handles the key. */
  readonly isEditors?: true;
  /** The line of the help; `{ACTION}` stands for the keys of another action. Absent if the key is not listed. */
  readonly help?: string;
}

/** Keys that edit the text, as in a shell, without those that the screen uses itself. */
const EDITING_KEYS = {
  'cursor-up': ['up'],
  'cursor-down': ['down'],
  'cursor-left': ['left'],
  'cursor-right': ['right'],
  'word-left': ['alt+left', 'ctrl+left', 'alt+b'],
  'word-right': ['alt+right', 'ctrl+right', 'alt+f'],
  'line-start': ['home', 'ctrl+home', 'ctrl+a'],
  'line-end': ['end', 'ctrl+e'],
  'jump-forward': ['ctrl+]'],
  'jump-backward': ['ctrl+alt+]'],
  'delete-back': ['backspace'],
  'delete-forward': ['delete', 'ctrl+d'],
  'delete-word-back': ['ctrl+w', 'alt+backspace'],
  'delete-word-forward': ['alt+d', 'alt+delete'],
  'delete-to-start': ['ctrl+u'],
  'delete-to-end': ['ctrl+k'],
  yank: ['ctrl+y'],
  'yank-pop': ['alt+y'],
  'undo-typing': ['ctrl+-'],
  'history-previous': [],
  'history-next': [],
  complete: ['tab'],
} as const;

/** Keys that work while the editor offers completions. */
const COMPLETION_KEYS = {
  'completion-up': ['up'],
  'completion-down': ['down'],
  'completion-take': ['enter'],
  'completion-close': ['escape', 'ctrl+c'],
} as const;

/** An action of the editor. */
export type EditingAction = keyof typeof EDITING_KEYS | keyof typeof COMPLETION_KEYS;

const EDITING_BINDINGS = {
  ...editorBindings(EDITING_KEYS, 'editor'),
  ...editorBindings(COMPLETION_KEYS, 'completion'),
};

function editorBindings<Name extends string>(
  keys: Readonly<Record<Name, readonly string[]>>,
  scope: KeyScope,
): Readonly<Record<Name, KeyBinding>>;
function editorBindings(
  keys: Readonly<Record<string, readonly string[]>>,
  scope: KeyScope,
): Readonly<Record<string, KeyBinding>> {
  return Object.fromEntries(
    Object.entries(keys).map(([name, each]) => [name, { keys: each, scope, isEditors: true }]),
  );
}

export function isEditingAction(action: string): action is EditingAction {
  return Object.hasOwn(EDITING_BINDINGS, action);
}

const OWN_ACTIONS = [
  'send',
  'new-line',
  'paste-image',
  'interrupt',
  'leave',
  'leave-empty',
  'background',
  'cycle-mode',
  'focus-question',
  'focus-tasks',
  'back',
  'expand',
  'focus-entries',
  'entry-up',
  'entry-down',
  'unfold-entry',
  'search',
  'search-here',
  'search-next',
  'search-previous',
  'page-up',
  'page-down',
  'line-up',
  'line-down',
  'to-end',
  'redraw',
  'suspend',
  'choose-up',
  'choose-down',
  'open-task',
  'stop-task',
  'background-task',
  'resume-task',
  'ask-up',
  'ask-down',
  'answer-once',
  'answer-always',
  'answer-mode',
  'answer-mode-user',
  'answer-no',
  'answer-reason',
  'answer-text',
  'answer-edit',
  'option-1',
  'option-2',
  'option-3',
  'option-4',
] as const;
/** An action of the UI, as opposed to the editor. */
export type OwnAction = (typeof OWN_ACTIONS)[number];
export type Action = OwnAction | EditingAction;

/** All actions. A key that belongs to none of them goes to the editor. */
export const ACTIONS: readonly Action[] = [
  ...OWN_ACTIONS,
  ...Object.keys(EDITING_BINDINGS).filter(isEditingAction),
];

export type Bindings = Readonly<Record<Action, KeyBinding>>;

export const DEFAULT_BINDINGS: Bindings = {
  send: {
    keys: ['enter'],
    scope: 'editor',
    isEditors: true,
    help: 'send; while it works, the message steers its next turn',
  },
  'new-line': {
    keys: ['shift+enter', 'ctrl+j'],
    scope: 'editor',
    isEditors: true,
    help: 'a new line',
  },
  'paste-image': {
    keys: ['ctrl+v'],
    scope: 'editor',
    help: 'show the image of the clipboard (or drop an image file)',
  },
  interrupt: {
    keys: ['escape'],
    scope: 'anywhere',
    help: 'stop what is looked at, with all below it; twice: the whole tree',
  },
  leave: {
    keys: ['ctrl+c'],
    scope: 'anywhere',
    help: 'clear what is typed; twice: leave, with everything stopped and resumable',
  },
  'leave-empty': { keys: ['ctrl+d'], scope: 'anywhere', needsEmptyEditor: true },
  background: {
    // tmux uses the first one itself.
    keys: ['ctrl+b', 'ctrl+g'],
    scope: 'anywhere',
    help: 'send what is waited for to the background',
  },
  'cycle-mode': {
    keys: ['shift+tab'],
    scope: 'anywhere',
    help: 'next permission mode: plan, default, acceptEdits, autonomous',
  },
  'focus-question': {
    keys: ['tab'],
    scope: 'editor',
    needsEmptyEditor: true,
    help: 'answer the question that waits (with an empty editor)',
  },
  'focus-tasks': {
    keys: ['ctrl+t'],
    scope: 'anywhere',
    help: 'choose a task: {choose-up} {choose-down}, {open-task} opens, {stop-task} stops, {background-task} to the background, {resume-task} resumes',
  },
  back: {
    keys: ['left'],
    scope: 'editor',
    needsEmptyEditor: true,
    help: 'from a task back to the conversation (with an empty editor)',
  },
  expand: { keys: ['ctrl+o'], scope: 'anywhere', help: 'fold and unfold results and thoughts' },
  'focus-entries': {
    keys: ['ctrl+r'],
    scope: 'anywhere',
    help: 'unfold one of them: {entry-up} {entry-down} choose, {unfold-entry} unfolds',
  },
  'entry-up': { keys: ['up'], scope: 'entries' },
  'entry-down': { keys: ['down'], scope: 'entries' },
  'unfold-entry': { keys: ['enter'], scope: 'entries' },
  search: {
    keys: ['ctrl+f'],
    scope: 'anywhere',
    help: 'search: {search-next} next, {search-previous} previous',
  },
  'search-here': { keys: ['/'], scope: 'entries' },
  'search-next': { keys: ['enter', 'ctrl+n', 'down'], scope: 'search' },
  'search-previous': { keys: ['ctrl+p', 'up'], scope: 'search' },
  'page-up': {
    keys: ['pageUp'],
    scope: 'anywhere',
    help: 'scroll up; {page-down} down; {line-up} {line-down} by a line',
  },
  'page-down': { keys: ['pageDown'], scope: 'anywhere' },
  'line-up': { keys: ['shift+up'], scope: 'anywhere' },
  'line-down': { keys: ['shift+down'], scope: 'anywhere' },
  'to-end': { keys: ['ctrl+end'], scope: 'anywhere', help: 'to the end, and follow it' },
  redraw: { keys: ['ctrl+l'], scope: 'anywhere', help: 'draw everything anew' },
  suspend: {
    keys: ['ctrl+z'],
    scope: 'anywhere',
    help: 'suspend Muster and all its tasks; `fg` in the shell goes on',
  },
  'choose-up': { keys: ['up'], scope: 'tasks' },
  'choose-down': { keys: ['down'], scope: 'tasks' },
  'open-task': { keys: ['enter'], scope: 'tasks' },
  'stop-task': { keys: ['s'], scope: 'tasks' },
  'background-task': { keys: ['b'], scope: 'tasks' },
  'resume-task': { keys: ['r'], scope: 'tasks' },
  'ask-up': { keys: ['up'], scope: 'question' },
  'ask-down': { keys: ['down'], scope: 'question' },
  'answer-once': { keys: ['y'], scope: 'question' },
  'answer-always': { keys: ['a'], scope: 'question' },
  'answer-mode': { keys: ['m'], scope: 'question' },
  'answer-mode-user': { keys: ['u'], scope: 'question' },
  'answer-no': { keys: ['n'], scope: 'question' },
  'answer-reason': { keys: ['r'], scope: 'question' },
  'answer-text': { keys: ['t'], scope: 'question' },
  'answer-edit': { keys: ['e'], scope: 'question' },
  'option-1': { keys: ['1'], scope: 'question' },
  'option-2': { keys: ['2'], scope: 'question' },
  'option-3': { keys: ['3'], scope: 'question' },
  'option-4': { keys: ['4'], scope: 'question' },
  ...EDITING_BINDINGS,
};
