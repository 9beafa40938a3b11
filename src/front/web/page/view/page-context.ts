import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { describeThrown, type PageActions } from '../data/page-source.ts';
import type { PageStore } from '../data/page-store.ts';
import type { PageRoute } from '../model/page-route.ts';

/** The dialogs of the page. At most one is open. */
export type PageDialog =
  | { readonly kind: 'start' }
  | { readonly kind: 'help' }
  | { readonly kind: 'stop'; readonly task: string };

/** The state and the functions that all views share. */
export interface PageContext {
  readonly store: PageStore;
  readonly route: PageRoute;
  readonly go: (route: PageRoute) => void;
  readonly open: (dialog: PageDialog) => void;
  /** Shows a message, which a screen reader says as well. */
  readonly notify: (text: string, tone?: 'good' | 'bad') => void;
  /** The task that is marked for a comparison; null: none is. */
  readonly marked: string | null;
  readonly mark: (id: string) => void;
}

export const PageContextValue = createContext<PageContext | null>(null);

/** Returns the shared state. Throws Error outside of the page. */
export function usePage(): PageContext {
  const context = useContext(PageContextValue);
  if (context === null) throw new Error('a view is used outside of the page');
  return context;
}

/** Draws the component again when the tasks or questions change. */
export function useStoreChanges(store: PageStore): void {
  const [, setCount] = useState(0);
  useEffect(
    () =>
      store.subscribe(() => {
        setCount((count) => count + 1);
      }),
    [store],
  );
}

/** The message in place of an action. */
export const READ_ONLY = 'An exported run only shows what happened.';

/** Carries out an action and shows what came of it. Resolves to whether it succeeded. */
export async function carryOutAction(
  { store, notify }: Pick<PageContext, 'store' | 'notify'>,
  run: (actions: PageActions) => Promise<{ readonly text: string }>,
): Promise<boolean> {
  const { actions } = store.source;
  if (actions === null) {
    notify(READ_ONLY, 'bad');
    return false;
  }
  try {
    notify((await run(actions)).text, 'good');
    return true;
  } catch (thrown) {
    notify(describeThrown(thrown), 'bad');
    return false;
  }
}

/** Returns `carryOutAction` for the page. */
export function useAction(): (
  run: (actions: PageActions) => Promise<{ readonly text: string }>,
) => Promise<boolean> {
  const context = usePage();
  return (run) => carryOutAction(context, run);
}

/** Returns a value that follows another one, but changes at most once in a time. */
export function useSlowValue<T>(value: T, minMs: number): T {
  const [slow, setSlow] = useState(value);
  const changedAt = useRef(0);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        changedAt.current = performance.now();
        setSlow(value);
      },
      Math.max(changedAt.current + minMs - performance.now(), 0),
    );
    return () => {
      clearTimeout(timer);
    };
  }, [value, minMs]);
  return slow;
}

/** The state of data that a view loads. */
export type Loaded<T> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded'; readonly data: T }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Loads data, and again when `key` changes. While it is loaded again for the same `subject`, the earlier data stays.
 */
export function useLoaded<T>(subject: string, key: unknown, load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ readonly subject: string; readonly value: Loaded<T> }>({
    subject,
    value: { kind: 'loading' },
  });
  useEffect(() => {
    let isCurrent = true;
    const settle = (value: Loaded<T>): void => {
      if (isCurrent) setState({ subject, value });
    };
    const run = async (): Promise<void> => {
      try {
        settle({ kind: 'loaded', data: await load() });
      } catch (thrown) {
        settle({ kind: 'failed', reason: describeThrown(thrown) });
      }
    };
    void run();
    return () => {
      isCurrent = false;
    };
  }, [subject, key]);
  return state.subject === subject ? state.value : { kind: 'loading' };
}
