import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { plural } from '../base/text.ts';
import { parseRules } from '../policy/rules/rules.ts';
import type { Layer } from '../config/layer.ts';
import { MAX_INDEX_LINES } from '../engine/memory/prompt-notes.ts';
import { describeConfigProblem } from '../config/setting.ts';
import { listVariables } from '../mcp/expand-variables.ts';
import { describeMcpProblem, PROJECT_MCP_FILE, readMcpFile } from '../mcp/read-servers.ts';
import type { McpServerEntry, McpTransport } from '../mcp/server-entry.ts';

/** The effects that a file would have if it were trusted. */
export interface FileEffects {
  /** The effects, one per line. The lines quote the file, so they must be escaped before they are printed. */
  readonly lines: readonly string[];
  /** The mistakes that prevent an approval, because Muster would not start with this file. */
  readonly problems: readonly string[];
}

/** Describes what it means to trust an agent's notes. */
export function memoryEffects(bytes: Buffer): FileEffects {
  const count = bytes.toString('utf8').trimEnd().split('\n').length;
  const lines = [
    `notes: ${plural(count, 'line')}, of which the first ${MAX_INDEX_LINES} are part of the agent's prompt, marked as data`,
    'trusted by their path, so later changes are trusted, too; read them in the file',
  ];
  return { lines, problems: [] };
}

/** Describes each setting and rule of a settings file, and the parts that Muster ignores. */
export function settingsEffects(layer: Layer, text: string): FileEffects {
  const lines = layer.assignments.flatMap(({ entry, value }) =>
    entry.spec.combine === 'append' && Array.isArray(value)
      ? value.map((item) => `${entry.name}: ${String(item)}`)
      : [`${entry.key} = ${JSON.stringify(value)}`],
  );
  const ignored = layer.notices.map((notice) => `! ${describeConfigProblem(notice)}`);
  const all = [...lines, ...ignored, ...listIgnoredKeys(text)];
  return {
    lines: all.length === 0 ? ['nothing'] : all,
    problems: [...layer.problems.map(describeConfigProblem), ...findRuleMistakes(layer)],
  };
}

function findRuleMistakes({ assignments }: Layer): readonly string[] {
  const ruleTexts = (list: string) =>
    assignments
      .filter(({ entry }) => entry.key === `permissions.${list}`)
      .flatMap(({ value, source }) =>
        Array.isArray(value) ? value.map((item) => ({ text: String(item), source })) : [],
      );
  const { problems } = parseRules({
    allow: ruleTexts('allow'),
    ask: ruleTexts('ask'),
    deny: ruleTexts('deny'),
  });
  return problems.map(({ message }) => message);
}

/** The keys of a Claude Code settings file that have an effect. Its hooks are trusted apart from its permissions. */
const KNOWN_KEYS: ReadonlySet<string> = new Set(['permissions', 'hooks', '$schema']);

/** Returns a line that lists the keys of a Claude Code settings file that have no effect. */
function listIgnoredKeys(text: string): readonly string[] {
  const value = parseJsonLine(text);
  if (!isJsonObject(value)) return [];
  const ignored = Object.keys(value).filter((key) => !KNOWN_KEYS.has(key));
  return ignored.length === 0 ? [] : [`does nothing in Muster: ${ignored.join(', ')}`];
}

/** Describes the MCP servers of a project's file: what each runs or connects to. */
export async function serverEffects(bytes: Buffer): Promise<FileEffects> {
  const { entries, problems } = readMcpFile(bytes.toString('utf8'), {
    scope: 'project',
    file: PROJECT_MCP_FILE,
  });
  const lines = entries.flatMap(describeServer);
  return {
    lines: lines.length === 0 ? ['nothing'] : lines,
    problems: [],
    ...(problems.length === 0
      ? {}
      : { lines: [...lines, ...problems.map((each) => `! ${describeMcpProblem(each)}`)] }),
  };
}

/** Describes what a server runs or connects to, one effect per line. */
export function describeServer(entry: McpServerEntry): readonly string[] {
  const { name, transport } = entry;
  const variables = listVariables(transport);
  const reads = variables.length === 0 ? [] : [`reads the variables ${variables.join(', ')}`];
  return [...describeTransport(transport), ...reads].map((effect) => `server ${name}: ${effect}`);
}

function describeTransport(transport: McpTransport): readonly string[] {
  if (transport.type !== 'stdio') {
    const { url, headers, headersHelper } = transport;
    const helper = `runs a command for headers in the sandbox before each connection`;
    return [
      `connects to ${url}`,
      ...describeNames('sends the headers', headers),
      ...(headersHelper === null ? [] : [`${helper}: ${headersHelper}`]),
    ];
  }
  const command = [transport.command, ...transport.args].map((each) => JSON.stringify(each));
  return [`runs ${command.join(' ')} in the sandbox`, ...describeNames('sets', transport.env)];
}

function describeNames(verb: string, values: Readonly<Record<string, string>>): readonly string[] {
  const names = Object.keys(values);
  return names.length === 0 ? [] : [`${verb} ${names.join(', ')}`];
}
