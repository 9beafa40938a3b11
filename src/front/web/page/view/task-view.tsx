import { useEffect, useRef, useState } from 'preact/hooks';
import { formatShortDuration } from '../../../../report/figures.ts';
import { formatLocalMinute } from '../../../../base/local-time.ts';
import type { TaskRow } from '../../wire.ts';
import { TASK_TABS, type TaskTab } from '../model/page-route.ts';
import { describeActivity, findStatusLook, isActiveTask } from '../model/status-texts.ts';
import { ChangesView } from './changes-view.tsx';
import { StatusIcon } from './icons.tsx';
import { MessageBox } from './message-box.tsx';
import { useAction, usePage, useSlowValue } from './page-context.ts';
import { QuestionCard } from './question-card.tsx';
import { ReceiptView } from './receipt-view.tsx';
import { TimelineView } from './timeline-view.tsx';
import { TranscriptView } from './transcript-view.tsx';
import { UsageView } from './usage-view.tsx';

const TAB_NAMES: Readonly<Record<TaskTab, string>> = {
  transcript: 'Transcript',
  timeline: 'Timeline',
  usage: 'Usage',
  changes: 'Changes',
  receipt: 'Receipt',
};

/** One task: its state and actions, its questions, and its parts in tabs. */
export function TaskView({ id, tab }: { readonly id: string; readonly tab: TaskTab }) {
  const { store, go } = usePage();
  const row = store.tasks.get(id);
  if (row === undefined) {
    return (
      <div class="task empty">
        <h1 tabIndex={-1}>Task {id}</h1>
        <p>
          {store.version === null ? 'Loading…' : 'There is no such task. It may have been deleted.'}
        </p>
        <button type="button" onClick={() => go({ view: 'tasks', task: null, tab: 'transcript' })}>
          Show all tasks
        </button>
      </div>
    );
  }
  const questions = row.questions.flatMap((each) => store.questions.get(each) ?? []);
  return (
    <article class="task" aria-labelledby="task-title">
      <TaskHeader row={row} />
      {questions.map((each) => (
        <QuestionCard key={each.question.id} asked={each} isBrief />
      ))}
      <TabBar id={id} tab={tab} />
      <div
        class="tab-panel"
        role="tabpanel"
        id="task-panel"
        aria-labelledby={`tab-${tab}`}
        tabIndex={tab === 'transcript' ? undefined : 0}
      >
        <TabContent row={row} tab={tab} />
      </div>
      {store.source.actions !== null && <MessageBox key={id} row={row} />}
    </article>
  );
}

function TabContent({ row, tab }: { readonly row: TaskRow; readonly tab: TaskTab }) {
  const { id } = row;
  const { store } = usePage();
  // The data of these views follows the tree: it is loaded again when a task of it has got further.
  const progress = useSlowValue(describeProgress(store.tasks, row), RELOAD_MS);
  switch (tab) {
    case 'transcript':
      return <TranscriptView key={id} id={id} />;
    case 'timeline':
      return <TimelineView id={id} progress={progress} />;
    case 'usage':
      return <UsageView id={id} progress={progress} />;
    case 'changes':
      return <ChangesView id={id} progress={progress} />;
    case 'receipt':
      return <ReceiptView id={id} progress={progress} />;
    default:
      return tab satisfies never;
  }
}

/** The least time between two loads of the data of a view, in milliseconds. */
const RELOAD_MS = 2_000;

/** Describes how far the tree of a task has got, by a text that changes with it. */
function describeProgress(tasks: ReadonlyMap<string, TaskRow>, { root, status }: TaskRow): string {
  let [count, ended, steps] = [0, 0, 0];
  for (const row of tasks.values()) {
    if (row.root !== root) continue;
    count += 1;
    steps += row.turns + (row.calls ?? 0);
    if (!isActiveTask(row)) ended += 1;
  }
  return `${status} ${count} ${ended} ${steps}`;
}

