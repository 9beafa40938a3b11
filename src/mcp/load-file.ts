import { join } from 'node:path';
import { errorMessage } from '../base/errors.ts';
import { hasReadableFile, readNamedFile } from '../sys/files/named-file.ts';
import { failMcpFile, readMcpFile, type McpServerList } from './read-servers.ts';
import type { McpServerOrigin } from './server-entry.ts';

/** The maximum size of a file with servers, in bytes. */
const MAX_FILE_BYTES = 1_048_576;

/** The paths of the files in which servers are described. */
export interface McpFilePaths {
  /** The project's `.mcp.json`. It may be read only if the user trusts it. */
  readonly project: string;
  /** The user's `mcp.json`. */
  readonly user: string;
}

/** Returns where the files are. `configDirectory`: the directory of the user's configuration, `~/.config/muster`. */
export function locateMcpFiles(project: string, configDirectory: string): McpFilePaths {
  return { project: join(project, '.mcp.json'), user: join(configDirectory, 'mcp.json') };
}

/**
 * Reads a file with servers. A file that does not exist has none. A file that cannot be read becomes a problem. The
 * caller has checked that the user trusts a project's file.
 */
export async function loadMcpFile(origin: McpServerOrigin): Promise<McpServerList> {
  const { file } = origin;
  try {
    if (!hasReadableFile(file)) return { entries: [], problems: [] };
    const bytes = await readNamedFile(file, { maxBytes: MAX_FILE_BYTES });
    return readMcpFile(bytes.toString('utf8'), origin);
  } catch (thrown) {
    const message = errorMessage(thrown).replace(`${file}: `, '');
    return failMcpFile(origin, message);
  }
}
