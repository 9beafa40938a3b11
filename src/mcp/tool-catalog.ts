import { errorMessage } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { toShellWord } from '../base/text.ts';
import type { McpCallOptions, McpConnections, McpFollowOptions, McpServer } from './connections.ts';
import type { McpCallResult, McpStartedCall, McpTask, McpTool } from './server-data.ts';
import { fingerprintServer, type McpServerEntry } from './server-entry.ts';
import { McpServerError } from './server-error.ts';
import { buildMcpToolNames } from './tool-names.ts';

/** The tools of a server as they were when the user last accepted them. */
export interface RecordedTools {
  /** The server's text about how to use it. */
  readonly instructions: string;
  readonly tools: readonly McpTool[];
}

/** Keeps the accepted tools of servers, by the fingerprint of their entry. */
export interface ToolRecords {
  /** Returns null if the user has not used this server yet. */
  read(fingerprint: string): RecordedTools | null;
  write(fingerprint: string, tools: RecordedTools): void;
}

/** A tool of a server under the name that models see. */
export interface CatalogTool {
  /** `mcp__SERVER__TOOL`. */
  readonly name: string;
  readonly tool: McpTool;
  /** Starts a call. The server answers with the result, or carries the call out as a task. */
  call(args: JsonObject, options: McpCallOptions): Promise<McpStartedCall>;
  /** Waits for the result of such a task, also one that an earlier process has started. See `McpServer.followTask`. */
  follow(task: McpTask, options: McpFollowOptions): Promise<McpCallResult>;
  /** Tells the server to cancel such a task. Never rejects. */
  cancel(task: McpTask): Promise<void>;
}

/** A server with the tools that tasks may use. */
export interface CatalogServer {
  readonly entry: McpServerEntry;
  /** The part of the tools' names that stands for the server. */
  readonly part: string;
  readonly instructions: string;
  readonly tools: readonly CatalogTool[];
}

/** The differences between the accepted tools of a server and those that it offers now. */
export interface ToolChange {
  readonly server: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

interface ToolCatalogOptions {
  readonly entries: readonly McpServerEntry[];
  readonly connections: McpConnections;
  readonly records: ToolRecords;
  /** Called when a server could not be asked for its tools. `reason` is a sentence. */
  onProblem(server: string, reason: string): void;
  /** Called when a server offers other tools than the user has accepted. Tasks get the accepted ones. */
  onChange(change: ToolChange): void;
}

/** The time after which a server that has not given its tools is named. */
const SLOW_MS = 2_000;

/**
 * The tools of all configured servers. A server is started for its list only if the user has never used it. After that,
 * tasks get the recorded list, and the server starts with the first call. So a server cannot change, without the user,
 * what models read about it. A tool that the server has changed is not called before the user has accepted it.
 */
export class ToolCatalog {
  private readonly options: ToolCatalogOptions;
  private readonly uses = new Map<string, McpServer>();
  private readonly recorded = new Map<string, RecordedTools>();
  private readonly requested = new Map<string, Promise<void>>();
  /** The servers that demand a login, which was reported. */
  private readonly waitForLogin = new Set<string>();
  /** The servers whose present tools are known, with the difference from the accepted ones. */
  private readonly compared = new Map<string, Omit<ToolChange, 'server'> | null>();
  private servers_: readonly CatalogServer[] | null = null;

  constructor(options: ToolCatalogOptions) {
    this.options = options;
    for (const entry of options.entries) {
      const tools = options.records.read(fingerprintServer(entry));
      if (tools !== null) this.recorded.set(entry.name, tools);
    }
  }

  /**
   * Asks the servers for their tools that are wanted and not known yet, all at the same time. A server that cannot be
   * asked is reported once. Never rejects.
   *
   * @param isWanted tells whether the tools of a server are wanted, by the server's part of their names
   * @param onSlow called once with the names of the servers that have not answered after two seconds
   */
  async prepare(
    isWanted: (part: string) => boolean,
    onSlow: (servers: readonly string[]) => void = () => {},
  ): Promise<void> {
    const names = this.buildNames();
    const unknown = this.options.entries.filter(({ name }) => {
      return !this.recorded.has(name) && isWanted(names.serverPart(name) ?? name);
    });
    if (unknown.length === 0) return;
    const waiting = new Set(unknown.map(({ name }) => name));
    const timer = setTimeout(() => onSlow([...waiting]), SLOW_MS);
    await Promise.all(
      unknown.map(async (entry) => {
        await this.requestTools(entry);
        waiting.delete(entry.name);
      }),
    );
    clearTimeout(timer);
  }

  /** The parts of the tools' names that stand for the servers, whether their tools are known or not. */
  get parts(): readonly string[] {
    const names = this.buildNames();
    return this.options.entries.flatMap(({ name }) => names.serverPart(name) ?? []);
  }

  /** The servers whose tools are known. The same object is returned as long as nothing has changed. */
  get servers(): readonly CatalogServer[] {
    this.servers_ ??= this.buildServers();
    return this.servers_;
  }