function TaskHeader({ row }: { readonly row: TaskRow }) {
  const { store, go } = usePage();
  const look = findStatusLook(row);
  const parent = row.parent === null ? undefined : store.tasks.get(row.parent);
  return (
    <header class="task-head">
      <nav class="crumbs" aria-label="Place of the task">
        <button
          type="button"
          class="link back"
          onClick={() => go({ view: 'tasks', task: null, tab: 'transcript' })}
        >
          All tasks
        </button>
        {parent !== undefined && (
          <button
            type="button"
            class="link"
            onClick={() => go({ view: 'tasks', task: parent.id, tab: 'transcript' })}
          >
            {parent.title}
          </button>
        )}
      </nav>
      <div class="head-line">
        <h1 id="task-title" tabIndex={-1}>
          {row.title === '' ? row.id : row.title}
        </h1>
        {store.source.actions !== null && <TaskActions row={row} />}
      </div>
      <p class="facts">
        <span class={`state ${look}`}>
          <StatusIcon look={look} />
          {row.status}
        </span>
        {describeActivity(row) !== row.status && <span>{describeActivity(row)}</span>}
        <span>{row.agent}</span>
        <span class="mono">{row.model}</span>
        <span>
          {row.turns} {row.turns === 1 ? 'turn' : 'turns'}
          {row.calls === null ? '' : `, ${row.calls} ${row.calls === 1 ? 'call' : 'calls'}`}
        </span>
        <span>{row.tokens} tokens</span>
        <span>{row.cost}</span>
        <span>
          <Duration row={row} />
        </span>
        {row.workspace !== null && (
          <span>
            {row.workspace.kind}
            {row.workspace.branch === null ? '' : ` ${row.workspace.branch}`} (
            {row.workspace.landing})
          </span>
        )}
        <span class="mono id">{row.id}</span>
      </p>
    </header>
  );
}

/** The duration of a task, which grows while the task is at work. */
function Duration({ row }: { readonly row: TaskRow }) {
  const [now, setNow] = useState(Date.now());
  const isActive = row.ended === null && isActiveTask(row);
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 1000);
    return () => {
      clearInterval(timer);
    };
  }, [isActive]);
  const began = `began ${formatLocalMinute(row.created)}`;
  if (row.ended === null && !isActive) return <>{began}</>;
  return (
    <span title={began}>{formatShortDuration(Math.max((row.ended ?? now) - row.created, 0))}</span>
  );
}

function TaskActions({ row }: { readonly row: TaskRow }) {
  const { open, marked, mark } = usePage();
  const act = useAction();
  const isActive = isActiveTask(row);
  return (
    <div class="actions" role="group" aria-label="Actions">
      {isActive ? (
        <button type="button" class="danger" onClick={() => open({ kind: 'stop', task: row.id })}>
          Stop
        </button>
      ) : (
        <button
          type="button"
          onClick={() => void act((actions) => actions.act(row.id, 'resume', null))}
        >
          Resume
        </button>
      )}
      {isActive && row.parent !== null && (
        <button
          type="button"
          onClick={() => void act((actions) => actions.act(row.id, 'background', null))}
        >
          To background
        </button>
      )}
      <button type="button" aria-pressed={marked === row.id} onClick={() => mark(row.id)}>
        {marked === null || marked === row.id ? 'Compare' : 'Compare with marked'}
      </button>
    </div>
  );
}

function TabBar({ id, tab }: { readonly id: string; readonly tab: TaskTab }) {
  const { go } = usePage();
  const bar = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = TASK_TABS.at((TASK_TABS.indexOf(tab) + step) % TASK_TABS.length) ?? tab;
    go({ view: 'tasks', task: id, tab: next });
    bar.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Parts of the task" ref={bar}>
      {TASK_TABS.map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          id={`tab-${each}`}
          aria-selected={each === tab}
          aria-controls="task-panel"
          tabIndex={each === tab ? 0 : -1}
          onKeyDown={onKeyDown}
          onClick={() => go({ view: 'tasks', task: id, tab: each })}
        >
          {TAB_NAMES[each]}
        </button>
      ))}
    </div>
  );
}
