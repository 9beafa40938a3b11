import { errorMessage, MusterError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { suggestNames } from '../base/name-suggestions.ts';
import { AcceptedTools } from './accepted-tools.ts';
import type { CatalogServer, CatalogState, CatalogTool, NamedUse } from './catalog-server.ts';
import { CatalogUses } from './catalog-uses.ts';
import type { RecordedTools, ToolChange, ToolRecords } from './recorded-tools.ts';
import type { McpConnections } from './connections.ts';
import type { McpCallOptions, McpServer, ToolOffer } from './server-use.ts';
import type { McpServerFeatures, McpServerInfo, McpStartedCall } from './server-data.ts';
import { isUsedPerTask, serverId, type McpServerEntry } from './server-entry.ts';
import { McpServerError } from './server-error.ts';
import type { TaskOfCall } from './server-place.ts';
import { readServerFeatures } from './server-features.ts';
import { buildMcpToolNames } from './tool-names.ts';

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

const NO_FEATURES: McpServerFeatures = { hasResources: false, hasCompletion: false, prompts: [] };

/**
 * The tools of the servers of one place. A server is started for its list only if the user has never used it. After that,
 * tasks get the recorded list, and the server starts with the first call. So a server cannot change, without the user,
 * what models read about it. A tool that the server has changed is not called before the user has accepted it.
 */
export class ToolCatalog {
  private readonly options: ToolCatalogOptions;
  private readonly uses: CatalogUses;
  private readonly accepted: AcceptedTools;
  private readonly requested = new Map<string, Promise<void>>();
  /** The servers that demand a login, which was reported. */
  private readonly waitForLogin = new Set<string>();
  private readonly failed = new Set<string>();
  private readonly asking = new Set<string>();
  private readonly disabled: Set<string>;
  /** The servers whose present features are recorded. */
  private readonly withFeatures = new Set<string>();
  private builtServers: readonly CatalogServer[] | null = null;

  constructor(options: ToolCatalogOptions) {
    this.options = options;
    this.uses = new CatalogUses(options.connections);
    const disabled = options.entries.filter(({ isEnabled }) => !isEnabled);
    this.disabled = new Set(disabled.map(({ name }) => name));
    this.accepted = new AcceptedTools(options);
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
        const isOpen = this.accepted.of(name) === undefined && !this.failed.has(name);
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
    if (entry !== undefined && this.accepted.of(name) === undefined) await this.requestTools(entry);
  }

  /** The parts of the tools' names that stand for the enabled servers, whether their tools are known or not. */
  get parts(): readonly string[] {
    return [...this.entriesByPart.keys()];
  }

  /** The enabled servers by the part of the tools' names that stands for them. */
  get entriesByPart(): ReadonlyMap<string, McpServerEntry> {
    return this.placeEntries(this.enabledEntries);
  }

  /** The servers that are not enabled, by the part that nevertheless stands for no other server. */
  get disabledByPart(): ReadonlyMap<string, McpServerEntry> {
    return this.placeEntries(this.options.entries.filter(({ name }) => this.disabled.has(name)));
  }

  private placeEntries(entries: readonly McpServerEntry[]): ReadonlyMap<string, McpServerEntry> {
    const names = this.buildNames();
    return new Map(
      entries.flatMap((entry) => {
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
      accepted: this.accepted.of(entry.name) ?? null,
      change: this.accepted.differenceOf(entry.name),
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
      if (accepts || this.accepted.of(name) === undefined) this.record(entry, offered);
      else {
        this.recordFeatures(entry, offered.features);
        this.accepted.compare(entry, offered.tools);
      }
      this.failed.delete(name);
    } finally {
      this.asking.delete(name);
      this.options.onStateChange?.();
    }
  }

  /** Ends the uses that only one task has. */
  endTask(task: string): void {
    this.uses.endTask(task);
  }

  /** Ends the servers of a workspace, and waits for their ends. */
  endWorkspace(tree: string): Promise<void> {
    return this.uses.endWorkspace(tree);
  }

  /** The servers whose tools are known. The same object is returned as long as nothing has changed. */
  get servers(): readonly CatalogServer[] {
    this.builtServers ??= this.buildServers();
    return this.builtServers;
  }

  /** Notes that a server may offer something else from now on. The next call compares its tools again by itself. */
  checkAgain(server: string): void {
    this.accepted.forgetDifference(server);
    this.withFeatures.delete(server);
    this.options.onStateChange?.();
  }

  /** Lets the next use of a server's resources and prompts read again what it offers. */
  readFeaturesAgain(server: string): void {
    this.withFeatures.delete(server);
  }

  /**
   * Returns the use of a server by its part of the tools' names. Starts nothing. Throws `NOT_FOUND` for an unknown part,
   * and an McpServerError for a server that the user has disabled.
   *
   * @param task the task that uses it. Default: a person does, in the directories of the session
   */
  findUse(part: string, task?: TaskOfCall): McpServer {
    return this.uses.of(this.findEntry(part), task);
  }

  /**
   * Starts a server that the user names, and reads what it offers besides its tools. If it was never used before, its tools
   * are recorded as well. Rejects with MusterError: `NOT_FOUND` for an unknown part, others if it cannot be used.
   */
  async openNamed(part: string, signal: AbortSignal): Promise<NamedUse> {
    const entry = this.findEntry(part);
    const use = this.uses.of(entry);
    const recorded = this.accepted.of(entry.name);
    if (recorded === undefined) this.record(entry, await this.readTools(entry, use, signal));
    else if (!this.withFeatures.has(entry.name) || recorded.features === undefined) {
      const info = await use.start(signal);
      this.recordFeatures(entry, await readServerFeatures(use, info, signal));
    }
    const { features = NO_FEATURES } = this.accepted.of(entry.name) ?? {};
    return { use, features };
  }

  private findEntry(part: string): McpServerEntry {
    const found = this.entriesByPart.get(part);
    if (found !== undefined) return found;
    const disabled = this.disabledByPart.get(part);
    if (disabled !== undefined) throw createDisabledError(disabled, 'nothing is read from it');
    const [near] = suggestNames(part, this.parts);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new MusterError('NOT_FOUND', `no MCP server "${part}" is configured${hint}`);
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
    if (!isUsedPerTask(entry)) return await this.readTools(entry, this.uses.of(entry), signal);
    const use = this.options.connections.open(entry);
    try {
      return await this.readTools(entry, use, signal);
    } finally {
      await use.release();
    }
  }

  private async readTools(
    entry: McpServerEntry,
    use: McpServer,
    signal: AbortSignal,
  ): Promise<RecordedTools> {
    const info = await use.start(signal);
    const tools = info.hasTools ? (await use.listTools(signal)).items : [];
    const features = await this.readFeatures(entry, { use, info }, signal);
    return { instructions: info.instructions, tools, ...(features === null ? {} : { features }) };
  }

  /** Returns null, after a report, if a server says that it has prompts and does not list them. */
  private async readFeatures(
    entry: McpServerEntry,
    { use, info }: { readonly use: McpServer; readonly info: McpServerInfo },
    signal: AbortSignal,
  ): Promise<McpServerFeatures | null> {
    try {
      return await readServerFeatures(use, info, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      this.options.onProblem(entry.name, errorMessage(thrown));
      return null;
    }
  }

  private recordFeatures(entry: McpServerEntry, features: McpServerFeatures | undefined): void {
    if (features !== undefined) this.withFeatures.add(entry.name);
    if (this.accepted.recordFeatures(entry, features)) this.changed();
  }

  private record(entry: McpServerEntry, tools: RecordedTools): void {
    this.accepted.accept(entry, tools);
    if (tools.features !== undefined) this.withFeatures.add(entry.name);
    this.changed();
  }

  private changed(): void {
    this.builtServers = null;
    this.options.onStateChange?.();
  }

  /** A disabled server keeps its name, so that no other server gets the rights of the rules for it. */
  private buildNames() {
    return buildMcpToolNames(
      this.options.entries.map(({ name, origin }) => ({
        server: name,
        isOfProject: origin.scope === 'project',
        tools: (this.accepted.of(name)?.tools ?? []).map((tool) => tool.name),
      })),
    );
  }

  private buildServers(): readonly CatalogServer[] {
    const names = this.buildNames();
    return this.enabledEntries.flatMap((entry) => {
      const recorded = this.accepted.of(entry.name);
      const part = names.serverPart(entry.name);
      if (recorded === undefined || part === undefined) return [];
      const tools = recorded.tools.flatMap((tool): readonly CatalogTool[] => {
        const name = names.toName({ server: entry.name, tool: tool.name });
        if (name === undefined) return [];
        const call: CatalogTool['call'] = (args, options) =>
          this.startCall(entry, { tool: tool.name, args }, options);
        const follow: CatalogTool['follow'] = (task, options) =>
          this.uses.of(entry, options.task).followTask(task, options);
        const cancel: CatalogTool['cancel'] = (task, follower) =>
          this.uses.of(entry, follower).cancelTask(task);
        return [{ name, tool, call, follow, cancel }];
      });
      const { instructions, features = null } = recorded;
      return [{ entry, part, instructions, tools, features }];
    });
  }

  private async startCall(
    entry: McpServerEntry,
    { tool, args }: { readonly tool: string; readonly args: JsonObject },
    options: McpCallOptions,
  ): Promise<McpStartedCall> {
    if (this.disabled.has(entry.name)) {
      throw createDisabledError(entry, `the tool ${tool} is not called`);
    }
    const use = this.uses.of(entry, options.task);
    await this.readFeaturesOnce(entry, use, options.signal);
    const checkOffer = (offer: ToolOffer) => this.accepted.check(entry, tool, offer);
    return await use.startCall(tool, args, { ...options, checkOffer });
  }

  private async readFeaturesOnce(
    entry: McpServerEntry,
    use: McpServer,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.withFeatures.has(entry.name)) return;
    const info = await use.start(signal);
    const features = await this.readFeatures(entry, { use, info }, signal);
    this.withFeatures.add(entry.name);
    this.recordFeatures(entry, features ?? undefined);
  }
}

function createDisabledError(entry: McpServerEntry, consequence: string): McpServerError {
  const message = `${consequence}, because the user has disabled the server. Do without it.`;
  return new McpServerError(message, { server: serverId(entry), kind: 'refused' });
}
