import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { describeMcpProblem, MAX_MCP_FILE_BYTES, readMcpFile } from '../../mcp/read-servers.ts';
import { changeJsonFile, unchangeableFile } from '../setup/json-file.ts';

/** The servers of a file by name, as the file writes them. */
type ServerMap = Readonly<Record<string, JsonObject>>;

/**
 * Changes the servers in a file and replaces the file as a whole. Creates it if it is missing. Throws MusterError, and
 * changes nothing, if the file is not a JSON object with `mcpServers`, or if a server would have an error.
 *
 * @param change returns the new servers, or null if nothing is to be written
 */
export function changeServersFile(
  path: string,
  scope: 'user' | 'project',
  change: (servers: ServerMap) => ServerMap | null,
): Promise<void> {
  // A server of the user may have a key among its variables.
  const options = { maxBytes: MAX_MCP_FILE_BYTES, isPrivate: scope === 'user' };
  return changeJsonFile(path, options, (file) => {
    const { mcpServers = {} } = file;
    if (!isJsonObject(mcpServers)) throw unchangeableFile(path, 'mcpServers is not an object');
    const changed = change(mcpServers as ServerMap);
    if (changed === null) return null;
    const whole = { ...file, mcpServers: changed };
    const problem = readMcpFile(JSON.stringify(whole), { scope, file: path }).problems.find(
      ({ severity, server }) =>
        severity === 'error' && server !== null && !Object.hasOwn(mcpServers, server),
    );
    if (problem !== undefined) {
      throw new MusterError('INVALID_PARAM', `${describeMcpProblem(problem)}; nothing was written`);
    }
    return whole;
  });
}
