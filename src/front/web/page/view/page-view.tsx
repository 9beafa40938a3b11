import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { questionSubject } from '../../../../protocol/question.ts';
import type { PageStore } from '../data/page-store.ts';
import { findKeyAction } from '../model/page-keys.ts';
import { formatPageRoute, parsePageRoute, type PageRoute } from '../model/page-route.ts';
import { CompareView } from './compare-view.tsx';
import { OpenDialog } from './dialogs.tsx';
import { focusNewView, isFocusAwaited } from './focus.ts';
import { callKeyAction, goBack } from './key-actions.ts';
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
      if (event.defaultPrevented || dialog !== null || isFocusAwaited()) return;
      if (event.key === 'Escape') {
        goBack(context);
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
    focusNewView({ isNew });
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
