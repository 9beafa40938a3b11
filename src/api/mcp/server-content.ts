import { MusterError } from '../../base/errors.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import type { McpConnections } from '../../mcp/connections.ts';
import { bindPromptArguments, formatPromptUsage } from '../../mcp/prompt-arguments.ts';
import type {
  McpCompletion,
  McpPrompt,
  McpPromptMessages,
  McpResourceContent,
  McpResourceList,
} from '../../mcp/server-data.ts';
import { listServerResources } from '../../mcp/server-features.ts';
import type { ToolCatalog } from '../../mcp/tool-catalog.ts';
import { buildMcpToolNames } from '../../mcp/tool-names.ts';

/** A prompt of a server under the name that the user types. The texts are the server's. */
export interface ServerPrompt extends McpPrompt {
  /** The name in `/SERVER:NAME`. It differs from `original` if that has other characters than letters, digits, `_` and `-`. */
  readonly name: string;
  /** The server's own name of it. */
  readonly original: string;
  /** The arguments as the help shows them: `FILE [STYLE]`. */
  readonly usage: string;
}

/** A configured server, as far as its resources and prompts are known without asking it. */
export interface ContentServer {
  /** The name in `@NAME:URI` and `/NAME:PROMPT`, and in the names of its tools. */
  readonly name: string;
  readonly isConnected: boolean;
  /** Whether it has resources; null if it was never used. */
  readonly hasResources: boolean | null;
  readonly hasCompletion: boolean;
  readonly prompts: readonly ServerPrompt[];
}

/**
 * The resources and prompts of a session's MCP servers, for people and programs. Each method starts the server if it does
 * not run, and rejects with MusterError: `NOT_FOUND` if there is no such server or prompt, others if the server cannot be
 * used or refuses the request. All texts are the server's.
 */
export interface ServerContent {
  /** The enabled servers. Asks none of them. */
  readonly servers: readonly ContentServer[];
  listResources(server: string, signal?: AbortSignal): Promise<McpResourceList>;
  readResource(
    server: string,
    uri: string,
    signal?: AbortSignal,
  ): Promise<readonly McpResourceContent[]>;
  listPrompts(server: string, signal?: AbortSignal): Promise<readonly ServerPrompt[]>;
  /** Gets the messages of a prompt. */
  getPrompt(
    server: string,
    prompt: string,
    args: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<McpPromptMessages>;
  /**
   * Returns values of an argument of a prompt or of a template that begin with a text; none if the server has no completion.
   */
  complete(
    server: string,
    completion: McpCompletion,
    signal?: AbortSignal,
  ): Promise<readonly string[]>;
}

/** Gives access to the resources and prompts of the servers of a catalog. */
export class CatalogContent implements ServerContent {
  private readonly catalog: ToolCatalog;
  private readonly connections: Pick<McpConnections, 'status'>;

  constructor(catalog: ToolCatalog, connections: Pick<McpConnections, 'status'>) {
    this.catalog = catalog;
    this.connections = connections;
  }

  get servers(): readonly ContentServer[] {
    const ready = new Set(
      this.connections
        .status()
        .flatMap(({ state, entry }) => (state === 'ready' ? entry.name : [])),
    );
    const known = new Map(this.catalog.servers.map(({ part, features }) => [part, features]));
    return Array.from(this.catalog.entriesByPart, ([name, entry]) => {
      const features = known.get(name) ?? null;
      return {
        name,
        isConnected: ready.has(entry.name),
        hasResources: features?.hasResources ?? null,
        hasCompletion: features?.hasCompletion ?? false,
        prompts: namePrompts(name, features?.prompts ?? []),
      };
    });
  }

  async listResources(server: string, signal = createSignal()): Promise<McpResourceList> {
    return await listServerResources(this.catalog.findUse(server), signal);
  }

  async readResource(
    server: string,
    uri: string,
    signal = createSignal(),
  ): Promise<readonly McpResourceContent[]> {
    return await this.catalog.findUse(server).readResource(uri, signal);
  }

  async listPrompts(server: string, signal = createSignal()): Promise<readonly ServerPrompt[]> {
    const { features } = await this.catalog.openNamed(server, signal);
    return namePrompts(server, features.prompts);
  }

  async getPrompt(
    server: string,
    prompt: string,
    args: Readonly<Record<string, string>>,
    signal = createSignal(),
  ): Promise<McpPromptMessages> {
    const { original } = await this.findPrompt(server, prompt, signal);
    return await this.catalog.findUse(server).getPrompt(original, args, signal);
  }

  /** Gets the messages of a prompt with the arguments that the user has typed after its name. */
  async getTypedPrompt(
    server: string,
    { prompt, argument }: { readonly prompt: string; readonly argument: string },
    signal: AbortSignal,
  ): Promise<McpPromptMessages> {
    const found = await this.findPrompt(server, prompt, signal);
    const bound = bindPromptArguments(`/${server}:${found.name}`, found, argument);
    if (!bound.ok) throw new MusterError('INVALID_PARAM', bound.problem);
    return await this.catalog.findUse(server).getPrompt(found.original, bound.values, signal);
  }

  async complete(
    server: string,
    { of, ...rest }: McpCompletion,
    signal = createSignal(),
  ): Promise<readonly string[]> {
    const { use, features } = await this.catalog.openNamed(server, signal);
    if (!features.hasCompletion) return [];
    if ('uriTemplate' in of) return await use.complete({ of, ...rest }, signal);
    const { original } = await this.findPrompt(server, of.prompt, signal);
    return await use.complete({ of: { prompt: original }, ...rest }, signal);
  }

  private async findPrompt(
    server: string,
    name: string,
    signal: AbortSignal,
  ): Promise<ServerPrompt> {
    const prompts = await this.listPrompts(server, signal);
    const found = prompts.find((each) => each.name === name || each.original === name);
    if (found !== undefined) return found;
    const [near] = suggestNames(
      name,
      prompts.map((each) => each.name),
    );
    const hint = near === undefined ? '' : `; did you mean /${server}:${near}?`;
    const message = `the MCP server ${server} has no prompt ${JSON.stringify(sanitizeLine(name))}${hint}`;
    throw new MusterError('NOT_FOUND', message);
  }
}

/** Gives each prompt the name under which the user types it, which has only letters, digits, `_` and `-`. */
function namePrompts(server: string, prompts: readonly McpPrompt[]): readonly ServerPrompt[] {
  const tools = prompts.map(({ name }) => name);
  const names = buildMcpToolNames([{ server, isOfProject: false, tools }]);
  const prefix = `mcp__${names.serverPart(server)}__`.length;
  return prompts.flatMap((prompt) => {
    const name = names.toName({ server, tool: prompt.name })?.slice(prefix);
    if (name === undefined) return [];
    const usage = formatPromptUsage('', prompt.arguments).trim();
    return [{ ...prompt, name, original: prompt.name, usage: sanitizeLine(usage) }];
  });
}

function createSignal(): AbortSignal {
  return new AbortController().signal;
}
