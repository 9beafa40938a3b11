import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { MusterError, systemErrorCode } from '../../../base/errors.ts';
import { collapseWhitespace } from '../../../base/text.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import {
  exportedParts,
  partAsMarkdown,
  type ConversationPart,
} from '../../../report/conversation-text.ts';
import { toFileError } from '../../../sys/files/file-errors.ts';
import {
  CONVERSATION_PAGE_END,
  conversationPageStart,
  partAsHtml,
} from '../../../report/conversation-page.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { liveEventsOf } from './log-reader.ts';

/** A format of an exported conversation. */
interface ExportFormat {
  start(title: string): string;
  part(part: ConversationPart): string;
  readonly end: string;
}

const MARKDOWN: ExportFormat = {
  start: (title) => `# ${title}\n\n`,
  part: partAsMarkdown,
  end: '',
};

const HTML: ExportFormat = {
  start: conversationPageStart,
  part: partAsHtml,
  end: CONVERSATION_PAGE_END,
};

/**
 * Writes the conversation of a task from its log to a new file (absolute path), which only the user can read. Returns
 * its size in bytes. Events that an undo took back are left out. Throws MusterError if the file exists or cannot be
 * written; then no part of it is left.
 */
export function writeConversation(store: UiLibrary['store'], task: string, path: string): number {
  const format = /\.html?$/i.test(path) ? HTML : MARKDOWN;
  const isLive = liveEventsOf(store, task);
  const file = openNewFile(path);
  let bytes = 0;
  const write = (text: string): void => {
    const content = Buffer.from(text);
    for (let at = 0; at < content.length;) at += writeSync(file, content, at);
    bytes += content.length;
  };
  try {
    store.scan(task, (event) => {
      if (!isLive(event.seq)) return;
      if (event.type === 'task.created') {
        write(format.start(sanitizeLine(collapseWhitespace(event.spec.description))));
      }
      for (const part of exportedParts(event)) write(format.part(part));
    });
    write(format.end);
    return bytes;
  } catch (thrown) {
    rmSync(path, { force: true });
    throw toFileError(path, thrown);
  } finally {
    closeSync(file);
  }
}

function openNewFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EEXIST') throw toFileError(path, thrown);
    throw new MusterError('CONFLICT', `${path} exists: /export with another name`);
  }
}
