import { escapeTags } from '../base/control-tags.ts';
import type { TaskInput } from './input.ts';

/** Creates a notice by which Muster itself informs a task. A second notice with the same id is ignored. */
export function createNotice(id: string, message: string): TaskInput {
  return { id, kind: 'notice', from: 'muster', text: `<notice>${escapeTags(message)}</notice>` };
}

/** Indents the lines of a text from outside, so that it cannot begin another item of a notice. */
export function indentNoticeItem(text: string): string {
  return text.replaceAll(/\r\n?|[\n\u0085\u2028\u2029]/g, '\n  ');
}
