import type { JsonObject } from '../../base/json.ts';
import { parseJsonc } from '../../base/jsonc.ts';
import { parseToml } from '../../config/parse-toml.ts';
import { findProductServers, listProductFiles, type ProductFile } from '../../mcp/product-files.ts';
import { readMcpServers } from '../../mcp/read-servers.ts';
import { fingerprintServer, runsInSandbox, type McpServerEntry } from '../../mcp/server-entry.ts';
import { writeServerEntry } from '../../mcp/write-entry.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import { readProductText } from '../setup/product-text.ts';
import { findNamedSecrets } from '../setup/secrets.ts';
import { describeTarget } from './describe-target.ts';
import { readUserServers, userServersFile } from './find-servers.ts';
import { createServerSearch } from './manage-servers.ts';
import { changeServersFile } from './servers-file.ts';

/** A server in a file of another product. Contains no value of a variable or header. */
export interface FoundServer {
  readonly name: string;
  readonly product: string;
  readonly file: string;
  /** `project`: the file belongs to the project, so other people may have written it. */
  readonly scope: 'user' | 'project';
  /**
   * `new`: it can be added. `exists`: the user has this server already. `conflict`: the user has another server of this
   * name. `unusable`: it cannot be used in Muster.
   */
  readonly state: 'new' | 'exists' | 'conflict' | 'unusable';
  /** The reason why it cannot be added; null for a new server. */
  readonly reason: string | null;
  /** The command line or the URL, with keys masked; null if it cannot be used. */
  readonly target: string | null;
  readonly isSandboxed: boolean;
  /** The places of values that look secret, such as `env.TOKEN`. They are copied as they are. */
  readonly secrets: readonly string[];
  /** The fields that have no effect in Muster. */
  readonly notes: readonly string[];
}

/** The servers that were found in the files of other products. */
export interface ServerImport {
  /** The user's file into which new servers are written. */
  readonly file: string;
  readonly servers: readonly FoundServer[];
  /** The files that could not be read, each with the reason. */
  readonly problems: readonly string[];
  /** Writes the new servers that have one of these names. Throws MusterError if the file cannot be changed. */
  add(servers: readonly FoundServer[]): Promise<void>;
}

/**
 * Finds the servers that other products have configured for the user and for a project. Changes nothing. Files of the
 * project need no trust here, because nothing is used before a person has agreed.
 */
export async function findServersToImport(state: StateOptions): Promise<ServerImport> {
  const { environment, home, cwd: project } = state;
  const places = { environment, home, platform: process.platform, project };
  const readings = await Promise.all(
    listProductFiles(places).map((file) => readProductFile(file, project)),
  );
  const known = new Map(
    readUserServers(await createServerSearch(state))
      .flatMap(({ entries }) => entries)
      .toReversed()
      .map((entry) => [entry.name, entry]),
  );
  const added = new Map<FoundServer, McpServerEntry>();
  const servers = readings
    .flatMap((reading) => reading.servers)
    .map(({ source, name, value }): FoundServer => {
      const { server, entry } = judgeServer({ source, name, value, known });
      if (entry !== null) {
        known.set(name, entry);
        added.set(server, entry);
      }
      return server;
    });
  const file = userServersFile(state);
  return {
    file,
    servers,
    problems: readings.flatMap(({ problem }) => problem ?? []),
    add: async (chosen) => {
      const entries = chosen.flatMap((server) => {
        const entry = added.get(server);
        return entry === undefined ? [] : [[entry.name, writeServerEntry(entry)] as const];
      });
      await changeServersFile(file, 'user', (present) => ({
        ...present,
        ...Object.fromEntries(entries.filter(([name]) => !Object.hasOwn(present, name))),
      }));
    },
  };
}

interface NamedServer {
  readonly source: ProductFile;
  readonly name: string;
  readonly value: unknown;
}

interface FileReading {
  readonly servers: readonly NamedServer[];
  readonly problem: string | null;
}

