import { escapeTags } from '../base/control-tags.ts';
import type { TaskInput } from './input.ts';

/** Creates a notice of Muster for a task. A second notice with the same id is ignored. */
export function createNotice(id: string, message: string): TaskInput {
  return { id, kind: 'notice', from: 'muster', text: `<notice>${escapeTags(message)}</notice>` };
}

/** Indents the lines of an outside text in a notice, so that no line of it can look like another item. */
export function indentNoticeItem(text: string): string {
  return text.replaceAll(/\r\n?|[\n\u0085\u2028\u2029]/g, '\n  ');
}
