import { isDeepStrictEqual } from 'node:util';
import { errorMessage, MusterError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { suggestNames } from '../base/name-suggestions.ts';
import { compareTools, type ToolChange } from './compare-tools.ts';
import type { McpCallOptions, McpConnections, McpServer } from './connections.ts';
import type { McpCallResult, McpServerFeatures, McpServerInfo, McpTool } from './server-data.ts';
import { fingerprintServer, type McpServerEntry } from './server-entry.ts';
import { McpServerError } from './server-error.ts';
import { readServerFeatures } from './server-features.ts';
import { buildMcpToolNames } from './tool-names.ts';

/** The tools of a server as they were when the user last accepted them. */
export interface RecordedTools {
  /** The server's text about how to use it. */
  readonly instructions: string;
  readonly tools: readonly McpTool[];
  /**
   * The features besides the tools. Models read none of these texts, so they are recorded anew at each use. Absent in records
   * of earlier versions, and if the server could not be asked.
   */
  readonly features?: McpServerFeatures;
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
  call(args: JsonObject, options: McpCallOptions): Promise<McpCallResult>;
}

/** A server with the tools that tasks may use. */
export interface CatalogServer {
  readonly entry: McpServerEntry;
  /** The part of the tools' names that stands for the server. */
  readonly part: string;
  readonly instructions: string;
  readonly tools: readonly CatalogTool[];
  /** The features besides its tools; null if they are not known yet. */
  readonly features: McpServerFeatures | null;
}

/** A server that the user names in a message. */
export interface NamedUse {
  readonly use: McpServer;
  readonly features: McpServerFeatures;
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

const NO_FEATURES: McpServerFeatures = { hasResources: false, hasCompletion: false, prompts: [] };

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
  /** The servers whose present tools are known, with the difference from the accepted ones. */
  private readonly compared = new Map<string, Omit<ToolChange, 'server'> | null>();
  /** The servers whose present features are recorded. */
  private readonly withFeatures = new Set<string>();
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
    return [...this.entriesByPart.keys()];
  }

  /** The entries of the servers by their parts of the tools' names. */
  get entriesByPart(): ReadonlyMap<string, McpServerEntry> {
    const names = this.buildNames();
    return new Map(
      this.options.entries.map((entry) => [names.serverPart(entry.name) ?? entry.name, entry]),
    );
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

  /** Lets the next use of a server's resources and prompts read again what it offers. */
  readFeaturesAgain(server: string): void {
    this.withFeatures.delete(server);
  }

  /** Returns the use of a server by its part of the tools' names. Starts nothing. Throws `NOT_FOUND` for an unknown part. */
  findUse(part: string): McpServer {
    return this.useOf(this.findEntry(part));
  }

  /**
   * Starts a server that the user names, and reads what it offers besides its tools. If it was never used before, its tools
   * are recorded as well. Rejects with MusterError: `NOT_FOUND` for an unknown part, others if it cannot be used.
   */
  async openNamed(part: string, signal: AbortSignal): Promise<NamedUse> {
    const entry = this.findEntry(part);
    const use = this.useOf(entry);
    const recorded = this.recorded.get(entry.name);
    if (recorded === undefined) await this.accept(entry, signal);
    else if (!this.withFeatures.has(entry.name) || recorded.features === undefined) {
      const info = await use.start(signal);
      this.recordFeatures(entry, await readServerFeatures(use, info, signal));
    }
    const { features = NO_FEATURES } = this.recorded.get(entry.name) ?? {};
    return { use, features };
  }

  private findEntry(part: string): McpServerEntry {
    const found = this.entriesByPart.get(part);
    if (found !== undefined) return found;
    const [near] = suggestNames(part, this.parts);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new MusterError('NOT_FOUND', `no MCP server "${part}" is configured${hint}`);
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
      this.options.onProblem(entry.name, errorMessage(thrown));
    }
  }

  private async readTools(entry: McpServerEntry, signal: AbortSignal): Promise<RecordedTools> {
    const use = this.useOf(entry);
    const info = await use.start(signal);
    const tools = info.hasTools ? (await use.listTools(signal)).items : [];
    const features = await this.readFeatures(entry, info, signal);
    return { instructions: info.instructions, tools, ...(features === null ? {} : { features }) };
  }

  /** Returns null, after a report, if a server says that it has prompts and does not list them. */
  private async readFeatures(
    entry: McpServerEntry,
    info: McpServerInfo,
    signal: AbortSignal,
  ): Promise<McpServerFeatures | null> {
    try {
      return await readServerFeatures(this.useOf(entry), info, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      this.options.onProblem(entry.name, errorMessage(thrown));
      return null;
    }
  }

  private recordFeatures(entry: McpServerEntry, features: McpServerFeatures | undefined): void {
    const recorded = this.recorded.get(entry.name);
    if (recorded === undefined || features === undefined) return;
    this.withFeatures.add(entry.name);
    if (isDeepStrictEqual(recorded.features, features)) return;
    const changed = { ...recorded, features };
    this.options.records.write(fingerprintServer(entry), changed);
    this.recorded.set(entry.name, changed);
    this.servers_ = null;
  }

  private record(entry: McpServerEntry, tools: RecordedTools): void {
    this.options.records.write(fingerprintServer(entry), tools);
    this.recorded.set(entry.name, tools);
    this.compared.set(entry.name, null);
    if (tools.features !== undefined) this.withFeatures.add(entry.name);
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
          this.call(entry, { tool: tool.name, args }, options);
        return [{ name, tool, call }];
      });
      const { instructions, features = null } = recorded;
      return [{ entry, part, instructions, tools, features }];
    });
  }

  private async call(
    entry: McpServerEntry,
    { tool, args }: { readonly tool: string; readonly args: JsonObject },
    options: McpCallOptions,
  ): Promise<McpCallResult> {
    const use = this.useOf(entry);
    if (!this.compared.has(entry.name)) {
      this.compare(entry, await this.readTools(entry, options.signal));
    }
    if (this.compared.get(entry.name)?.changed.includes(tool) === true) {
      const message = `the tool ${tool} is not called, because the server has changed its description or its arguments since you accepted it. Look at it with "muster mcp test ${entry.name}", accept it with "muster mcp accept ${entry.name}".`;
      throw new McpServerError(message, { server: entry.name, kind: 'refused' });
    }
    return await use.callTool(tool, args, options);
  }

  private compare(entry: McpServerEntry, offered: RecordedTools): void {
    const { name } = entry;
    const recorded = this.recorded.get(name);
    if (recorded === undefined) return;
    this.recordFeatures(entry, offered.features);
    const change = compareTools(recorded.tools, offered.tools);
    this.compared.set(name, change);
    if (change !== null) this.options.onChange({ server: name, ...change });
  }
}
