import { isDeepStrictEqual } from 'node:util';
import { toShellWord } from '../base/text.ts';
import {
  compareTools,
  type RecordedTools,
  type ToolChange,
  type ToolRecords,
} from './recorded-tools.ts';
import type { McpTool } from './server-data.ts';
import { fingerprintServer, serverId, type McpServerEntry } from './server-entry.ts';
import { McpServerError } from './server-error.ts';
import type { ToolOffer } from './server-use.ts';

type Difference = Omit<ToolChange, 'server'> | null;

interface AcceptedToolsOptions {
  readonly entries: readonly McpServerEntry[];
  readonly records: ToolRecords;
  /** Called when a server offers other tools than the user has accepted. */
  onChange(change: ToolChange): void;
  /** Called after a comparison. Default: nobody is told. */
  onStateChange?(): void;
}

/**
 * The tools of servers as the user has accepted them, and the comparisons with what the servers offer. There is one
 * comparison for each version of the tools of each connection: tasks with connections of their own, and a server that
 * was started again, may get other tools.
 */
export class AcceptedTools {
  private readonly options: AcceptedToolsOptions;
  private readonly recorded = new Map<string, RecordedTools>();
  private byVersion = new WeakMap<object, { readonly difference: Difference }>();
  /** The newest difference of each server, for people. */
  private readonly newest = new Map<string, Difference>();

  constructor(options: AcceptedToolsOptions) {
    this.options = options;
    for (const entry of options.entries) {
      const tools = options.records.read(fingerprintServer(entry));
      if (tools !== null) this.recorded.set(entry.name, tools);
    }
  }

  /** Returns the accepted tools of a server; undefined if it was never used. */
  of(server: string): RecordedTools | undefined {
    return this.recorded.get(server);
  }

  /** Returns the newest difference of a server; null if there is none, or if nothing is known. */
  differenceOf(server: string): Difference {
    return this.newest.get(server) ?? null;
  }

  /** Forgets the newest difference of a server that may offer something else now. */
  forgetDifference(server: string): void {
    this.newest.delete(server);
  }

  accept(entry: McpServerEntry, tools: RecordedTools): void {
    this.options.records.write(fingerprintServer(entry), tools);
    this.recorded.set(entry.name, tools);
    this.byVersion = new WeakMap();
    this.newest.delete(entry.name);
  }

  /** Records the present features of a server, which nobody has to accept. Returns whether they are others than before. */
  recordFeatures(entry: McpServerEntry, features: RecordedTools['features']): boolean {
    const recorded = this.recorded.get(entry.name);
    if (recorded === undefined || features === undefined) return false;
    if (isDeepStrictEqual(recorded.features, features)) return false;
    const changed = { ...recorded, features };
    this.options.records.write(fingerprintServer(entry), changed);
    this.recorded.set(entry.name, changed);
    return true;
  }

  /** Compares the tools that a server offers with the accepted ones. A difference is reported if it is a new one. */
  compare(entry: McpServerEntry, tools: readonly McpTool[]): Difference {
    const { name } = entry;
    const recorded = this.recorded.get(name);
    if (recorded === undefined) return null;
    const difference = compareTools(recorded.tools, tools);
    const isNews = !isDeepStrictEqual(this.differenceOf(name), difference);
    this.newest.set(name, difference);
    this.options.onStateChange?.();
    if (difference !== null && isNews) {
      this.options.onChange({ server: serverId(entry), ...difference });
    }
    return difference;
  }

  /** Rejects with an McpServerError if a server offers a tool in another form than the user has accepted. */
  async check(entry: McpServerEntry, tool: string, offer: ToolOffer): Promise<void> {
    const difference = await this.compareOnce(entry, offer);
    if (difference?.changed.includes(tool) !== true) return;
    const server = serverId(entry);
    const word = toShellWord(server);
    const message = `the tool ${tool} is not called, because the server has changed its description or its arguments since you accepted it. Look at it with "muster mcp test ${word}", accept it with "muster mcp accept ${word}".`;
    throw new McpServerError(message, { server, kind: 'refused' });
  }

  private async compareOnce(entry: McpServerEntry, offer: ToolOffer): Promise<Difference> {
    const known = this.byVersion.get(offer.version);
    if (known !== undefined) return known.difference;
    const difference = this.compare(entry, await offer.list());
    this.byVersion.set(offer.version, { difference });
    return difference;
  }
}
