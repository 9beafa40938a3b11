import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { byteLength, truncate } from '../../base/text.ts';
import { describeExcess, inspectAttachment } from '../../tools/attachments/inspect-file.ts';
import { describeAttachment, type Attachment, type AttachPort } from '../../protocol/attachment.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { createQuoteAttachPort } from '../calls/attachment-ports.ts';
import type { EngineDeps } from '../task/deps.ts';
import { fitOutput } from '../calls/execute-call.ts';
import { readForTask } from '../permissions/read-for-task.ts';
import { readSlashText } from '../../protocol/slash-text.ts';
import { readResourceMention } from '../../protocol/server-mentions.ts';
import { quotePrompt, quoteResource, type MentionedResource } from './server-items.ts';
import type { RecipientTask } from './recipient.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import { QUOTED_TEXT } from '../../agents/mentions.ts';
import { lazy } from '../../base/lazy.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/** The files, command outputs and images that a user's message refers to. */
export interface QuoteRequest {
  /** The text of the message. Files that are named in it with `@` are quoted. */
  readonly words: string;
  readonly outputs: readonly CommandOutput[];
  readonly images: readonly ShownImage[];
  /** Set if a text such as `/unknown` is a mistake. Default: it is an ordinary message. */
  readonly requiresKnownCommand?: true;
}

/** The result of a command that the user ran. */
export interface CommandOutput {
  readonly command: string;
  /** The outcome in words, such as "exit code 1". */
  readonly outcome: string;
  readonly text: string;
}

/** An image that the user adds to a message. */
export interface ShownImage {
  /** The name that the message uses for it: `[image #1]`. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** The items that go to a task with a message. */
export interface QuotedItems {
  /** The task that the items are quoted for. */
  readonly task: string;
  /** The quoted items, in order. */
  readonly enclosures: readonly QuotedItem[];
  /** One line for each item that could not be quoted and each term of a slash command that cannot be had, with the reason. */
  readonly problems: readonly string[];
}

/**
 * The limits on the number of files and on the bytes that are quoted with one message. The task can read the rest
 * itself.
 */
const MAX_FILES = 16;
const MAX_BYTES = 262_144;

/**
 * Collects the quoted items of a message, and reports those that cannot be quoted. Rejects when `signal` aborts, and with
 * MusterError if the message runs a slash command or chooses a prompt of an MCP server that cannot be had: the message says
 * nothing without it.
 */
export async function quoteItems(
  deps: EngineDeps,
  recipient: RecipientTask,
  { words, outputs, images, requiresKnownCommand }: QuoteRequest,
  signal: AbortSignal,
): Promise<QuotedItems> {
  signal.throwIfAborted();
  const collector = new QuoteCollector(recipient.spec.id);
  const attach = createQuoteAttachPort(deps, recipient, () => collector.attachments);
  for (const output of outputs) collector.add(quoteCommand(deps, recipient, output));
  for (const image of images) await addImage(collector, image, attach);
  const context = { attach, signal };
  const command = await quoteCommandOrNone(deps, words);
  const terms = await readTermsOrNone(deps, recipient, command?.command);
  for (const item of command?.items ?? [])
    collector.addRequired(item.kind === 'slash_command' ? { ...item, ...terms?.fields } : item);
  for (const problem of terms?.problems ?? []) collector.note(problem);
  const prompt = command === null ? await quotePrompt(deps, recipient, words, context) : [];
  for (const item of prompt) {
    if (item.kind === 'prompt') collector.addRequired(item);
    else collector.add(item);
  }
  if (requiresKnownCommand && command === null && prompt.length === 0) {
    const { refuseUnknownCommand } = await import('./slash-command.ts');
    refuseUnknownCommand(deps, words);
  }
  const { cwd } = recipient.spec;
  const parts = deps.mcp?.parts ?? [];
  const agents = deps.agents.agents();
  const written = [
    ...findFileMentions(words, agents),
    ...(command === null ? [] : findFileMentions(command.text, agents)),
    ...(command?.files ?? []).map((path) => [path]),
  ];
  const mentions = written.flatMap(
    (mention) => findMentionedFile(mention, cwd) ?? findMentionedResource(mention, parts) ?? [],
  );
  collector.reportMissing(
    written.flatMap((mention) =>
      findMentionedResource(mention, parts) === null ? (findMissingFile(mention, cwd) ?? []) : [],
    ),
  );
  const unique = new Map(mentions.map((mention) => [nameMention(mention), mention]));
  for (const [index, [name, mention]] of [...unique].entries()) {
    const item =
      index >= MAX_FILES
        ? `at most ${MAX_FILES} files and resources are quoted with one message`
        : typeof mention === 'string'
          ? await quoteFile(deps, recipient, mention, context)
          : await quoteResource(deps, recipient, mention, context);
    if (typeof item === 'string') collector.reportProblem(`@${name}`, item);
    else collector.add(item);
  }
  return collector.result;
}

/** Quotes the slash command that a message runs. The code for this is loaded only for a text that begins with a slash. */
async function quoteCommandOrNone(deps: EngineDeps, words: string) {
  if (readSlashText(words) === null) return null;
  const { quoteSlashCommand } = await import('./slash-command.ts');
  return await quoteSlashCommand(deps, words);
}

/** Reads what a slash command sets for its turn. The code for this is loaded only for a command that sets anything. */
async function readTermsOrNone(
  deps: EngineDeps,
  recipient: RecipientTask,
  command: SlashCommandDefinition | undefined,
) {
  if (command === undefined) return null;
  if (command.model === undefined && command.turnRules.length === 0) return null;
  const { readTurnTerms } = await import('./turn-terms.ts');
  return readTurnTerms(deps, recipient, command);
}

function nameMention(mention: string | MentionedResource): string {
  return typeof mention === 'string' ? mention : `${mention.server}:${mention.uris[0] ?? ''}`;
}

/** Quotes a file that the task may read. Returns the reason if it may not. */
async function quoteFile(
  deps: EngineDeps,
  recipient: RecipientTask,
  path: string,
  context: { readonly attach: AttachPort; readonly signal: AbortSignal },
): Promise<QuotedItem | string> {
  const refusal = ({ reason }: Decision): string => reason;
  const file = await readForTask(deps, recipient, { path, refusal, ...context });
  if (file instanceof MusterError) return file.message;
  const { text, read, attachments } = file;
  const shown = attachments.length === 0 ? {} : { attachments };
  return { ...quoteItem({ kind: 'file', name: path, text }), read, ...shown };
}

const TOO_LARGE = `with it, the quoted items of this message would exceed the limit enclosed_bytes = ${MAX_BYTES}`;
/** The limits on the names of missing files that are reported with one message. */
const MAX_NAMED_MISSING = 3;
const MAX_NAME = 100;

class QuoteCollector {
  private readonly task: string;
  private readonly items: QuotedItem[] = [];
  private readonly problems: string[] = [];
  private bytes = 0;

