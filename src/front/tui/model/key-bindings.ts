/** What keys do to the text that is typed: as in a shell, less what the screen's own keys take. */
const KEYS = {
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

/** While completions are offered. */
const COMPLETION_KEYS = {
  'completion-up': ['up'],
  'completion-down': ['down'],
  'completion-take': ['enter'],
  'completion-close': ['escape', 'ctrl+c'],
} as const;

export type EditingAction = keyof typeof KEYS | keyof typeof COMPLETION_KEYS;

const EDITING_BINDINGS = {
  ...editing(KEYS, 'editor'),
  ...editing(COMPLETION_KEYS, 'completion'),
};

function editing<Name extends string>(
  keys: Readonly<Record<Name, readonly string[]>>,
  place: Place,
): Readonly<Record<Name, Binding>>;
function editing(
  keys: Readonly<Record<string, readonly string[]>>,
  place: Place,
): Readonly<Record<string, Binding>> {
  return Object.fromEntries(
    Object.entries(keys).map(([name, own]) => [name, { keys: own, place, isEditors: true }]),
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
export type Action = (typeof OWN_ACTIONS)[number] | EditingAction;

/** What a key can do. Keys that are bound to nothing are the editor's. */
export const ACTIONS: readonly Action[] = [
  ...OWN_ACTIONS,
  ...Object.keys(EDITING_BINDINGS).filter(isEditingAction),
];

export type Bindings = Readonly<Record<Action, Binding>>;

export const DEFAULT_BINDINGS: Bindings = {
  send: {
    keys: ['enter'],
    place: 'editor',
    isEditors: true,
    help: 'send; while it works, the message steers its next turn',
  },
  'new-line': {
    keys: ['shift+enter', 'ctrl+j'],
    place: 'editor',
    isEditors: true,
    help: 'a new line',
  },
  'paste-image': {
    keys: ['ctrl+v'],
    place: 'editor',
    help: 'show the image of the clipboard (or drop an image file)',
  },
  interrupt: {
    keys: ['escape'],
    place: 'anywhere',
    help: 'stop what is looked at, with all below it; twice: the whole tree',
  },
  leave: {
    keys: ['ctrl+c'],
    place: 'anywhere',
    help: 'clear what is typed; twice: leave, with everything stopped and resumable',
  },
  'leave-empty': { keys: ['ctrl+d'], place: 'anywhere', needsEmptyEditor: true },
  background: {
    // tmux takes the first one.
    keys: ['ctrl+b', 'ctrl+g'],
    place: 'anywhere',
    help: 'send what is waited for to the background',
  },
  'cycle-mode': {
    keys: ['shift+tab'],
    place: 'anywhere',
    help: 'next permission mode: plan, default, acceptEdits, autonomous',
  },
  'focus-question': {
    keys: ['tab'],
    place: 'editor',
    needsEmptyEditor: true,
    help: 'answer the question that waits (with an empty editor)',
  },
  'focus-tasks': {
    keys: ['ctrl+t'],
    place: 'anywhere',
    help: 'choose a task: {choose-up} {choose-down}, {open-task} opens, {stop-task} stops, {background-task} to the background, {resume-task} resumes',
  },
  back: {
    keys: ['left'],
    place: 'editor',
    needsEmptyEditor: true,
    help: 'from a task back to the conversation (with an empty editor)',
  },
  expand: { keys: ['ctrl+o'], place: 'anywhere', help: 'fold and unfold results and thoughts' },
  'focus-entries': {
    keys: ['ctrl+r'],
    place: 'anywhere',
    help: 'unfold one of them: {entry-up} {entry-down} choose, {unfold-entry} unfolds',
  },
  'entry-up': { keys: ['up'], place: 'entries' },
  'entry-down': { keys: ['down'], place: 'entries' },
  'unfold-entry': { keys: ['enter'], place: 'entries' },
  search: {
    keys: ['ctrl+f'],
    place: 'anywhere',
    help: 'search: {search-next} next, {search-previous} previous',
  },
  'search-here': { keys: ['/'], place: 'entries' },
  'search-next': { keys: ['enter', 'ctrl+n', 'down'], place: 'search' },
  'search-previous': { keys: ['ctrl+p', 'up'], place: 'search' },
  'page-up': {
    keys: ['pageUp'],
    place: 'anywhere',
    help: 'scroll up; {page-down} down; {line-up} {line-down} by a line',
  },
  'page-down': { keys: ['pageDown'], place: 'anywhere' },
  'line-up': { keys: ['shift+up'], place: 'anywhere' },
  'line-down': { keys: ['shift+down'], place: 'anywhere' },
  'to-end': { keys: ['ctrl+end'], place: 'anywhere', help: 'to the end, and follow it' },
  redraw: { keys: ['ctrl+l'], place: 'anywhere', help: 'draw everything anew' },
  suspend: {
    keys: ['ctrl+z'],
    place: 'anywhere',
    help: 'suspend Muster and all its tasks; `fg` in the shell goes on',
  },
  'choose-up': { keys: ['up'], place: 'tasks' },
  'choose-down': { keys: ['down'], place: 'tasks' },
  'open-task': { keys: ['enter'], place: 'tasks' },
  'stop-task': { keys: ['s'], place: 'tasks' },
  'background-task': { keys: ['b'], place: 'tasks' },
  'resume-task': { keys: ['r'], place: 'tasks' },
  'ask-up': { keys: ['up'], place: 'question' },
  'ask-down': { keys: ['down'], place: 'question' },
  'answer-once': { keys: ['y'], place: 'question' },
  'answer-always': { keys: ['a'], place: 'question' },
  'answer-mode': { keys: ['m'], place: 'question' },
  'answer-mode-user': { keys: ['u'], place: 'question' },
  'answer-no': { keys: ['n'], place: 'question' },
  'answer-reason': { keys: ['r'], place: 'question' },
  'answer-text': { keys: ['t'], place: 'question' },
  'answer-edit': { keys: ['e'], place: 'question' },
  'option-1': { keys: ['1'], place: 'question' },
  'option-2': { keys: ['2'], place: 'question' },
  'option-3': { keys: ['3'], place: 'question' },
  'option-4': { keys: ['4'], place: 'question' },
  ...EDITING_BINDINGS,
};

/** Where a key has its meaning: whatever keys are for, or only while they are for one of these. */
export type Place =
  | 'anywhere'
  | 'editor'
  | 'completion'
  | 'question'
  | 'tasks'
  | 'entries'
  | 'search';

export interface Binding {
  /** As the library names them: `ctrl+b`, `shift+tab`, `escape`. */
  readonly keys: readonly string[];
  readonly place: Place;
  /** Only while nothing is typed, so that no key is taken from a text. */
  readonly needsEmptyEditor?: true;
  /** The editor does it. */
  readonly isEditors?: true;
  /** For the help, `{ACTION}` for the keys of another one; absent: it goes without saying, or its place says it. */
  readonly help?: string;
}
