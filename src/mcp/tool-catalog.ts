import { errorMessage } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { toShellWord } from '../base/text.ts';
import type { McpConnections } from './connections.ts';
import type { McpCallOptions, McpFollowOptions, McpServer } from './server-use.ts';
import type { McpCallResult, McpStartedCall, McpTask, McpTool } from './server-data.ts';
import { fingerprintServer, isUsedPerTask, serverId, type McpServerEntry } from './server-entry.ts';
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
  /** The servers with different names. Those that are not enabled are not offered. */
  readonly entries: readonly McpServerEntry[];
  readonly connections: McpConnections;
  readonly records: ToolRecords;
  /** Called when a server could not be asked for its tools. `reason` is a sentence. */
  onProblem(server: string, reason: string): void;
  /** Called when a server offers other tools than the user has accepted. Tasks get the accepted ones. */
  onChange(change: ToolChange): void;
  /** Called after `states` has changed. Default: nobody is told. */
  onStateChange?(): void;
}

/** The knowledge about the tools of a server, for people. */
export interface CatalogState {
  readonly entry: McpServerEntry;
  readonly isEnabled: boolean;
  /** Whether the server is being asked for its tools. */
  readonly isAsking: boolean;
  /** The accepted tools; null if the server has never answered which tools it has. */
  readonly accepted: RecordedTools | null;
  /** The difference of the tools that it offers now; null if there is none, or if they are not known. */
  readonly change: Omit<ToolChange, 'server'> | null;
}

/**
 * The tools of the servers of one place. A server is started for its list only if the user has never used it. After that,
 * tasks get the recorded list, and the server starts with the first call. So a server cannot change, without the user,
 * what models read about it. A tool that the server has changed is not called before the user has accepted it.
 */
export class ToolCatalog {
  private readonly options: ToolCatalogOptions;
  /** The uses that all tasks share, by the name of the server. */
  private readonly uses = new Map<string, McpServer>();
  /** The uses of single tasks, by the id of the task and the name of the server. */
  private readonly taskUses = new Map<string, Map<string, McpServer>>();
  private readonly recorded = new Map<string, RecordedTools>();
  private readonly requested = new Map<string, Promise<void>>();
  /** The servers that demand a login, which was reported. */
  private readonly waitForLogin = new Set<string>();
  private readonly failed = new Set<string>();
  private readonly asking = new Set<string>();
  private readonly disabled: Set<string>;
  /** The servers whose present tools are known, with the difference from the accepted ones. */
  private readonly compared = new Map<string, Omit<ToolChange, 'server'> | null>();
  private servers_: readonly CatalogServer[] | null = null;

  constructor(options: ToolCatalogOptions) {
    this.options = options;
    const disabled = options.entries.filter(({ isEnabled }) => !isEnabled);
    this.disabled = new Set(disabled.map(({ name }) => name));
    for (const entry of options.entries) {
      const tools = options.records.read(fingerprintServer(entry));
      if (tools !== null) this.recorded.set(entry.name, tools);
    }
  }

  /**
   * Returns the names of the enabled servers whose tools are not known and that can still be asked for them, by their
   * part of the names of tools. A server that could not be asked is not asked again by itself.
   */
  get unknown(): ReadonlyMap<string, string> {
    const names = this.buildNames();
    return new Map(
      this.enabledEntries.flatMap(({ name }) => {
        const part = names.serverPart(name);
        const isOpen = !this.recorded.has(name) && !this.failed.has(name);
        return part !== undefined && isOpen ? [[part, name] as const] : [];
      }),
    );
  }

  /**
   * Asks a server for its tools, and waits for the answer. Servers are asked at the same time. A server that cannot be
   * asked is reported once. Never rejects.
   */
  async ask(name: string): Promise<void> {
    const entry = this.find(name);
    if (entry !== undefined && !this.recorded.has(name)) await this.requestTools(entry);
  }

  /** The parts of the tools' names that stand for the enabled servers, whether their tools are known or not. */
  get parts(): readonly string[] {
    return [...this.entriesByPart.keys()];
  }

  /** The enabled servers by the part of the tools' names that stands for them. */
  get entriesByPart(): ReadonlyMap<string, McpServerEntry> {
    const names = this.buildNames();
    return new Map(
      this.enabledEntries.flatMap((entry) => {
        const part = names.serverPart(entry.name);
        return part === undefined ? [] : [[part, entry] as const];
      }),
    );
  }

  /** Describes what is known about each server. */
  get states(): readonly CatalogState[] {
    return this.options.entries.map((entry) => ({
      entry,
      isEnabled: !this.disabled.has(entry.name),
      isAsking: this.asking.has(entry.name),
      accepted: this.recorded.get(entry.name) ?? null,
      change: this.compared.get(entry.name) ?? null,
    }));
  }

  /** Enables or disables a server for tasks that begin from now on. Calls of a disabled server are refused. */
  setEnabled(name: string, isEnabled: boolean): void {
    if (isEnabled) this.disabled.delete(name);
    else this.disabled.add(name);
    this.changed();
  }

  /**
   * Asks a server for its present tools because a person wants it. They are compared with the accepted ones, or accepted
   * if the server was never used or if the person says so. Rejects if the server cannot be asked.
   */
  async check(name: string, { accepts }: { readonly accepts: boolean }): Promise<void> {
    const entry = this.find(name);
    if (entry === undefined) return;
    this.asking.add(name);
    try {
      const offered = await this.readOnce(entry, new AbortController().signal);
      if (accepts || !this.recorded.has(name)) this.record(entry, offered);
      else this.compare(entry, offered);
      this.failed.delete(name);
    } finally {
      this.asking.delete(name);
      this.options.onStateChange?.();
    }
  }

