import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SearchHit, TaskRow } from '../../wire.ts';
import { findKeyAction } from '../model/page-keys.ts';
import { describeActivity, findStatusLook, isActiveTask } from '../model/status-texts.ts';
import {
  createTreeMatcher,
  layOutTree,
  type TreeFilter,
  type TreeLine,
} from '../model/task-tree.ts';
import { findByLetter, moveInTree } from '../model/tree-movement.ts';
import { Chevron, StatusIcon } from './icons.tsx';
import { usePage } from './page-context.ts';
import { areKeysOn } from './saved-choices.ts';
import { VirtualList, type VirtualListHandle } from './virtual-list.tsx';

/** The height of a line in pixels, as the style sheet has it. */
const LINE_HEIGHT = 54;

interface TaskTreeProps {
  readonly filter: TreeFilter;
  readonly typed: string;
  /** The places at which the server has found the typed text, by task. */
  readonly hits: ReadonlyMap<string, SearchHit>;
  /** The task that is shown beside the tree; null: none. */
  readonly shown: string | null;
  /** Called with the task of the line that has the focus. */
  readonly onFocusTask: (id: string) => void;
}

/** The live tree of all tasks. */
export function TaskTreeView({ filter, typed, hits, shown, onFocusTask }: TaskTreeProps) {
  const { store, go } = usePage();
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [focused, setFocused] = useState<string | null>(shown);
  const list = useRef<VirtualListHandle>(null);
  /** Set if the line with the focus is to be focused as soon as it is drawn. */
  const takesFocus = useRef(false);
  const known = useRef(new Map<string, boolean>());
  const isOpen = (row: TaskRow): boolean =>
    opened.get(row.id) ?? (row.depth > 0 || opensAtFirst(row, known.current));
  const lines = useMemo(
    () => layOutTree(store.tasks, { isOpen, matches: createTreeMatcher(filter, typed, hits) }),
    [store.revision, opened, filter, typed, hits],
  );
  const found = lines.findIndex(({ row }) => row.id === focused);
  const index = found < 0 ? 0 : found;

  useEffect(() => {
    if (shown === null) return;
    setFocused(shown);
    setOpened((before) => openAbove(before, store.tasks, shown));
  }, [shown]);

  const focus = (to: number): void => {
    const line = lines[to];
    if (line === undefined) return;
    takesFocus.current = true;
    setFocused(line.row.id);
    onFocusTask(line.row.id);
    list.current?.reveal(to);
  };
  const toggle = (id: string, open: boolean): void => {
    setOpened((before) => new Map(before).set(id, open));
  };
  const show = (id: string): void => {
    setFocused(id);
    go({ view: 'tasks', task: id, tab: 'transcript' });
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const line = lines[index];
    if (line === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter') {
      event.preventDefault();
      show(line.row.id);
      return;
    }
    const move = moveInTree(lines, index, event.key);
    if (move === null) {
      const isLetter = /^\p{L}$/u.test(event.key);
      if (!isLetter || (areKeysOn() && findKeyAction(event) !== null)) return;
      const next = findByLetter(lines, index, event.key);
      if (next !== null) focus(next);
      return;
    }
    event.preventDefault();
    if (move.kind === 'focus') focus(move.index);
    else if (move.kind === 'toggle') toggle(move.id, move.open);
    else {
      const siblings = [...store.tasks.values()].filter(({ parent }) => parent === move.parent);
      setOpened((before) => new Map([...before, ...siblings.map(({ id }) => [id, true] as const)]));
    }
  };

  if (lines.length === 0) {
    return (
      <p class="empty">{store.tasks.size === 0 ? 'There are no tasks yet.' : 'No task matches.'}</p>
    );
  }
  return (
    <VirtualList
      count={lines.length}
      itemHeight={LINE_HEIGHT}
      isMeasured={false}
      keyOf={(at) => lines[at]?.row.id ?? String(at)}
      keptIndex={index}
      handle={list}
      container={{
        role: 'tree',
        'aria-label': 'Tasks',
        class: 'tree',
        onKeyDown,
      }}
      renderItem={(at) => {
        const line = lines[at];
        if (line === undefined) return null;
        const { id } = line.row;
        return (
          <TreeItem
            line={line}
            hit={hits.get(id) ?? null}
            isShown={id === shown}
            hasTabStop={at === index}
            takesFocus={at === index ? takesFocus : null}
            onShow={() => {
              show(id);
            }}
            onFocus={() => {
              setFocused(id);
              onFocusTask(id);
            }}
            onToggle={() => {
              toggle(id, line.isOpen !== true);
            }}
          />
        );
      }}
    />
  );
}

