/** The actions that a single key calls. */
export type KeyAction =
  | 'search'
  | 'start'
  | 'questions'
  | 'tasks'
  | 'compare'
  | 'tree'
  | 'message'
  | 'stop'
  | 'resume'
  | 'background'
  | 'mark'
  | 'answer'
  | 'help';

/** A key of the page, with its line in the help. */
export interface PageKey {
  readonly key: string;
  readonly action: KeyAction;
  readonly help: string;
}

/** The keys that work wherever no text is typed. They can be turned off, because speech input may type them by mistake. */
export const PAGE_KEYS: readonly PageKey[] = [
  { key: '/', action: 'search', help: 'Search tasks' },
  { key: 'n', action: 'start', help: 'Start a task' },
  { key: 't', action: 'tasks', help: 'Show the tasks' },
  { key: 'q', action: 'questions', help: 'Show the questions' },
  { key: 'a', action: 'answer', help: 'Go to the first question of the task' },
  { key: 'e', action: 'tree', help: 'Go to the tree of tasks' },
  { key: 'm', action: 'message', help: 'Write a message to the task' },
  { key: 's', action: 'stop', help: 'Stop the task' },
  { key: 'r', action: 'resume', help: 'Resume the task' },
  { key: 'b', action: 'background', help: 'Send the task to the background' },
  { key: 'x', action: 'mark', help: 'Mark the task for a comparison; with a second one, compare' },
  { key: 'c', action: 'compare', help: 'Show the comparison' },
  { key: '?', action: 'help', help: 'Show the keys' },
];

/** The keys in the tree, which always work there. */
export const TREE_KEYS: readonly (readonly [keys: string, help: string])[] = [
  ['↑ ↓', 'Go to the task above or below'],
  ['→ ←', 'Open or close a task; go to its first child or its parent'],
  ['Home End', 'Go to the first or last task'],
  ['Page Up, Page Down', 'Go ten tasks up or down'],
  ['Enter', 'Show the task'],
  ['*', 'Open all children of the parent'],
  ['a letter', 'Go to the next task whose title begins with it (if the single keys are off)'],
];

/** Finds the action of a pressed key; null if it has none, or if a modifier is held. */
export function findKeyAction(pressed: {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
}): KeyAction | null {
  if (pressed.ctrlKey || pressed.altKey || pressed.metaKey) return null;
  return PAGE_KEYS.find(({ key }) => key === pressed.key)?.action ?? null;
}
