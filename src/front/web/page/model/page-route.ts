/** The parts of a task's page. */
export const TASK_TABS = ['transcript', 'timeline', 'usage', 'changes', 'receipt'] as const;
/** A part of a task's page. */
export type TaskTab = (typeof TASK_TABS)[number];

/** A place in the page, which the fragment of the address holds. */
export type PageRoute =
  | { readonly view: 'tasks'; readonly task: string | null; readonly tab: TaskTab }
  | { readonly view: 'questions' }
  | { readonly view: 'compare'; readonly left: string | null; readonly right: string | null };

const TASK_ID = /^[a-z0-9]{1,64}$/;

/** Reads the fragment of an address, such as `#/tasks/4f2k9xq1/usage`. Anything else means the list of all tasks. */
export function parsePageRoute(fragment: string): PageRoute {
  const [view, first = '', second = ''] = fragment.replace(/^#?\/?/, '').split('/');
  if (view === 'questions') return { view };
  if (view === 'compare') return { view, left: toTaskId(first), right: toTaskId(second) };
  return { view: 'tasks', task: toTaskId(first), tab: toTab(second) };
}

/** Writes the fragment that `parsePageRoute` reads. */
export function formatPageRoute(route: PageRoute): string {
  switch (route.view) {
    case 'questions':
      return '#/questions';
    case 'compare':
      return `#/compare/${route.left ?? '-'}/${route.right ?? '-'}`;
    case 'tasks': {
      if (route.task === null) return '#/tasks';
      return `#/tasks/${route.task}${route.tab === 'transcript' ? '' : `/${route.tab}`}`;
    }
    default:
      return route satisfies never;
  }
}

/** Reads the key of the page from the fragment of the address to which the server redirects, `#key=KEY`; null for any other. */
export function parseKeyFragment(fragment: string): string | null {
  return /^#key=([\w-]{1,200})$/.exec(fragment)?.[1] ?? null;
}

function toTaskId(text: string): string | null {
  return TASK_ID.test(text) ? text : null;
}

function toTab(text: string): TaskTab {
  return TASK_TABS.find((tab) => tab === text) ?? 'transcript';
}
