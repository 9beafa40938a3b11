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
import { createQuoteAttachPort } from '../calls/attachment-ports.ts';
import type { EngineDeps } from '../task/deps.ts';
import { fitOutput } from '../calls/fit-output.ts';
import { readForTask } from '../permissions/read-for-task.ts';
import type { RecipientTask } from './recipient.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import { QUOTED_TEXT } from '../../agents/mentions.ts';
import { lazy } from '../../base/lazy.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

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
const MAX_FILES = 16;
const MAX_BYTES = 262_144;

/** Gathers it; whatever can't go along is told. Rejects only when it is stopped. */
export async function quoteItems(
  deps: EngineDeps,
  receiver: RecipientTask,
  { words, outputs, images }: QuoteRequest,
  signal: AbortSignal,
): Promise<QuotedItems> {
  signal.throwIfAborted();
  const gathered = new QuoteCollector(receiver.spec.id);
  const attach = createQuoteAttachPort(deps, receiver, () => gathered.attachments);
  for (const output of outputs) gathered.add(quoteCommand(deps, receiver, output));
  for (const image of images) await addImage(gathered, image, attach);
  const meant = findFileMentions(words, deps.agents.agents()).flatMap(
    (mention) => findMentionedFile(mention, receiver.spec.cwd) ?? [],
  );
  const mentioned = [...new Set(meant)];
  for (const path of mentioned.slice(0, MAX_FILES)) {
    const refusal = ({ reason }: Decision): string => reason;
    const file = await readForTask(deps, receiver, { path, attach, refusal, signal });
    if (file instanceof MusterError) gathered.reportProblem(`@${path}`, file.message);
    else {
      const { text, read, attachments } = file;
      const shown = attachments.length === 0 ? {} : { attachments };
      gathered.add({ ...quoteItem({ kind: 'file', name: path, text }), read, ...shown });
    }
  }
  for (const path of mentioned.slice(MAX_FILES)) {
    gathered.reportProblem(`@${path}`, `one message brings along at most ${MAX_FILES} files`);
  }
  return gathered.result;
}

class QuoteCollector {
  private readonly task: string;
  private readonly enclosures: QuotedItem[] = [];
  private readonly problems: string[] = [];
  private bytes = 0;

  constructor(task: string) {
    this.task = task;
  }

  get result(): QuotedItems {
    return { task: this.task, enclosures: this.enclosures, problems: this.problems };
  }

  get attachments(): readonly Attachment[] {
    return this.enclosures.flatMap(({ attachments = [] }) => attachments);
  }

  add(enclosure: QuotedItem): void {
    const bytes = byteLength(enclosure.text);
    if (this.bytes + bytes > MAX_BYTES) {
      const most = `with it this message would bring along more than enclosed_bytes = ${MAX_BYTES}`;
      this.reportProblem(enclosure.name, most);
      return;
    }
    this.bytes += bytes;
    this.enclosures.push(enclosure);
  }

  reportProblem(name: string, because: string): void {
    this.problems.push(`${name} does not go along: ${because}`);
  }
}

function quoteItem({
  kind,
  name,
  text,
  outcome = '',
}: Pick<QuotedItem, 'kind' | 'name' | 'text'> & { readonly outcome?: string }): QuotedItem {
  return { kind, name, outcome, text, nonce: drawNonce(text) };
}

function quoteCommand(
  { settings, store, redactBytes }: EngineDeps,
  { spec }: RecipientTask,
  { command, outcome, text }: CommandOutput,
): QuotedItem {
  const fitted = fitOutput(
    text,
    { name: 'Bash' },
    {
      caps: settings.caps,
      spillPath: () => store.spillFile(spec.id, newId()),
      ...(redactBytes === undefined ? {} : { redactBytes }),
    },
  );
  return quoteItem({ kind: 'command', name: command, text: fitted, outcome });
}

async function addImage(
  gathered: QuoteCollector,
  { name, bytes }: ShownImage,
  attach: AttachPort,
): Promise<void> {
  const facts = inspectAttachment(bytes);
  if (typeof facts === 'string') {
    gathered.reportProblem(name, facts);
    return;
  }
  const attached = describeExcess(facts) ?? (await attach.add(facts, bytes));
  if (typeof attached === 'string') {
    gathered.reportProblem(name, attached);
    return;
  }
  const outcome = describeAttachment(facts);
  gathered.add({
    ...quoteItem({ kind: 'image', name, text: '', outcome }),
    attachments: [attached],
  });
}

/** The first of the names that is a file; null: it is text, as most words with an `@` are. */
function findMentionedFile(mention: FileMention, cwd: string): string | null {
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

/** `@path`, or `@"path with blanks"`, where a word begins. */
const MENTION_PATTERN = lazy(
  () => /(?<!\S)[([{'"]?@(?:"([^"\n]{1,4096})"|([^\s"@][^\s"]{0,4095}))/gu,
);
/** What ends a sentence or closes a bracket may end a name, too: both are looked for. */
const TRAILING_MARKS = /[.,;:!?)\]}'`]+$/;

/** What a person may mean by one `@`: the first of them that is a file. */
export type FileMention = readonly string[];

/**
 * The files that a person's words may name with `@`, in their order: not what names an agent type, nor what
 * stands in code or came along from stdin.
 */
export function findFileMentions(
  words: string,
  agents: readonly AgentDefinition[],
): readonly FileMention[] {
  if (!words.includes('@')) return [];
  const found = new Map<string, FileMention>();
  for (const [, quoted, word = ''] of words
    .replaceAll(QUOTED_TEXT, ' ')
    .matchAll(MENTION_PATTERN())) {
    const names = quoted === undefined ? [word, word.replace(TRAILING_MARKS, '')] : [quoted];
    const meant = [...new Set(names)].filter((name) => name !== '');
    if (meant.some((name) => lookUpAgent(name, agents) !== undefined)) continue;
    found.set(meant.join('\n'), meant);
  }
  return [...found.values()];
}
