import { useEffect, useState } from 'preact/hooks';
import { formatCount } from '../../../../report/cost-text.ts';
import { plural } from '../../../../base/text.ts';
import type { SearchHit } from '../../wire.ts';
import { describeThrown, type PageDataSource } from '../data/page-source.ts';
import type { TaskTab } from '../model/page-route.ts';
import { TREE_FILTERS, type TreeFilter } from '../model/task-tree.ts';
import { usePage } from './page-context.ts';
import { TaskTreeView } from './task-tree-view.tsx';
import { TaskView } from './task-view.tsx';

const FILTER_NAMES: Readonly<Record<TreeFilter, string>> = {
  all: 'All',
  active: 'At work',
  waiting: 'Waiting',
  failed: 'Failed',
};

/** The pause after the last typed letter before the server searches, in milliseconds, and the least length of a text. */
const SEARCH_PAUSE_MS = 250;
const MIN_SEARCH = 2;

const NO_HITS: ReadonlyMap<string, SearchHit> = new Map();

interface TasksViewProps {
  readonly task: string | null;
  readonly tab: TaskTab;
  readonly onFocusTask: (id: string) => void;
}

/** The tree of all tasks, and the chosen task beside it. */
export function TasksView({ task, tab, onFocusTask }: TasksViewProps) {
  const { store } = usePage();
  const [filter, setFilter] = useState<TreeFilter>('all');
  const [typed, setTyped] = useState('');
  const { hits, note } = useSearch(typed);
  return (
    <div class={`split${task === null ? '' : ' has-task'}`}>
      <section class="side" aria-label="Tasks">
        {task === null && (
          <h1 class="unread" tabIndex={-1}>
            Tasks
          </h1>
        )}
        <div class="tools">
          <label class="unread" for="search">
            Search in titles, prompts and results
          </label>
          <input
            id="search"
            type="search"
            placeholder="Search"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape' || typed === '') return;
              event.stopPropagation();
              setTyped('');
            }}
          />
          <div class="filters" role="group" aria-label="Show">
            {TREE_FILTERS.map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={filter === each}
                onClick={() => setFilter(each)}
              >
                {FILTER_NAMES[each]}
              </button>
            ))}
          </div>
        </div>
        {note !== null && <p class="note">{note}</p>}
        {store.version !== null && (
          <TaskTreeView
            filter={filter}
            typed={typed}
            hits={hits}
            shown={task}
            onFocusTask={onFocusTask}
          />
        )}
      </section>
      <section class="main" aria-label="The chosen task">
        {task === null ? <Welcome /> : <TaskView id={task} tab={tab} />}
      </section>
    </div>
  );
}

interface FoundTasks {
  readonly hits: ReadonlyMap<string, SearchHit>;
  readonly note: string | null;
}

async function searchTexts(source: PageDataSource, text: string): Promise<FoundTasks> {
  try {
    const { hits, note } = await source.search(text);
    return { hits: new Map(hits.map((hit) => [hit.id, hit])), note };
  } catch (thrown) {
    return { hits: NO_HITS, note: describeThrown(thrown) };
  }
}

/** Asks the server for tasks whose texts contain what is typed. */
function useSearch(typed: string) {
  const { store } = usePage();
  const [found, setFound] = useState<FoundTasks>({ hits: NO_HITS, note: null });
  useEffect(() => {
    setFound({ hits: NO_HITS, note: null });
    const text = typed.trim();
    if (text.length < MIN_SEARCH) return;
    let isCurrent = true;
    const search = async (): Promise<void> => {
      const result = await searchTexts(store.source, text);
      if (isCurrent) setFound(result);
    };
    const timer = setTimeout(() => {
      void search();
    }, SEARCH_PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [typed]);
  return found;
}

/** The space of the chosen task before one is chosen. */
function Welcome() {
  const { store, open } = usePage();
  const rows = [...store.tasks.values()];
  const counts = Map.groupBy(rows, ({ status }) => status);
  return (
    <div class="welcome">
      <h2>Tasks</h2>
      {store.version === null ? (
        <p class="soft">Loading…</p>
      ) : (
        <p class="soft">
          {plural(rows.length, 'task').replace(/^\d+/, formatCount(rows.length))}
          {Array.from(counts, ([status, { length }]) => ` · ${formatCount(length)} ${status}`)}
        </p>
      )}
      <p class="soft">Choose a task in the tree to see what it does.</p>
      <div class="actions">
        {store.source.actions !== null && (
          <button type="button" class="primary" onClick={() => open({ kind: 'start' })}>
            Start a task
          </button>
        )}
        <button type="button" onClick={() => open({ kind: 'help' })}>
          Keys
        </button>
      </div>
    </div>
  );
}
