import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { describeMcpProblem, MAX_MCP_FILE_BYTES, readMcpFile } from '../../mcp/read-servers.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { writeFileInRoots } from '../../sys/files/write-file.ts';

/** The servers of a file by name, as the file writes them. */
type ServerMap = Readonly<Record<string, JsonObject>>;

/**
 * Changes the servers in a file and replaces the file as a whole. Creates it if it is missing. Throws MusterError, and
 * changes nothing, if the file is not a JSON object with `mcpServers`, or if a server would have an error.
 *
 * @param change returns the new servers, or null if nothing is to be written
 */
export async function changeServersFile(
  path: string,
  scope: 'user' | 'project',
  change: (servers: ServerMap) => ServerMap | null,
): Promise<void> {
  const { real } = resolveInRoots(path, []);
  // The state is taken before the content, so that a change in between is noticed.
  const expected = lstatSync(real, { bigint: true, throwIfNoEntry: false }) ?? 'nothing';
  const file = expected === 'nothing' ? {} : await readObject(real, path);
  const { mcpServers = {} } = file;
  if (!isJsonObject(mcpServers)) throw unusable(path, 'mcpServers is not an object');
  const changed = change(mcpServers as ServerMap);
  if (changed === null) return;
  const text = `${JSON.stringify({ ...file, mcpServers: changed }, null, 2)}\n`;
  const problem = readMcpFile(text, { scope, file: path }).problems.find(
    ({ severity, server }) =>
      severity === 'error' && server !== null && !Object.hasOwn(mcpServers, server),
  );
  if (problem !== undefined) {
    throw new MusterError('INVALID_PARAM', `${describeMcpProblem(problem)}; nothing was written`);
  }
  const directory = dirname(real);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // A server of the user may have a key among its variables.
  const mode = expected === 'nothing' && scope === 'user' ? { mode: 0o600 } : {};
  await writeFileInRoots(real, { roots: [directory] }, Buffer.from(text), expected, mode);
}

async function readObject(real: string, path: string): Promise<JsonObject> {
  const bytes = await readNamedFile(real, { maxBytes: MAX_MCP_FILE_BYTES });
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    throw unusable(path, 'it is not plain JSON (comments would be lost)');
  }
  throw unusable(path, 'it is not a JSON object');
}

function unusable(path: string, reason: string): MusterError {
  const message = `${path} cannot be changed: ${reason}. Nothing was written; change it by hand.`;
  return new MusterError('CONFLICT', message);
}
