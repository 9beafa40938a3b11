import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { McpResourceList } from '../../mcp/server-data.ts';
import { listServerResources } from '../../mcp/server-features.ts';
import type { TaskOfCall } from '../../mcp/server-place.ts';
import type { McpServer } from '../../mcp/server-use.ts';
import { NO_ACCESS, type McpConfinement } from '../../protocol/permission.ts';
import type { Tool, ValidationResult } from '../../protocol/tool.ts';
import { toCallingTask, toFailedOutput } from './mcp-tool.ts';

/** The maximum length of a name and of a description in a list of resources, in code points. */
const MAX_TEXT_LENGTH = 200;

interface ResourceInput {
  /** Default: the resources are listed. */
  readonly uri?: string;
}

/** The resources of one server, as its tool reads them. */
export interface ReadableResources {
  /** The name of the tool. */
  readonly name: string;
  /** Returns the use of the server by a task. Starts nothing. */
  open(
    task: TaskOfCall,
  ): Pick<McpServer, 'listResources' | 'listResourceTemplates' | 'readResource'>;
}

/**
 * Creates the tool that lists and reads the resources of one server. A call counts as an effect, as that of each other tool
 * of the server does. Requests do not list the tool; a call of McpResource stands for a call of it.
 *
 * @param server.confinement how the server is confined; null if nothing confines it
 */
export function createResourceTool(
  { name, open }: ReadableResources,
  { confinement }: { readonly confinement: McpConfinement | null },
): Tool<ResourceInput> {
  return {
    name,
    kind: 'execute',
    replay: 'opaque',
    description: 'Read a resource of this MCP server by its URI, or list its resources.',
    inputSchema: { type: 'object', properties: { uri: { type: 'string' } } },
    parse,
    describe: () => ({ ...NO_ACCESS, ...(confinement === null ? {} : { server: confinement }) }),
    run: async ({ uri }, context) => {
      try {
        const server = open(toCallingTask(context));
        if (uri === undefined) {
          return { text: formatResourceList(await listServerResources(server, context.signal)) };
        }
        const contents = await server.readResource(uri, context.signal);
        const { formatResource } = await import('./format-result.ts');
        return await formatResource(contents, context);
      } catch (thrown) {
        return toFailedOutput(thrown, context);
      }
    },
  };
}

function parse(input: JsonValue): ValidationResult<ResourceInput> {
  const uri = isJsonObject(input) ? input['uri'] : undefined;
  if (uri === undefined || uri === null || uri === '') return { ok: true, input: {} };
  if (typeof uri === 'string') return { ok: true, input: { uri } };
  return { ok: false, issues: ['uri: is not a text; valid: the URI of a resource'] };
}

/** Lists resources and templates for the model, one on each line. */
function formatResourceList({ resources, templates, isComplete }: McpResourceList): string {
  const lines = [
    ...resources.map(({ uri, size, ...rest }) => `${uri}${describe(rest, size)}`),
    ...templates.map(({ uriTemplate, ...rest }) => `${uriTemplate} (template)${describe(rest)}`),
    ...(isComplete ? [] : ['[The server has more. Only the beginning of its list was read.]']),
  ];
  return lines.length === 0 ? '[no resources]' : lines.map(sanitizeLine).join('\n');
}

interface ResourceTexts {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mediaType?: string;
}

function describe(
  { name, title = name, description = '', mediaType }: ResourceTexts,
  size?: number,
): string {
  const details = [mediaType, size === undefined ? undefined : `${size} bytes`];
  const known = details.filter((detail) => detail !== undefined).join(', ');
  const texts = [title, description].filter((text) => text !== '');
  const shown = texts
    .map((text) => `: ${truncate(collapseWhitespace(text), MAX_TEXT_LENGTH)}`)
    .join('');
  return `${known === '' ? '' : ` [${known}]`}${shown}`;
}