/** Decides whether a tree begins open: at work, or the newest one. The decision stays, so that no tree closes by itself. */
function opensAtFirst(row: TaskRow, known: Map<string, boolean>): boolean {
  const before = known.get(row.id);
  if (before !== undefined) return before;
  const opens = isActiveTask(row) || known.size === 0;
  known.set(row.id, opens);
  return opens;
}

/** Opens all tasks above a task, so that it can be seen. */
function openAbove(
  opened: ReadonlyMap<string, boolean>,
  tasks: ReadonlyMap<string, TaskRow>,
  id: string,
): ReadonlyMap<string, boolean> {
  const next = new Map(opened);
  let parent = tasks.get(id)?.parent ?? null;
  for (let steps = 0; parent !== null && steps < tasks.size; steps += 1) {
    next.set(parent, true);
    parent = tasks.get(parent)?.parent ?? null;
  }
  return next;
}

interface TreeItemProps {
  readonly line: TreeLine;
  /** The place at which a search has found the task; null: it was not found by its texts. */
  readonly hit: SearchHit | null;
  readonly isShown: boolean;
  readonly hasTabStop: boolean;
  readonly takesFocus: { current: boolean } | null;
  readonly onShow: () => void;
  readonly onFocus: () => void;
  readonly onToggle: () => void;
}

/** The deepest level that is still indented, so that titles keep room. */
const MAX_INDENT = 8;

function TreeItem({ line, hit, isShown, hasTabStop, takesFocus, ...on }: TreeItemProps) {
  const { row, level, setSize, position, isOpen, isMatch } = line;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus?.current !== true) return;
    takesFocus.current = false;
    element.current?.focus({ preventScroll: true });
  });
  const look = findStatusLook(row);
  return (
    <div
      ref={element}
      role="treeitem"
      data-task={row.id}
      aria-level={level}
      aria-setsize={setSize}
      aria-posinset={position}
      aria-selected={isShown}
      {...(isOpen === null ? {} : { 'aria-expanded': isOpen })}
      tabIndex={hasTabStop ? 0 : -1}
      class={`line${isMatch ? '' : ' faint'}`}
      style={{ paddingInlineStart: `${8 + Math.min(level - 1, MAX_INDENT) * 16}px` }}
      onClick={on.onShow}
      onFocus={on.onFocus}
    >
      {isOpen === null ? (
        <span class="toggle" aria-hidden="true" />
      ) : (
        // The arrow keys do the same, so the button is for the mouse alone.
        <span
          class="toggle"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            on.onToggle();
          }}
        >
          <Chevron isOpen={isOpen} />
        </span>
      )}
      <StatusIcon look={look} />
      <span class="name">
        <span class="title" title={row.title}>
          {row.title === '' ? row.id : row.title}
        </span>
        <span class="second">
          {hit === null || hit.where === 'id' || hit.where === 'title' ? (
            <>
              <span class="agent">{row.agent}</span>
              <span class={`state ${look}`}>{describeActivity(row)}</span>
            </>
          ) : (
            <span class="hit">
              {hit.where}: {hit.before}
              <mark>{hit.match}</mark>
              {hit.after}
            </span>
          )}
        </span>
      </span>
      <span class="figures">
        <span class="turns">
          {row.turns} <span class="unit">{row.turns === 1 ? 'turn' : 'turns'}</span>
        </span>
        <span class="tokens">
          {row.tokens}
          <span class="unread"> tokens</span>
        </span>
        <span class="cost">{row.cost}</span>
      </span>
    </div>
  );
}