async function readProductFile(source: ProductFile, project: string): Promise<FileReading> {
  const { path } = source;
  const fail = (reason: string): FileReading => ({ servers: [], problem: `${path}: ${reason}` });
  const text = readProductText(source, project);
  if (text === null) return { servers: [], problem: null };
  if ('problem' in text) return fail(text.problem);
  const content = await parseContent(path, text.text);
  if ('problem' in content) return fail(content.problem);
  const named = findProductServers(content.value, source.product, project);
  return { servers: named.map(([name, value]) => ({ source, name, value })), problem: null };
}

async function parseContent(
  path: string,
  text: string,
): Promise<{ readonly value: unknown } | { readonly problem: string }> {
  if (path.endsWith('.toml')) {
    const parsed = await parseToml(path, text);
    return parsed.ok ? { value: parsed.file.table } : { problem: parsed.problem.message };
  }
  try {
    // Files that products write themselves are plain JSON, and may be larger than the reader of comments accepts.
    const value: unknown = JSON.parse(text);
    return { value };
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    const parsed = parseJsonc(text);
    // The message of the parser quotes the file, which may contain secrets.
    return parsed.ok ? { value: parsed.value } : { problem: 'it is not valid JSON' };
  }
}

/** Decides whether a server can be added. Returns its entry if so. */
function judgeServer({
  source: { product, path, scope },
  name,
  value,
  known,
}: NamedServer & { readonly known: ReadonlyMap<string, McpServerEntry> }): {
  readonly server: FoundServer;
  readonly entry: McpServerEntry | null;
} {
  const { entries, problems } = readMcpServers({ [name]: value }, { scope: 'user', file: path });
  const [read] = entries;
  const found = { name, product: product.name, file: path, scope };
  const describe = (severity: 'error' | 'warning') =>
    problems
      .filter((problem) => problem.severity === severity)
      .map(({ field, message }) => (field === null ? message : `${field}: ${message}`));
  if (read === undefined) {
    const reason = describe('error').join('; ');
    const empty = { target: null, isSandboxed: false, secrets: [], notes: [] };
    return { server: { ...found, state: 'unusable', reason, ...empty }, entry: null };
  }
  const entry = scope === 'project' ? confine(read) : read;
  const other = known.get(name);
  const server: FoundServer = {
    ...found,
    ...compare([read, entry], other),
    target: describeTarget(entry),
    isSandboxed: entry.transport.type === 'stdio' && runsInSandbox(entry),
    secrets: listSecretPlaces(entry),
    notes: describe('warning'),
  };
  return { server, entry: other === undefined ? entry : null };
}

/** Keeps a server of a project in the sandbox, in which it would run as an entry of `.mcp.json`. */
function confine(entry: McpServerEntry): McpServerEntry {
  return entry.transport.type === 'stdio' ? { ...entry, sandbox: true } : entry;
}

function compare(
  forms: readonly McpServerEntry[],
  other: McpServerEntry | undefined,
): Pick<FoundServer, 'state' | 'reason'> {
  if (other === undefined) return { state: 'new', reason: null };
  const { file } = other.origin;
  return forms.some((form) => fingerprintServer(form) === fingerprintServer(other))
    ? { state: 'exists', reason: `it is in ${file} already` }
    : { state: 'conflict', reason: `another server of this name is in ${file}` };
}

/** Lists the places of values in an entry that look secret. */
function listSecretPlaces(entry: McpServerEntry): readonly string[] {
  const { transport } = entry;
  const named = (field: string, map: JsonObject) =>
    findNamedSecrets(map).map(({ name }) => `${field}.${name}`);
  if (transport.type === 'stdio') {
    const hasSecret = describeTarget(entry) !== [transport.command, ...transport.args].join(' ');
    return [...named('env', transport.env), ...(hasSecret ? ['args'] : [])];
  }
  const hasSecret = describeTarget(entry) !== transport.url;
  return [...named('headers', transport.headers), ...(hasSecret ? ['url'] : [])];
}
