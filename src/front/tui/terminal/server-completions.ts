import type { AutocompleteItem, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../../../base/text.ts';
import type { ContentServer, ServerContent } from '../../../api/index.ts';
import { readPromptCommand, readResourceMention } from '../../../protocol/server-mentions.ts';
import { findTypedArgument, findTypedVariable, startOfTemplate } from '../model/typed-arguments.ts';
import { formatMention, isPlainText, matchFiles } from './mention-text.ts';

/** The time after which the resources of a server are listed again. */
const LISTING_LIFETIME_MS = 10_000;
/** The time without a key before a server is asked for values. */
const QUIET_MS = 150;
/** The time for which a list waits for a server. Its answer is offered with the next letter. */
const MAX_WAIT_MS = 3_000;
/** The time for which a list of files waits for the resources of a connected server. */
const MAX_WAIT_BESIDE_FILES_MS = 300;
/** The maximum number of resources and values that are offered of a server. */
const MAX_OFFERED = 200;
/** The maximum length of a description, in code points. */
const MAX_HELP_LENGTH = 120;

type ResourceList = Awaited<ReturnType<ServerContent['listResources']>>;

interface CompletionOptions {
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Aborts requests that have not ended. */
  readonly signal: AbortSignal;
}

/** The completions of resources and of arguments of prompts. No failure of a server is shown: nothing is offered then. */
export class ServerCompletions {
  private readonly content: ServerContent;
  private readonly options: CompletionOptions;
  private readonly lists = new Map<
    string,
    { readonly at: number; readonly list: Promise<ResourceList | null> }
  >();
  private readonly partial = new WeakSet<AutocompleteItem>();

  constructor(content: ServerContent, options: CompletionOptions) {
    this.content = content;
    this.options = options;
  }

  /** Tells whether the user goes on typing the same word after a completion. */
  isPartial(item: AutocompleteItem): boolean {
    return this.partial.has(item);
  }

  /**
   * Completes the resource that a mention names. A mention that names a server starts it; any other one is completed with
   * resources of connected servers only.
   */
  async completeResource(typed: string, signal: AbortSignal): Promise<readonly AutocompleteItem[]> {
    const { servers } = this.content;
    const named = readResourceMention(`${typed}x`);
    const server = servers.find(({ name }) => name === named?.server);
    if (server !== undefined) {
      const list = await this.wait(this.list(server), MAX_WAIT_MS, signal);
      const uri = typed.slice(server.name.length + 1);
      return list === null ? [] : await this.completeUri(server, { uri, list }, signal);
    }
    const found = servers.flatMap(({ name, hasResources }) =>
      hasResources === true && name.toLowerCase().startsWith(typed.toLowerCase())
        ? [this.createPartial(`@${name}:`, 'resources of an MCP server')]
        : [],
    );
    const lists = await Promise.all(
      servers
        .filter(({ isConnected, hasResources }) => isConnected && hasResources === true)
        .map(async (each) => {
          const list = await this.wait(this.list(each), MAX_WAIT_BESIDE_FILES_MS, signal);
          return list === null || typed === '' ? [] : offerResources(each.name, list, typed);
        }),
    );
    return [...found, ...lists.flat()];
  }

  /** Completes the argument of a prompt that is being typed. */
  async completeArgument(
    before: string,
    signal: AbortSignal,
  ): Promise<AutocompleteSuggestions | null> {
    const command = readPromptCommand(before);
    const server = this.content.servers.find(({ name }) => name === command?.server);
    const prompt = server?.prompts.find(({ name }) => name === command?.prompt);
    if (server === undefined || prompt === undefined || !/\s/.test(before)) return null;
    const typed = findTypedArgument(prompt, before.replace(/^\s*\/\S+\s+/, ''));
    if (typed === null) return null;
    const { name, value, word, known } = typed;
    const values = server.hasCompletion
      ? await this.askForValues(
          server,
          { of: { prompt: prompt.name }, argument: name, value, known },
          signal,
        )
      : [];
    const start = word.slice(0, word.length - value.length);
    const items = values.map((each) => ({
      value: `${start}${/[\s"'\\]/.test(each) ? JSON.stringify(each) : each}`,
      label: each,
    }));
    const names = prompt.arguments
      .filter((each) => !(each.name in known) && `${each.name}=`.startsWith(word))
      .filter((each) => `${each.name}=` !== word && isPlainText(each.name))
      .map((each) => this.createPartial(`${each.name}=`, describe(each.description)));
    const all = [...items, ...names];
    return all.length === 0 ? null : { items: all, prefix: word };
  }

  private async completeUri(
    server: ContentServer,
    { uri, list }: { readonly uri: string; readonly list: ResourceList },
    signal: AbortSignal,
  ): Promise<readonly AutocompleteItem[]> {
    const resources = offerResources(server.name, list, uri);
    const templates = list.templates.filter(({ uriTemplate }) => isPlainText(uriTemplate));
    const starts = templates.flatMap(({ uriTemplate, name, description }) => {
      const start = startOfTemplate(uriTemplate);
      const isOffered = start.toLowerCase().startsWith(uri.toLowerCase()) && start !== uri;
      const help = `${uriTemplate} ${describe(description ?? name)}`;
      return isOffered ? [this.createPartial(`@${server.name}:${start}`, help)] : [];
    });
    if (!server.hasCompletion) return [...resources, ...starts];
    const values = await Promise.all(
      templates.map(async ({ uriTemplate }) => {
        const variable = findTypedVariable(uriTemplate, uri);
        if (variable === null) return [];
        const { name: argument, value, before, after, isLast, known } = variable;
        const request = { of: { uriTemplate }, argument, value, known };
        const found = await this.askForValues(server, request, signal);
        return found.map((each) => {
          const completed = `${server.name}:${before}${each}${after}`;
          return isLast
            ? { value: formatMention(completed), label: completed }
            : this.createPartial(`@${completed}`, '');
        });
      }),
    );
    return [...resources, ...starts, ...values.flat()];
  }

  private createPartial(value: string, description: string): AutocompleteItem {
    const item = { value, label: value, description };
    this.partial.add(item);
    return item;
  }

  private list({ name }: ContentServer): Promise<ResourceList | null> {
    const now = this.options.now();
    const known = this.lists.get(name);
    if (known !== undefined && now - known.at < LISTING_LIFETIME_MS) return known.list;
    // A server that cannot be used offers nothing. The message that names it says why.
    const list = this.content.listResources(name, this.options.signal).catch(() => null);
    this.lists.set(name, { at: now, list });
    return list;
  }

  private async askForValues(
    { name }: ContentServer,
    request: Parameters<ServerContent['complete']>[1],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    await pause(QUIET_MS, signal);
    if (signal.aborted) return [];
    // The request ends with the next key.
    const ended = AbortSignal.any([signal, this.options.signal]);
    const values = this.content.complete(name, request, ended).catch(() => null);
    const found = (await this.wait(values, MAX_WAIT_MS, signal)) ?? [];
    return found.filter((value) => value !== '' && isPlainText(value)).slice(0, MAX_OFFERED);
  }

  /** Waits for an answer until a key is pressed, but not longer than a limit. Returns null if there is none by then. */
  private async wait<T>(
    answer: Promise<T | null>,
    maxMs: number,
    signal: AbortSignal,
  ): Promise<T | null> {
    const ended = new AbortController();
    try {
      return await Promise.race([
        answer,
        pause(maxMs, AbortSignal.any([signal, this.options.signal, ended.signal])),
      ]);
    } finally {
      ended.abort();
    }
  }
}

/** Resolves to null after a time, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) return void resolve(null);
    const timer = setTimeout(() => resolve(null), ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(null);
    });
  });
}

function offerResources(
  server: string,
  { resources }: ResourceList,
  typed: string,
): readonly AutocompleteItem[] {
  const byUri = new Map(
    resources.flatMap((each) => (isPlainText(each.uri) ? [[each.uri, each] as const] : [])),
  );
  return matchFiles([...byUri.keys()], typed)
    .slice(0, MAX_OFFERED)
    .map((uri) => {
      const { title, name = '' } = byUri.get(uri) ?? {};
      const mention = formatMention(`${server}:${uri}`);
      return { value: mention, label: mention, description: describe(title ?? name) };
    });
}

function describe(text = ''): string {
  return truncate(collapseWhitespace(sanitizeLine(text)), MAX_HELP_LENGTH);
}
