import { activityText } from '../../api/index.ts';
import { formatDuration } from '../../base/text.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

export interface LiveTreeLook {
  /** Of the terminal. */
  readonly columns: number;
  /** At most so many lines; at least 1. */
  readonly most: number;
  /** The present time, on the timeline of steady times. */
  readonly now: number;
}

/**
 * What tasks below the main one do now, a line each, those of one parent below it. None is wider than the
 * terminal; what does not fit is counted.
 */
export function liveTree(
  states: readonly TaskState[],
  { columns, most, now }: LiveTreeLook,
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
  const doing = activityText(state, now);
  const sign = status === 'queued' ? '○' : '●';
  const time = formatDuration(Math.floor(Math.max(0, now - activation.since) / 1_000) * 1_000);
  const head = `${sign} ${spec.agent.name} ${spec.id.slice(0, 6)}`;
  return oneLine(`${head} ${time}: ${doing ?? status}: ${spec.description}`);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** From here on characters may be two columns wide: it is better to cut too early than to wrap. */
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
