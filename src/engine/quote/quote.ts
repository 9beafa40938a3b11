import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { byteLength } from '../../base/text.ts';
import { describeExcess, inspectAttachment } from '../../tools/attachments/inspect-file.ts';
import { describeAttachment, type Attachment, type AttachPort } from '../../protocol/attachment.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { createQuoteAttachPort } from '../calls/attachment-ports.ts';
import type { EngineDeps } from '../task/deps.ts';
import { fitOutput } from '../calls/execute-call.ts';
import { readForTask } from '../permissions/read-for-task.ts';
import type { RecipientTask } from './recipient.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import { QUOTED_TEXT } from '../../agents/mentions.ts';
import { lazy } from '../../base/lazy.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/** The parts of a user's message that are to be quoted with it. */
export interface QuoteRequest {
  /** The text of the message. The files that it names with `@` are quoted. */
  readonly words: string;
  readonly outputs: readonly CommandOutput[];
  readonly images: readonly ShownImage[];
}

/** The result of a command that the user ran. */
export interface CommandOutput {
  readonly command: string;
  /** The way it ended: "exit code 1". */
  readonly outcome: string;
  readonly text: string;
}

export interface ShownImage {
  /** The name that the message uses for it: `[image #1]`. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface QuotedItems {
  /** The task that the items are quoted for. */
  readonly task: string;
  readonly enclosures: readonly QuotedItem[];
  /** One line for each item that could not be quoted, with the reason. */
  readonly problems: readonly string[];
}

/**
 * The maximum number of files and the maximum number of bytes that one message quotes. The task can read the rest
 * itself.
 */
const MAX_FILES = 16;
const MAX_BYTES = 262_144;

/**
 * Collects the quoted items of a message, and reports those that cannot be quoted. Rejects only when `signal`
 * aborts.
 */
export async function quoteItems(
  deps: EngineDeps,
  receiver: RecipientTask,
  { words, outputs, images }: QuoteRequest,
  signal: AbortSignal,
): Promise<QuotedItems> {
  signal.throwIfAborted();
  const collector = new QuoteCollector(receiver.spec.id);
  const attach = createQuoteAttachPort(deps, receiver, () => collector.attachments);
  for (const output of outputs) collector.add(quoteCommand(deps, receiver, output));
  for (const image of images) await addImage(collector, image, attach);
  const meant = findFileMentions(words, deps.agents.agents()).flatMap(
    (mention) => findMentionedFile(mention, receiver.spec.cwd) ?? [],
  );
  const mentioned = [...new Set(meant)];
  for (const path of mentioned.slice(0, MAX_FILES)) {
    const refusal = ({ reason }: Decision): string => reason;
    const file = await readForTask(deps, receiver, { path, attach, refusal, signal });
    if (file instanceof MusterError) collector.reportProblem(`@${path}`, file.message);
    else {
      const { text, read, attachments } = file;
      const shown = attachments.length === 0 ? {} : { attachments };
      collector.add({ ...quoteItem({ kind: 'file', name: path, text }), read, ...shown });
    }
  }
  for (const path of mentioned.slice(MAX_FILES)) {
    collector.reportProblem(`@${path}`, `one message brings along at most ${MAX_FILES} files`);
  }
  return collector.result;
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

  reportProblem(name: string, reason: string): void {
    this.problems.push(`${name} does not go along: ${reason}`);
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
      spillPath: () => store.createSpillFile(spec.id, newId()),
      ...(redactBytes === undefined ? {} : { redactBytes }),
    },
  );
  return quoteItem({ kind: 'command', name: command, text: fitted, outcome });
}

async function addImage(
  collector: QuoteCollector,
  { name, bytes }: ShownImage,
  attach: AttachPort,
): Promise<void> {
  const details = inspectAttachment(bytes);
  if (typeof details === 'string') {
    collector.reportProblem(name, details);
    return;
  }
  const attached = describeExcess(details) ?? (await attach.add(details, bytes));
  if (typeof attached === 'string') {
    collector.reportProblem(name, attached);
    return;
  }
  const outcome = describeAttachment(details);
  collector.add({
    ...quoteItem({ kind: 'image', name, text: '', outcome }),
    attachments: [attached],
  });
}

/**
 * Returns the first of the names that is a file, or null if the mention is ordinary text, as most words with `@`
 * are.
 */
function findMentionedFile(mention: FileMention, cwd: string): string | null {
  return mention.find((name) => isFile(resolve(cwd, name))) ?? null;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // A missing or unreadable path makes the mention ordinary text.
    return false;
  }
}

/** Matches `@path` or `@"path with blanks"` at the beginning of a word. */
const MENTION_PATTERN = lazy(
  () => /(?<!\S)[([{'"]?@(?:"([^"\n]{1,4096})"|([^\s"@][^\s"]{0,4095}))/gu,
);
/** Punctuation that may end a sentence or belong to a file name: the name is tried with and without it. */
const TRAILING_MARKS = /[.,;:!?)\]}'`]+$/;

/** The names that one `@` may stand for. The first of them that is a file is quoted. */
export type FileMention = readonly string[];

/**
 * Finds the files that a message may name with `@`, in order. Agent types, code and text from stdin are left
 * out.
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
