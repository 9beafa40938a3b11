import { activityText } from '../../api/index.ts';
import { formatDuration } from '../../base/text.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

export interface LiveTreeOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** The maximum number of lines; at least 1. */
  readonly most: number;
  /** The present steady time. */
  readonly now: number;
}

/**
 * Describes what the tasks below the main one do now, one line each, below their parents. No line is wider than
 * the terminal; tasks that do not fit are counted.
 */
export function liveTree(
  states: readonly TaskState[],
  { columns, most, now }: LiveTreeOptions,
): readonly string[] {
  const below = Map.groupBy(states, ({ spec }) => spec.parent);
  const known = new Set(states.map(({ spec }) => spec.id));
  const lines: string[] = [];
  const visit = (state: TaskState, level: number): void => {
    lines.push(cut(`${'  '.repeat(level)}${taskText(state, now)}`, columns - 1));
    for (const child of below.get(state.spec.id) ?? []) visit(child, level + 1);
  };
  for (const state of states) if (!known.has(state.spec.parent ?? '')) visit(state, 0);
  if (lines.length <= most) return lines;
  const shown = lines.slice(0, most - 1);
  return [...shown, cut(`… ${lines.length - shown.length} more at work`, columns - 1)];
}

function taskText(state: TaskState, now: number): string {
  const { spec, status, activation } = state;
  const activity = activityText(state, now);
  const mark = status === 'queued' ? '○' : '●';
  const time = formatDuration(Math.floor(Math.max(0, now - activation.since) / 1_000) * 1_000);
  const head = `${mark} ${spec.agent.name} ${spec.id.slice(0, 6)}`;
  return oneLine(`${head} ${time}: ${activity ?? status}: ${spec.description}`);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Characters from here on may be two columns wide: it is better to cut too early than to wrap. */
const FIRST_WIDE = 0x1100;

function cut(text: string, columns: number): string {
  let taken = 0;
  let end = 0;
  for (const character of text) {
    const width = (character.codePointAt(0) ?? 0) >= FIRST_WIDE ? 2 : 1;
    if (taken + width > columns) return `${withoutLast(text.slice(0, end))}…`;
    taken += width;
    end += character.length;
  }
  return text;
}

function withoutLast(text: string): string {
  return Array.from(text).slice(0, -1).join('');
}
