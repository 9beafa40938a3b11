import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { html } from '../../../base/html.ts';
import { MusterError, systemErrorCode } from '../../../base/errors.ts';
import { collapseWhitespace } from '../../../base/text.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { liveEventFilter } from '../../../protocol/events/rewound.ts';
import {
  exportedParts,
  headingMarks,
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

/** A format of an exported conversation. `depth`: 0 for the conversation, 1 for a task that it has started, and so on. */
interface ExportFormat {
  start(title: string): string;
  part(part: ConversationPart, depth: number): string;
  taskStart(title: string, depth: number): string;
  taskEnd(title: string): string;
  readonly end: string;
}

const MARKDOWN: ExportFormat = {
  start: (title) => `# ${title}\n\n`,
  part: partAsMarkdown,
  taskStart: (title, depth) => `${headingMarks(1, depth)} ${title}\n\n`,
  taskEnd: (title) => `(End of: ${title})\n\n`,
  end: '',
};

const HTML: ExportFormat = {
  start: conversationPageStart,
  part: partAsHtml,
  taskStart: (title) => `<details><summary>${html(title)}</summary>\n`,
  taskEnd: () => '</details>\n',
  end: CONVERSATION_PAGE_END,
};

type LogStore = Pick<UiLibrary['store'], 'exists' | 'streamEvents'>;

/** The conversation to export. */
interface ExportRequest {
  readonly task: string;
  /** The absolute path of the new file. */
  readonly path: string;
  /** Whether the conversations of the tasks below are written, too, each where its task was started. */
  readonly withTasks: boolean;
}

/** The result of an export. */
interface ExportOutcome {
  readonly bytes: number;
  /** The number of tasks that the exported conversations have started. */
  readonly tasks: number;
}

/**
 * Writes the conversation of a task from its log to a new file, which only the user can read. The logs are read in bounded
 * memory, and the screen stays responsive meanwhile. Events that an undo took back and messages that the user took back
 * are left out. Rejects with MusterError if the file exists or cannot be written; then no part of it is left.
 */
export async function writeConversation(
  store: LogStore,
  { task, path, withTasks }: ExportRequest,
): Promise<ExportOutcome> {
  const format = /\.html?$/i.test(path) ? HTML : MARKDOWN;
  const file = new NewFile(path);
  try {
    const written = new ConversationWriter(store, { file, format, withTasks });
    await written.add(task, 0);
    file.write(format.end);
    file.close();
    return { bytes: file.bytes, tasks: written.tasks };
  } catch (thrown) {
    file.discard();
    throw toFileError(path, thrown);
  }
}

/** The size of the text that is written to the file at once, in UTF-16 units. */
const CHUNK_LENGTH = 64 * 1024;

/** A file that is written from its beginning to its end. */
class NewFile {
  bytes = 0;
  private readonly path: string;
  private readonly descriptor: number;
  private isOpen = true;
  private waiting = '';

  constructor(path: string) {
    this.path = path;
    try {
      this.descriptor = openSync(path, 'wx', 0o600);
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'EEXIST') throw toFileError(path, thrown);
      throw new MusterError('CONFLICT', `${path} exists: /export with another name`);
    }
  }

  write(text: string): void {
    this.waiting += text;
    if (this.waiting.length >= CHUNK_LENGTH) this.flush();
  }

  close(): void {
    this.flush();
    this.isOpen = false;
    closeSync(this.descriptor);
  }

  /** Removes the file. */
  discard(): void {
    rmSync(this.path, { force: true });
    if (this.isOpen) closeSync(this.descriptor);
  }

  private flush(): void {
    const content = Buffer.from(this.waiting);
    this.waiting = '';
    for (let at = 0; at < content.length;) at += writeSync(this.descriptor, content, at);
    this.bytes += content.length;
  }
}

/** Writes conversations, each with those of the tasks below it. */
class ConversationWriter {
  /** The number of tasks that the conversations have started. */
  tasks = 0;
  private readonly store: LogStore;
  private readonly options: {
    readonly file: NewFile;
    readonly format: ExportFormat;
    readonly withTasks: boolean;
  };
  /** The tasks that have been written. A damaged log could name a task above it as its child. */
  private readonly seen = new Set<string>();

  constructor(store: LogStore, options: ConversationWriter['options']) {
    this.store = store;
    this.options = options;
  }

  async add(task: string, depth: number): Promise<void> {
    const { file, format, withTasks } = this.options;
    this.seen.add(task);
    const isKept = await readKeptEvents(this.store, task);
    let title = '';
    for await (const event of this.store.streamEvents(task, 0)) {
      if (!isKept(event.seq, event.type === 'input.queued' ? event.input.id : null)) continue;
      if (event.type === 'task.created') {
        const { agent, description } = event.spec;
        const own = sanitizeLine(collapseWhitespace(description));
        title = depth === 0 ? own : `Task ${task.slice(0, 8)}, ${sanitizeLine(agent.name)}: ${own}`;
        file.write(depth === 0 ? format.start(title) : format.taskStart(title, depth));
      }
      for (const part of exportedParts(event)) file.write(format.part(part, depth));
      if (event.type !== 'child.created') continue;
      this.tasks += 1;
      if (withTasks && !this.seen.has(event.child)) await this.addChild(event.child, depth + 1);
    }
    if (depth > 0) file.write(format.taskEnd(title));
  }

  private async addChild(task: string, depth: number): Promise<void> {
    if (this.store.exists(task)) {
      await this.add(task, depth);
      return;
    }
    const { file, format } = this.options;
    const title = `Task ${task.slice(0, 8)}: its log is not here any more`;
    file.write(format.taskStart(title, depth));
    file.write(format.taskEnd(title));
  }
}

/**
 * Returns a test for events: whether no undo has taken the event back, and the user has not taken the message of the event
 * back.
 */
async function readKeptEvents(
  store: LogStore,
  task: string,
): Promise<(seq: number, input: string | null) => boolean> {
  const rewinds: { readonly seq: number; readonly to: number }[] = [];
  const withdrawals = new Map<string, number>();
  let last = -1;
  for await (const event of store.streamEvents(task, 0)) {
    last = event.seq;
    if (event.type === 'task.rewound') rewinds.push({ seq: event.seq, to: event.to });
    if (event.type !== 'input.withdrawn') continue;
    for (const id of event.ids) withdrawals.set(id, event.seq);
  }
  const isLive = liveEventFilter(rewinds, last);
  return (seq, input) => {
    const withdrawnAt = input === null ? undefined : withdrawals.get(input);
    return isLive(seq) && (withdrawnAt === undefined || !isLive(withdrawnAt));
  };
}