  constructor(task: string) {
    this.task = task;
  }

  get result(): QuotedItems {
    return { task: this.task, enclosures: this.items, problems: this.problems };
  }

  get attachments(): readonly Attachment[] {
    return this.items.flatMap(({ attachments = [] }) => attachments);
  }

  add(item: QuotedItem): void {
    if (!this.addIfFits(item)) this.reportProblem(item.name, TOO_LARGE);
  }

  /** Adds an item without which the message must not be sent. Throws MusterError if it is too large. */
  addRequired(item: QuotedItem): void {
    if (!this.addIfFits(item)) throw new MusterError('INVALID_PARAM', `${item.name}: ${TOO_LARGE}`);
  }

  private addIfFits(item: QuotedItem): boolean {
    const bytes = byteLength(item.text);
    if (this.bytes + bytes > MAX_BYTES) return false;
    this.bytes += bytes;
    this.items.push(item);
    return true;
  }

  reportProblem(name: string, reason: string): void {
    this.note(`${name} is not quoted: ${reason}`);
  }

  /** Adds a line about the message. */
  note(line: string): void {
    this.problems.push(line);
  }

  /** Reports in one line the names that look like names of files but belong to none. */
  reportMissing(names: readonly string[]): void {
    if (names.length === 0) return;
    const shown = names.slice(0, MAX_NAMED_MISSING).map((name) => `@${truncate(name, MAX_NAME)}`);
    const more = names.length - shown.length;
    const all = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
    const why = names.length === 1 ? 'there is no such file' : 'there are no such files';
    this.problems.push(`${all}: ${why}, so the text is sent as it is`);
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
 * Returns the first name of a mention that is the name of a file. Returns null if there is none: most words with `@`
 * are ordinary text.
 */
function findMentionedFile(mention: FileMention, cwd: string): string | null {
  return mention.find((name) => isFile(resolve(cwd, name))) ?? null;
}

/** Returns the resource of a mention if it names a configured server, and null otherwise. */
function findMentionedResource(
  mention: FileMention,
  servers: readonly string[],
): MentionedResource | null {
  // A URI rarely ends with a punctuation mark, so the shortest name is tried first.
  const found = mention.toReversed().flatMap((name) => readResourceMention(name) ?? []);
  const [first] = found;
  if (first === undefined || !servers.includes(first.server)) return null;
  return { server: first.server, uris: found.map(({ uri }) => uri) };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // A missing or unreadable path makes the mention ordinary text.
    return false;
  }
}

/** Matches a name that ends like the name of a file, or that begins like a path. */
const FILE_LIKE = /^(?!~).*\w\.[a-z][a-z\d]{0,7}$|^\.{0,2}\//i;

/**
 * Returns the name of a mention that is meant as a file which does not exist; null if the mention names something that
 * exists, or is ordinary text such as `@someone` or `@types/node`.
 */
export function findMissingFile(mention: FileMention, cwd: string): string | null {
  if (mention.some((name) => existsSync(resolve(cwd, name)))) return null;
  // The last name has no punctuation at its end.
  const name = mention.at(-1) ?? '';
  const [folder = ''] = name.split('/', 1);
  const isInFolder = folder !== name && folder !== '' && existsSync(resolve(cwd, folder));
  return FILE_LIKE.test(name) || isInFolder ? name : null;
}

/** Matches `@path` or `@"path with spaces"` at the beginning of a word. */
const MENTION_PATTERN = lazy(
  () => /(?<!\S)[([{'"]?@(?:"([^"\n]{1,4096})"|([^\s"@][^\s"]{0,4095}))/gu,
);
/** Punctuation that may end a sentence or belong to a file name, so that a name is tried with and without it. */
const TRAILING_PUNCTUATION = /[.,;:!?)\]}'`]+$/;

/** The possible file names of one `@`. The first name that belongs to a file is quoted. */
export type FileMention = readonly string[];

/**
 * Finds the files that a message may name with `@`, in order. Names of agents, code blocks and text from stdin are
 * left out.
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
    const names = quoted === undefined ? [word, word.replace(TRAILING_PUNCTUATION, '')] : [quoted];
    const distinct = [...new Set(names)].filter((name) => name !== '');
    if (distinct.some((name) => lookUpAgent(name, agents) !== undefined)) continue;
    found.set(distinct.join('\n'), distinct);
  }
  return [...found.values()];
}
