/** What a key can do. Keys that are bound to nothing are the editor's. */
export const ACTIONS = [
  'interrupt',
  'leave',
  'leave-empty',
  'background',
  'cycle-mode',
  'focus-question',
  'focus-tasks',
  'back',
  'expand',
  'page-up',
  'page-down',
  'line-up',
  'line-down',
  'to-end',
  'redraw',
  'choose-up',
  'choose-down',
  'open-task',
  'stop-task',
  'background-task',
  'ask-up',
  'ask-down',
  'answer-once',
  'answer-always',
  'answer-no',
  'answer-reason',
  'answer-text',
  'option-1',
  'option-2',
  'option-3',
  'option-4',
] as const;
export type Action = (typeof ACTIONS)[number];

/** Where a key has its meaning: whatever keys are for, or only while they are for one of these. */
export type Place = 'anywhere' | 'editor' | 'question' | 'tasks';

export interface Binding {
  /** As the library names them: `ctrl+b`, `shift+tab`, `escape`. */
  readonly keys: readonly string[];
  readonly place: Place;
  /** Only while nothing is typed, so that no key is taken from a text. */
  readonly needsEmptyEditor?: true;
  /** For the help; absent: it goes without saying, or its place says it. */
  readonly help?: string;
}

export type Bindings = Readonly<Record<Action, Binding>>;

export const DEFAULT_BINDINGS: Bindings = {
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
    help: 'choose a task: ↑ ↓, enter opens, s stops, b to the background',
  },
  back: {
    keys: ['left'],
    place: 'editor',
    needsEmptyEditor: true,
    help: 'from a task back to the conversation (with an empty editor)',
  },
  expand: { keys: ['ctrl+o'], place: 'anywhere', help: 'fold and unfold results and thoughts' },
  'page-up': { keys: ['pageUp'], place: 'anywhere', help: 'scroll; shift+↑ shift+↓ by a line' },
  'page-down': { keys: ['pageDown'], place: 'anywhere' },
  'line-up': { keys: ['shift+up'], place: 'anywhere' },
  'line-down': { keys: ['shift+down'], place: 'anywhere' },
  'to-end': { keys: ['ctrl+end'], place: 'anywhere', help: 'to the end, and follow it' },
  redraw: { keys: ['ctrl+l'], place: 'anywhere', help: 'draw everything anew' },
  'choose-up': { keys: ['up'], place: 'tasks' },
  'choose-down': { keys: ['down'], place: 'tasks' },
  'open-task': { keys: ['enter'], place: 'tasks' },
  'stop-task': { keys: ['s'], place: 'tasks' },
  'background-task': { keys: ['b'], place: 'tasks' },
  'ask-up': { keys: ['up'], place: 'question' },
  'ask-down': { keys: ['down'], place: 'question' },
  'answer-once': { keys: ['y'], place: 'question' },
  'answer-always': { keys: ['a'], place: 'question' },
  'answer-no': { keys: ['n'], place: 'question' },
  'answer-reason': { keys: ['r'], place: 'question' },
  'answer-text': { keys: ['t'], place: 'question' },
  'option-1': { keys: ['1'], place: 'question' },
  'option-2': { keys: ['2'], place: 'question' },
  'option-3': { keys: ['3'], place: 'question' },
  'option-4': { keys: ['4'], place: 'question' },
};
