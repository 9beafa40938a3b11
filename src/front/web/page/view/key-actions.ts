import type { KeyAction } from '../model/page-keys.ts';
import type { PageRoute } from '../model/page-route.ts';
import { isActiveTask } from '../model/status-texts.ts';
import { focusElement, wantFocusInNextView } from './focus.ts';
import { carryOutAction, READ_ONLY, type PageContext } from './page-context.ts';

const ALL_TASKS: PageRoute = { view: 'tasks', task: null, tab: 'transcript' };
/** The line of the tree that Tab reaches. */
const TREE_STOP = '[role=treeitem][tabindex="0"]';

/** Goes back to the tree, or from another view to the tasks. */
export function goBack({ route, go }: Pick<PageContext, 'route' | 'go'>): void {
  if (route.view !== 'tasks') {
    go(ALL_TASKS);
    return;
  }
  const tree = document.querySelector<HTMLElement>(TREE_STOP);
  // On a narrow screen the tree is only there when no task is shown.
  if (tree !== null && tree.offsetParent !== null) tree.focus();
  else go(ALL_TASKS);
}

/**
 * Carries out what a key means.
 *
 * @param task the task on which the key acts; null: none is chosen
 */
export function callKeyAction(action: KeyAction, task: string | null, context: PageContext): void {
  const { store, go, open, mark, notify } = context;
  const row = task === null ? undefined : store.tasks.get(task);
  const { actions } = store.source;
  /** Shows a view unless it is shown already, and focuses an element of it. */
  const focusIn = (view: PageRoute, selector: string): void => {
    const { route } = context;
    const isShown =
      view.view === route.view &&
      (view.view !== 'tasks' ||
        (route.view === 'tasks' && (view.task ?? route.task) === route.task));
    if (isShown) {
      focusElement(selector);
      return;
    }
    wantFocusInNextView(selector);
    go(view);
  };
  switch (action) {
    case 'search':
      focusIn(ALL_TASKS, '#search');
      return;
    case 'help':
      open({ kind: 'help' });
      return;
    case 'tasks':
      go(ALL_TASKS);
      return;
    case 'tree':
      if (context.route.view === 'tasks') goBack(context);
      else focusIn(ALL_TASKS, TREE_STOP);
      return;
    default:
      break;
  }
  if (actions === null) {
    notify(READ_ONLY, 'bad');
    return;
  }
  switch (action) {
    case 'start':
      open({ kind: 'start' });
      return;
    case 'questions':
      go({ view: 'questions' });
      return;
    case 'compare':
      go({ view: 'compare', left: null, right: null });
      return;
    case 'answer':
      focusIn(
        row !== undefined && row.questions.length > 0
          ? { view: 'tasks', task: row.id, tab: 'transcript' }
          : { view: 'questions' },
        '.question .answers button',
      );
      return;
    default:
      break;
  }
  if (task === null || row === undefined) {
    notify('Choose a task first.', 'bad');
    return;
  }
  switch (action) {
    case 'message':
      focusIn({ view: 'tasks', task, tab: 'transcript' }, '#message-text');
      return;
    case 'stop':
      if (isActiveTask(row)) open({ kind: 'stop', task });
      else notify('The task has ended already.', 'bad');
      return;
    case 'resume':
      void carryOutAction(context, () => actions.act(task, 'resume', null));
      return;
    case 'background':
      void carryOutAction(context, () => actions.act(task, 'background', null));
      return;
    case 'mark':
      mark(task);
      return;
    default:
      return;
  }
}