  /** Ends the uses that only one task has. */
  endTask(task: string): void {
    const uses = this.taskUses.get(task);
    if (uses === undefined) return;
    this.taskUses.delete(task);
    // An error while a server ends concerns nobody: it is not used any more.
    for (const use of uses.values()) void use.release().catch(() => {});
  }

  /** The servers whose tools are known. The same object is returned as long as nothing has changed. */
  get servers(): readonly CatalogServer[] {
    this.servers_ ??= this.buildServers();
    return this.servers_;
  }

  /** Lets the next call compare the tools of a server with the accepted ones again. */
  checkAgain(server: string): void {
    this.compared.delete(server);
    this.options.onStateChange?.();
  }

  private get enabledEntries(): readonly McpServerEntry[] {
    return this.options.entries.filter(({ name }) => !this.disabled.has(name));
  }

  private find(name: string): McpServerEntry | undefined {
    return this.options.entries.find((entry) => entry.name === name);
  }

  private requestTools(entry: McpServerEntry): Promise<void> {
    const running = this.requested.get(entry.name);
    if (running !== undefined) return running;
    const request = this.acceptOrReport(entry);
    this.requested.set(entry.name, request);
    return request;
  }

  private async acceptOrReport(entry: McpServerEntry): Promise<void> {
    const { name } = entry;
    this.asking.add(name);
    try {
      this.record(entry, await this.readOnce(entry, new AbortController().signal));
    } catch (thrown) {
      // The user may log in while the session runs, so the server is asked again the next time.
      const isLogin = thrown instanceof McpServerError && thrown.kind === 'login';
      if (isLogin) this.requested.delete(name);
      else this.failed.add(name);
      if (!isLogin || !this.waitForLogin.has(name)) {
        this.options.onProblem(name, errorMessage(thrown));
      }
      if (isLogin) this.waitForLogin.add(name);
    } finally {
      this.asking.delete(name);
      this.options.onStateChange?.();
    }
  }

  /** Reads the tools outside of a task. A server that belongs to its tasks ends afterwards. */
  private async readOnce(entry: McpServerEntry, signal: AbortSignal): Promise<RecordedTools> {
    if (!isUsedPerTask(entry)) return await this.readTools(this.useOf(entry), signal);
    const use = this.options.connections.open(entry);
    try {
      return await this.readTools(use, signal);
    } finally {
      await use.release();
    }
  }

  private async readTools(use: McpServer, signal: AbortSignal): Promise<RecordedTools> {
    const { instructions, hasTools } = await use.start(signal);
    if (!hasTools) return { instructions, tools: [] };
    const { items } = await use.listTools(signal);
    return { instructions, tools: items };
  }

  private record(entry: McpServerEntry, tools: RecordedTools): void {
    this.options.records.write(fingerprintServer(entry), tools);
    this.recorded.set(entry.name, tools);
    this.compared.set(entry.name, null);
    this.changed();
  }

  private changed(): void {
    this.servers_ = null;
    this.options.onStateChange?.();
  }

  /** Returns the use of a server: that of a task if each task has its own, else the shared one. */
  private useOf(entry: McpServerEntry, task?: string): McpServer {
    const uses = task === undefined || !isUsedPerTask(entry) ? this.uses : this.usesOfTask(task);
    const known = uses.get(entry.name);
    if (known !== undefined) return known;
    const use = this.options.connections.open(entry);
    uses.set(entry.name, use);
    // The server may have been started anew, and then offers other tools.
    if (uses !== this.uses) this.compared.delete(entry.name);
    return use;
  }

  private usesOfTask(task: string): Map<string, McpServer> {
    const uses = this.taskUses.get(task) ?? new Map<string, McpServer>();
    this.taskUses.set(task, uses);
    return uses;
  }

  private buildNames() {
    return buildMcpToolNames(
      this.enabledEntries.map(({ name, origin }) => ({
        server: name,
        isOfProject: origin.scope === 'project',
        tools: (this.recorded.get(name)?.tools ?? []).map((tool) => tool.name),
      })),
    );
  }

  private buildServers(): readonly CatalogServer[] {
    const names = this.buildNames();
    return this.enabledEntries.flatMap((entry) => {
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
    if (this.disabled.has(entry.name)) {
      const message = `the tool ${tool} is not called, because the user has disabled the server. Do without it.`;
      throw new McpServerError(message, { server: entry.name, kind: 'refused' });
    }
    const use = this.useOf(entry, options.taskId);
    if (!this.compared.has(entry.name)) {
      this.compare(entry, await this.readTools(use, options.signal));
    }
    if (this.compared.get(entry.name)?.changed.includes(tool) === true) {
      const word = toShellWord(serverId(entry));
      const message = `the tool ${tool} is not called, because the server has changed its description or its arguments since you accepted it. Look at it with "muster mcp test ${word}", accept it with "muster mcp accept ${word}".`;
      throw new McpServerError(message, { server: entry.name, kind: 'refused' });
    }
    return await use.startCall(tool, args, options);
  }

  private compare(entry: McpServerEntry, offered: RecordedTools): void {
    const { name } = entry;
    const recorded = this.recorded.get(name);
    if (recorded === undefined) return;
    const change = compareTools(recorded.tools, offered.tools);
    this.compared.set(name, change);
    this.options.onStateChange?.();
    if (change !== null) this.options.onChange({ server: serverId(entry), ...change });
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
