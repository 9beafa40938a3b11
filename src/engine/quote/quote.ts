import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { byteLength } from '../../base/text.ts';
import { inspectAttachment } from '../../tools/attachments/inspect-file.ts';
import { describeExcess } from '../../tools/attachments/attachment-limits.ts';
import { describeAttachment, type Attachment, type AttachPort } from '../../protocol/attachment.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { attachPortFor } from '../calls/attach.ts';
import type { EngineDeps } from '../task/deps.ts';
import { fitOutput } from '../calls/fit-output.ts';
import { readForTask } from '../permissions/read-for-task.ts';
import { fileMentions, type FileMention } from './file-mentions.ts';
import type { QuoteReader } from './recipient.ts';

/** What goes with a person's words. */
export interface QuoteRequest {
  /** Files that they name with `@` go along. */
  readonly words: string;
  readonly outputs: readonly CommandOutput[];
  readonly images: readonly ShownImage[];
}

/** What a command of the person's own came to. */
export interface CommandOutput {
  readonly command: string;
  /** How it ended: "exit code 1". */
  readonly outcome: string;
  readonly text: string;
}

export interface ShownImage {
  /** As the words call it: `[image #1]`. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface QuotedItems {
  /** The task that it is for. */
  readonly task: string;
  readonly enclosures: readonly QuotedItem[];
  /** What does not go along, and why: a line each. */
  readonly problems: readonly string[];
}

/** Files that one message brings along, and bytes of all that it does: the task reads the rest itself. */
const MOST_FILES = 16;
const MOST_BYTES = 262_144;

/** Gathers it; whatever can't go along is told. Rejects only when it is stopped. */
export async function quoteItems(
  deps: EngineDeps,
  receiver: QuoteReader,
  { words, outputs, images }: QuoteRequest,
  signal: AbortSignal,
): Promise<QuotedItems> {
  signal.throwIfAborted();
  const gathered = new Gathered(receiver.spec.id);
  const attach = attachPortFor(deps, receiver, () => gathered.attachments);
  for (const output of outputs) gathered.add(commandEnclosure(deps, receiver, output));
  for (const image of images) await gatherImage(gathered, image, attach);
  const meant = fileMentions(words, deps.agents.agents()).flatMap(
    (mention) => fileMeant(mention, receiver.spec.cwd) ?? [],
  );
  const mentioned = [...new Set(meant)];
  for (const path of mentioned.slice(0, MOST_FILES)) {
    const refusal = ({ reason }: Decision): string => reason;
    const file = await readForTask(deps, receiver, { path, attach, refusal, signal });
    if (file instanceof MusterError) gathered.leave(`@${path}`, file.message);
    else {
      const { text, read, attachments } = file;
      const shown = attachments.length === 0 ? {} : { attachments };
      gathered.add({ ...enclosureOf({ kind: 'file', name: path, text }), read, ...shown });
    }
  }
  for (const path of mentioned.slice(MOST_FILES)) {
    gathered.leave(`@${path}`, `one message brings along at most ${MOST_FILES} files`);
  }
  return gathered.enclosed;
}

class Gathered {
  private readonly task: string;
  private readonly enclosures: QuotedItem[] = [];
  private readonly problems: string[] = [];
  private bytes = 0;

  constructor(task: string) {
    this.task = task;
  }

  get enclosed(): QuotedItems {
    return { task: this.task, enclosures: this.enclosures, problems: this.problems };
  }

  get attachments(): readonly Attachment[] {
    return this.enclosures.flatMap(({ attachments = [] }) => attachments);
  }

  add(enclosure: QuotedItem): void {
    const bytes = byteLength(enclosure.text);
    if (this.bytes + bytes > MOST_BYTES) {
      const most = `with it this message would bring along more than enclosed_bytes = ${MOST_BYTES}`;
      this.leave(enclosure.name, most);
      return;
    }
    this.bytes += bytes;
    this.enclosures.push(enclosure);
  }

  leave(name: string, because: string): void {
    this.problems.push(`${name} does not go along: ${because}`);
  }
}

function enclosureOf({
  kind,
  name,
  text,
  outcome = '',
}: Pick<QuotedItem, 'kind' | 'name' | 'text'> & { readonly outcome?: string }): QuotedItem {
  return { kind, name, outcome, text, nonce: drawNonce(text) };
}

function commandEnclosure(
  { settings, store, redactBytes }: EngineDeps,
  { spec }: QuoteReader,
  { command, outcome, text }: CommandOutput,
): QuotedItem {
  const fitted = fitOutput(
    text,
    { name: 'Bash' },
    {
      caps: settings.caps,
      spillPath: () => store.createSpillFile(spec.id, newId()),
      ...(redactBytes === undefined ? {} : { redactBytes }),
    },
  );
  return enclosureOf({ kind: 'command', name: command, text: fitted, outcome });
}

async function gatherImage(
  gathered: Gathered,
  { name, bytes }: ShownImage,
  attach: AttachPort,
): Promise<void> {
  const facts = inspectAttachment(bytes);
  if (typeof facts === 'string') {
    gathered.leave(name, facts);
    return;
  }
  const attached = describeExcess(facts) ?? (await attach.add(facts, bytes));
  if (typeof attached === 'string') {
    gathered.leave(name, attached);
    return;
  }
  const outcome = describeAttachment(facts);
  gathered.add({
    ...enclosureOf({ kind: 'image', name, text: '', outcome }),
    attachments: [attached],
  });
}

/** The first of the names that is a file; null: it is text, as most words with an `@` are. */
function fileMeant(mention: FileMention, cwd: string): string | null {
  return mention.find((name) => isFile(resolve(cwd, name))) ?? null;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Not there, or not to be looked at: a word like others.
    return false;
  }
}
