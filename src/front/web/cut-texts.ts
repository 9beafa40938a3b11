import { MAX_TEXT, type CutText, type LoggedEvent } from './wire.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/** Cuts the long texts of an event, and says which ones were cut. */
export function cutEvent(event: TaskEvent, maxLength = MAX_TEXT): LoggedEvent {
  const cut: CutText[] = [];
  const visit = (value: unknown, pointer: string): unknown => {
    if (typeof value === 'string') {
      if (value.length <= maxLength) return value;
      cut.push({ pointer, length: value.length });
      return value.slice(0, maxLength);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((each, at) => visit(each, `${pointer}/${at}`));
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, visit(each, `${pointer}/${escape(key)}`)]),
    );
  };
  const short = visit(event, '') as TaskEvent;
  return cut.length === 0 ? { event } : { event: short, cut };
}

/** Returns the text of an event at a JSON pointer; null if there is none. */
export function findText(event: TaskEvent, pointer: string): string | null {
  if (!pointer.startsWith('/')) return null;
  let value: unknown = event;
  for (const key of pointer.slice(1).split('/').map(unescape)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return typeof value === 'string' ? value : null;
}

function escape(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescape(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}
