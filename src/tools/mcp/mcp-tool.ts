import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { Tool, ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { McpServerError } from '../../mcp/server-error.ts';
import type { CatalogTool } from '../../mcp/tool-catalog.ts';
import { cleanDescription } from '../../mcp/tool-description.ts';
import { convertToolSchema } from '../../mcp/tool-schema.ts';
import { failure } from '../shared/output.ts';

/**
 * Creates Muster's tool for a tool of an MCP server. Its calls count as effects, whatever the server says about them:
 * annotations never decide about rights.
 *
 * @param server.isConfined whether the server runs in the sandbox or is reached over HTTP
 */
export function createMcpTool(
  { name, tool, call }: CatalogTool,
  { isConfined }: { readonly isConfined: boolean },
): Tool<JsonObject> {
  const { schema, restoreArguments } = convertToolSchema(tool.inputSchema);
  return {
    name,
    kind: 'execute',
    replay: 'opaque',
    description: cleanDescription(tool.description),
    inputSchema: schema,
    parse: (input: JsonValue) =>
      isJsonObject(input)
        ? { ok: true, input }
        : { ok: false, issues: ['input: is not an object; valid: an object of arguments'] },
    // The server decides what it reads and changes.
    describe: () => ({ ...NO_ACCESS, ...(isConfined ? { confinedServer: true } : {}) }),
    run: async (input, context) => {
      try {
        const result = await call(restoreArguments(input), {
          signal: context.signal,
          callId: context.callId,
          onProgress: ({ progress, total, message }) =>
            context.progress(formatProgress(progress, total, message)),
        });
        const { formatMcpResult } = await import('./format-result.ts');
        return await formatMcpResult(result, context);
      } catch (thrown) {
        return toFailedOutput(thrown, context);
      }
    },
  };
}

function formatProgress(progress: number, total?: number, message = ''): string {
  const share = total === undefined || total <= 0 ? `${progress}` : `${progress} of ${total}`;
  return message === '' ? share : `${share}: ${message}`;
}

/** Describes the failure of a call for the model. Throws what is no failure of a server. */
export function toFailedOutput(thrown: unknown, { signal }: ToolContext): ToolOutput {
  if (!(thrown instanceof McpServerError) || signal.aborted) throw thrown;
  const unknown = thrown.isOutcomeUnknown
    ? ' It is not known whether the call had an effect: look before you repeat it.'
    : '';
  return failure(thrown.code, `${thrown.message}${unknown}`);
}
