import { escapeTags } from '../base/control-tags.ts';
import type { TaskInput } from './input.ts';

/** Something that Muster itself tells a task, once for each id. */
export function createNotice(id: string, message: string): TaskInput {
  return { id, kind: 'notice', from: 'muster', text: `<notice>${escapeTags(message)}</notice>` };
}

/** What others have written must not begin another item of the notice that it stands in. */
export function indentNoticeItem(text: string): string {
  return text.replaceAll(/\r\n?|[\n\u0085\u2028\u2029]/g, '\n  ');
}
