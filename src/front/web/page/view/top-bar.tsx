import { useState } from 'preact/hooks';
import { plural } from '../../../../base/text.ts';
import { formatLocalMinute } from '../../../../base/local-time.ts';
import type { ConnectionState } from '../data/page-store.ts';
import { MusterSign } from './icons.tsx';
import { usePage } from './page-context.ts';
import { chooseColorScheme, COLOR_SCHEMES, readColorScheme } from './saved-choices.ts';

/** The bar at the top: the views, the state of the connection, and what concerns the whole page. */
export function TopBar() {
  const { store, route, go, open } = usePage();
  const waiting = [...store.questions.values()].filter(({ isPutOff }) => !isPutOff).length;
  const isReadOnly = store.source.actions === null;
  return (
    <header class="bar">
      <span class="brand">
        <MusterSign />
        <span>Muster</span>
      </span>
      <nav aria-label="Views">
        <NavButton
          name="Tasks"
          isCurrent={route.view === 'tasks'}
          onClick={() => go({ view: 'tasks', task: null, tab: 'transcript' })}
        />
        {!isReadOnly && (
          <>
            <NavButton
              name="Questions"
              count={waiting}
              isCurrent={route.view === 'questions'}
              onClick={() => go({ view: 'questions' })}
            />
            <NavButton
              name="Compare"
              isCurrent={route.view === 'compare'}
              onClick={() => go({ view: 'compare', left: null, right: null })}
            />
          </>
        )}
      </nav>
      <span class="space" />
      {isReadOnly ? (
        <span class="connection">
          Exported {formatLocalMinute(store.source.exportedAt ?? 0)}, read only
        </span>
      ) : (
        <Connection state={store.connection} />
      )}
      {!isReadOnly && (
        <button type="button" class="primary" onClick={() => open({ kind: 'start' })}>
          New task
        </button>
      )}
      {!isReadOnly && <NotificationButton />}
      <SchemeButton />
      <button type="button" class="quiet" aria-label="Keys" onClick={() => open({ kind: 'help' })}>
        ?
      </button>
    </header>
  );
}

interface NavButtonProps {
  readonly name: string;
  readonly count?: number;
  readonly isCurrent: boolean;
  readonly onClick: () => void;
}

function NavButton({ name, count = 0, isCurrent, onClick }: NavButtonProps) {
  return (
    <button
      type="button"
      class="nav"
      aria-current={isCurrent ? 'page' : undefined}
      onClick={onClick}
    >
      {name}
      {count > 0 && (
        <>
          {' '}
          <span class="badge">{count}</span>
          <span class="unread"> {plural(count, 'waits', 'wait').replace(/^\d+ /, '')}</span>
        </>
      )}
    </button>
  );
}

function Connection({ state }: { readonly state: ConnectionState }) {
  switch (state.kind) {
    case 'open':
      return (
        <span class="connection live" data-connection="open">
          Live
        </span>
      );
    case 'loading':
      return (
        <span class="connection" data-connection="loading">
          Loading…
        </span>
      );
    case 'broken':
      return (
        <span class="connection broken" data-connection="broken" role="status">
          Connecting again…
        </span>
      );
    case 'refused':
      return (
        <span class="connection broken" data-connection="refused" role="alert">
          {state.reason}
        </span>
      );
    default:
      return state satisfies never;
  }
}

/** Asks for the permission to show notifications, which a browser grants only after a click. */
function NotificationButton() {
  const { notify } = usePage();
  const [permission, setPermission] = useState(
    typeof Notification === 'undefined' ? 'denied' : Notification.permission,
  );
  if (permission !== 'default') return null;
  const ask = async (): Promise<void> => {
    const chosen = await Notification.requestPermission();
    setPermission(chosen);
    notify(
      chosen === 'granted'
        ? 'You will be notified when a question waits and this page is hidden.'
        : 'The browser does not allow notifications from this page.',
    );
  };
  return (
    <button type="button" class="quiet wide" onClick={() => void ask()}>
      Notify me
    </button>
  );
}

const SCHEME_NAMES = { system: 'Auto', light: 'Light', dark: 'Dark' } as const;

function SchemeButton() {
  const [scheme, setScheme] = useState(readColorScheme());
  const next =
    COLOR_SCHEMES[(COLOR_SCHEMES.indexOf(scheme) + 1) % COLOR_SCHEMES.length] ?? 'system';
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Colors: ${SCHEME_NAMES[scheme]}. Switch to ${SCHEME_NAMES[next]}`}
      onClick={() => {
        chooseColorScheme(next);
        setScheme(next);
      }}
    >
      {SCHEME_NAMES[scheme]}
    </button>
  );
}
