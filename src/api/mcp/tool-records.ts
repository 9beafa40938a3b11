import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import type { McpPrompt, McpServerFeatures, McpTool } from '../../mcp/server-data.ts';
import { boundPrompts } from '../../mcp/server-features.ts';
import type { RecordedTools, ToolRecords } from '../../mcp/recorded-tools.ts';
import { StateFile } from '../../store/state/state-file.ts';

const FILE_NAME = 'mcp-tools.json';
const VERSION = 1;
/** The maximum number of servers that are kept, and of characters for each. The oldest servers are dropped. */
const MAX_SERVERS = 100;
const MAX_LENGTH = 2_000_000;

/**
 * Opens the accepted tools of MCP servers in the state directory. They are one file that only the user can read (0600).
 * Damaged content counts as no record: the server is then asked again.
 *
 * @param directory the state directory
 */
export function openToolRecords(directory: string): ToolRecords {
  const file = new StateFile(directory, FILE_NAME, 'run "muster mcp list"');
  return {
    read: (fingerprint) => parseRecords(file.read()).get(fingerprint) ?? null,
    write: (fingerprint, tools) =>
      file.update((before) => {
        const records = new Map(parseRecords(before));
        records.delete(fingerprint);
        return formatRecords([...records, [fingerprint, tools]]);
      }),
  };
}

/** Keeps the accepted tools only as long as the process runs. */
export function createMemoryToolRecords(): ToolRecords {
  const records = new Map<string, RecordedTools>();
  return {
    read: (fingerprint) => records.get(fingerprint) ?? null,
    write: (fingerprint, tools) => void records.set(fingerprint, tools),
  };
}

/**
 * Adds to stored records those of servers that are trusted for this run only. They are forgotten when the process ends.
 *
 * @param servers the fingerprints of these servers
 */
export function keepForRun(stored: ToolRecords, servers: ReadonlySet<string>): ToolRecords {
  const memory = createMemoryToolRecords();
  return {
    read: (fingerprint) => memory.read(fingerprint) ?? stored.read(fingerprint),
    write: (fingerprint, tools) =>
      (servers.has(fingerprint) ? memory : stored).write(fingerprint, tools),
  };
}

function parseRecords(text: string | undefined): ReadonlyMap<string, RecordedTools> {
  const value = text === undefined ? undefined : parseJsonLine(text);
  if (!isJsonObject(value) || value['version'] !== VERSION) return new Map();
  const { servers } = value;
  if (!isJsonObject(servers)) return new Map();
  return new Map(
    Object.entries(servers).flatMap(([fingerprint, record]) => {
      const tools = readRecord(record);
      return tools === null ? [] : [[fingerprint, tools] as const];
    }),
  );
}

function readRecord(value: unknown): RecordedTools | null {
  if (!isJsonObject(value)) return null;
  const { instructions, tools, features } = value;
  if (typeof instructions !== 'string' || !Array.isArray(tools)) return null;
  return {
    instructions,
    tools: tools.flatMap((tool: unknown) => readTool(tool) ?? []),
    ...(isJsonObject(features) ? { features: readFeatures(features) } : {}),
  };
}

function readFeatures({ hasResources, hasCompletion, prompts }: JsonObject): McpServerFeatures {
  const read = Array.isArray(prompts) ? prompts.flatMap((each) => readPrompt(each) ?? []) : [];
  return {
    hasResources: hasResources === true,
    hasCompletion: hasCompletion === true,
    prompts: boundPrompts(read),
  };
}

function readPrompt(value: unknown): McpPrompt | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, description, arguments: args } = value;
  if (typeof name !== 'string' || !Array.isArray(args)) return undefined;
  return {
    name,
    description: typeof description === 'string' ? description : '',
    arguments: args.flatMap((each) => readArgument(each) ?? []),
  };
}

function readArgument(value: unknown): McpPrompt['arguments'][number] | undefined {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return undefined;
  const { name, description, isRequired } = value;
  return {
    name,
    description: typeof description === 'string' ? description : '',
    isRequired: isRequired === true,
  };
}

function readTool(value: unknown): McpTool | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, title, description, inputSchema, annotations = {}, taskSupport } = value;
  if (typeof name !== 'string' || typeof description !== 'string') return undefined;
  if (!isJsonObject(inputSchema) || !isJsonObject(annotations)) return undefined;
  const isKnown = taskSupport === 'optional' || taskSupport === 'required';
  return {
    name,
    ...(typeof title === 'string' ? { title } : {}),
    description,
    inputSchema,
    annotations: readAnnotations(annotations),
    ...(isKnown ? { taskSupport } : {}),
  };
}

function readAnnotations({ title, ...hints }: JsonObject): McpTool['annotations'] {
  const flags = Object.entries(hints).filter(([, value]) => typeof value === 'boolean');
  return { ...(typeof title === 'string' ? { title } : {}), ...Object.fromEntries(flags) };
}

/** Formats the newest records, with one server on each line. */
function formatRecords(records: readonly (readonly [string, RecordedTools])[]): string {
  const lines = records
    .map(([fingerprint, tools]) => `${JSON.stringify(fingerprint)}:${JSON.stringify(tools)}`)
    .filter((line) => line.length <= MAX_LENGTH)
    .slice(-MAX_SERVERS);
  return `{"version":${VERSION},"servers":{\n${lines.join(',\n')}\n}}\n`;
}
