import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { questionSubject } from '../../../../protocol/question.ts';
import type { PageStore } from '../data/page-store.ts';
import { findKeyAction, type KeyAction } from '../model/page-keys.ts';
import { formatPageRoute, parsePageRoute, type PageRoute } from '../model/page-route.ts';
import { isActiveTask } from '../model/status-texts.ts';
import { CompareView } from './compare-view.tsx';
import { OpenDialog } from './dialogs.tsx';
import { LiveRegion } from './live-region.tsx';
import {
  PageContextValue,
  useStoreChanges,
  type PageContext,
  type PageDialog,
} from './page-context.ts';
import { QuestionsView } from './questions-view.tsx';
import { areKeysOn } from './saved-choices.ts';
import { TasksView } from './tasks-view.tsx';
import { TopBar } from './top-bar.tsx';

/** The time for which a message is shown, in milliseconds. */
const NOTICE_MS = 8_000;

interface PageNotice {
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

/** The whole page. */
export function PageView({ store }: { readonly store: PageStore }) {
  useStoreChanges(store);
  const [route, setRoute] = useState<PageRoute>(parsePageRoute(location.hash));
  const [dialog, setDialog] = useState<PageDialog | null>(null);
  const [notice, setNotice] = useState<PageNotice | null>(null);
  const [marked, setMarked] = useState<string | null>(null);
  /** The task of the line that has or had the focus, on which the keys act if no task is shown. */
  const focusedTask = useRef<string | null>(null);

  useEffect(() => {
    const onHash = (): void => {
      setRoute(parsePageRoute(location.hash));
    };
    addEventListener('hashchange', onHash);
    return () => {
      removeEventListener('hashchange', onHash);
    };
  }, []);
  useEffect(() => {
    if (notice === null) return;
    const timer = setTimeout(() => {
      setNotice(null);
    }, NOTICE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [notice]);
  useEffect(() => {
    store.onQuestion = ({ question, isPutOff }) => {
      if (isPutOff || typeof Notification === 'undefined') return;
      if (!document.hidden || Notification.permission !== 'granted') return;
      const shown = new Notification(
        `Muster: ${question.chain.at(-1) ?? 'an agent'} has a question`,
        {
          body: questionSubject(question).slice(0, 200),
          tag: question.id,
        },
      );
      shown.addEventListener('click', () => {
        window.focus();
        go({ view: 'questions' });
      });
    };
  }, [store]);

  const waiting = [...store.questions.values()].filter(({ isPutOff }) => !isPutOff).length;
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Muster` : 'Muster';
  }, [waiting]);

  const go = (next: PageRoute): void => {
    location.hash = formatPageRoute(next);
    setRoute(next);
  };
  const mark = (id: string): void => {
    if (marked === null || marked === id) {
      setMarked(marked === id ? null : id);
      setNotice({
        text:
          marked === id ? 'The mark is removed.' : 'Marked. Mark a second task to compare both.',
        tone: 'good',
      });
      return;
    }
    setMarked(null);
    go({ view: 'compare', left: marked, right: id });
  };
  const context: PageContext = useMemo(
    () => ({
      store,
      route,
      go,
      open: setDialog,
      notify: (text, tone = 'good') => setNotice({ text, tone }),
      marked,
      mark,
    }),
    [store, route, marked],
  );

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || dialog !== null || isAwaitingFocus) return;
      if (event.key === 'Escape') {
        goBack(route, go);
        return;
      }
      if (isTyping(event.target) || !areKeysOn()) return;
      const action = findKeyAction(event);
      if (action === null) return;
      event.preventDefault();
      const inTree =
        event.target instanceof Element && event.target.closest('[role=tree]') !== null;
      const shown = route.view === 'tasks' ? route.task : null;
      const task = inTree ? focusedTask.current : (shown ?? focusedTask.current);
      callKeyAction(action, task, context);
    };
    addEventListener('keydown', onKeyDown);
    return () => {
      removeEventListener('keydown', onKeyDown);
    };
  });

  const lastView = useRef(route.view);
  const lastTask = useRef(route.view === 'tasks' ? route.task : null);
  useEffect(() => {
    const task = route.view === 'tasks' ? route.task : null;
    const isNew = lastView.current !== route.view || (task !== null && lastTask.current !== task);
    lastView.current = route.view;
    lastTask.current = task;
    // A new view begins at its heading, so that a screen reader says where it is.
    if (isNew || wantedFocus !== null) focusElement(wantedFocus ?? 'main h1');
    wantedFocus = null;
  }, [route]);

  return (
    <PageContextValue.Provider value={context}>
      <TopBar />
      <main>
        {route.view === 'tasks' ? (
          <TasksView
            task={route.task}
            tab={route.tab}
            onFocusTask={(id) => {
              focusedTask.current = id;
            }}
          />
        ) : (
          <div class="single">
            {route.view === 'questions' ? (
              <QuestionsView />
            ) : (
              <CompareView left={route.left} right={route.right} />
            )}
          </div>
        )}
      </main>
      <div class="notice-place" role="status">
        {notice !== null && <p class={`toast ${notice.tone}`}>{notice.text}</p>}
      </div>
      <LiveRegion />
      {dialog !== null && <OpenDialog dialog={dialog} onClose={() => setDialog(null)} />}
    </PageContextValue.Provider>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}

/** The number of pictures for which an element is awaited. */
const MAX_PICTURES = 60;
/** True while an element is awaited: what is typed then is meant for it, and must not call actions. */
let isAwaitingFocus = false;

/** The element that gets the focus in the next view; null: its heading. */
let wantedFocus: string | null = null;

/** Focuses an element, as soon as it is there. */
function focusElement(selector: string, pictures = 0): void {
  const element = document.querySelector<HTMLElement>(selector);
  isAwaitingFocus = element === null && pictures < MAX_PICTURES;
  if (element !== null) element.focus();
  else if (isAwaitingFocus) requestAnimationFrame(() => focusElement(selector, pictures + 1));
}

const TREE_STOP = '[role=treeitem][tabindex="0"]';

function goBack(route: PageRoute, go: (next: PageRoute) => void): void {
  if (route.view !== 'tasks') {
    go({ view: 'tasks', task: null, tab: 'transcript' });
    return;
  }
  const tree = document.querySelector<HTMLElement>(TREE_STOP);
  // On a narrow screen the tree is only there when no task is shown.
  if (tree !== null && tree.offsetParent !== null) tree.focus();
  else go({ view: 'tasks', task: null, tab: 'transcript' });
}

function callKeyAction(action: KeyAction, task: string | null, context: PageContext): void {
  const { store, go, open, mark, notify } = context;
  const row = task === null ? undefined : store.tasks.get(task);
  const { actions } = store.source;
  const carryOut = (run: () => Promise<{ readonly text: string }>): void => {
    run().then(
      ({ text }) => notify(text),
      (thrown: unknown) => notify(thrown instanceof Error ? thrown.message : String(thrown), 'bad'),
    );
  };
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
    wantedFocus = selector;
    isAwaitingFocus = true;
    go(view);
  };
  const tasks: PageRoute = { view: 'tasks', task: null, tab: 'transcript' };
  switch (action) {
    case 'search':
      focusIn(tasks, '#search');
      return;
    case 'help':
      open({ kind: 'help' });
      return;
    case 'tasks':
      go(tasks);
      return;
    case 'tree':
      focusIn(tasks, TREE_STOP);
      return;
    default:
      break;
  }
  if (actions === null) {
    notify('An exported run only shows what happened.', 'bad');
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
      carryOut(() => actions.act(task, 'resume', null));
      return;
    case 'background':
      carryOut(() => actions.act(task, 'background', null));
      return;
    case 'mark':
      mark(task);
      return;
    default:
      return;
  }
}