  /** Lets the next call compare the tools of a server with the accepted ones again. */
  checkAgain(server: string): void {
    this.compared.delete(server);
  }

  private async accept(entry: McpServerEntry, signal: AbortSignal): Promise<void> {
    this.record(entry, await this.readTools(entry, signal));
  }

  private requestTools(entry: McpServerEntry): Promise<void> {
    const running = this.requested.get(entry.name);
    if (running !== undefined) return running;
    const request = this.acceptOrReport(entry);
    this.requested.set(entry.name, request);
    return request;
  }

  private async acceptOrReport(entry: McpServerEntry): Promise<void> {
    try {
      await this.accept(entry, new AbortController().signal);
    } catch (thrown) {
      // The user may log in while the session runs, so the server is asked again the next time.
      const isLogin = thrown instanceof McpServerError && thrown.kind === 'login';
      if (isLogin) this.requested.delete(entry.name);
      if (!isLogin || !this.waitForLogin.has(entry.name)) {
        this.options.onProblem(entry.name, errorMessage(thrown));
      }
      if (isLogin) this.waitForLogin.add(entry.name);
    }
  }

  private async readTools(entry: McpServerEntry, signal: AbortSignal): Promise<RecordedTools> {
    const use = this.useOf(entry);
    const { instructions, hasTools } = await use.start(signal);
    if (!hasTools) return { instructions, tools: [] };
    const { items } = await use.listTools(signal);
    return { instructions, tools: items };
  }

  private record(entry: McpServerEntry, tools: RecordedTools): void {
    this.options.records.write(fingerprintServer(entry), tools);
    this.recorded.set(entry.name, tools);
    this.compared.set(entry.name, null);
    this.servers_ = null;
  }

  private useOf(entry: McpServerEntry): McpServer {
    const known = this.uses.get(entry.name);
    if (known !== undefined) return known;
    const use = this.options.connections.open(entry);
    this.uses.set(entry.name, use);
    return use;
  }

  private buildNames() {
    return buildMcpToolNames(
      this.options.entries.map(({ name, origin }) => ({
        server: name,
        isOfProject: origin.scope === 'project',
        tools: (this.recorded.get(name)?.tools ?? []).map((tool) => tool.name),
      })),
    );
  }

  private buildServers(): readonly CatalogServer[] {
    const names = this.buildNames();
    return this.options.entries.flatMap((entry) => {
      const recorded = this.recorded.get(entry.name);
      const part = names.serverPart(entry.name);
      if (recorded === undefined || part === undefined) return [];
      const tools = recorded.tools.flatMap((tool): readonly CatalogTool[] => {
        const name = names.toName({ server: entry.name, tool: tool.name });
        if (name === undefined) return [];
        const call: CatalogTool['call'] = (args, options) =>
          this.startCall(entry, { tool: tool.name, args }, options);
        const follow: CatalogTool['follow'] = (task, options) =>
          this.useOf(entry).followTask(task, options);
        const cancel: CatalogTool['cancel'] = (task) => this.useOf(entry).cancelTask(task);
        return [{ name, tool, call, follow, cancel }];
      });
      return [{ entry, part, instructions: recorded.instructions, tools }];
    });
  }

  private async startCall(
    entry: McpServerEntry,
    { tool, args }: { readonly tool: string; readonly args: JsonObject },
    options: McpCallOptions,
  ): Promise<McpStartedCall> {
    const use = this.useOf(entry);
    if (!this.compared.has(entry.name)) {
      this.compare(entry, await this.readTools(entry, options.signal));
    }
    if (this.compared.get(entry.name)?.changed.includes(tool) === true) {
      const word = toShellWord(entry.name);
      const message = `the tool ${tool} is not called, because the server has changed its description or its arguments since you accepted it. Look at it with "muster mcp test ${word}", accept it with "muster mcp accept ${word}".`;
      throw new McpServerError(message, { server: entry.name, kind: 'refused' });
    }
    return await use.startCall(tool, args, options);
  }

  private compare({ name }: McpServerEntry, offered: RecordedTools): void {
    const recorded = this.recorded.get(name);
    if (recorded === undefined) return;
    const change = compareTools(recorded.tools, offered.tools);
    this.compared.set(name, change);
    if (change !== null) this.options.onChange({ server: name, ...change });
  }
}

/** Compares two lists of tools by everything that a model reads about them. Returns null if they are equal. */
export function compareTools(
  before: readonly McpTool[],
  after: readonly McpTool[],
): Omit<ToolChange, 'server'> | null {
  const texts = (tools: readonly McpTool[]): ReadonlyMap<string, string> =>
    new Map(tools.map((tool) => [tool.name, JSON.stringify([tool.description, tool.inputSchema])]));
  const [old, present] = [texts(before), texts(after)];
  const added = [...present.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !present.has(name));
  const changed = [...present].flatMap(([name, text]) =>
    old.has(name) && old.get(name) !== text ? [name] : [],
  );
  return added.length + removed.length + changed.length === 0 ? null : { added, removed, changed };
}
