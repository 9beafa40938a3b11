import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/client';
import { dropMissing } from '../base/drop-missing.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type {
  McpCallResult,
  McpContent,
  McpPrompt,
  McpPromptArgument,
  McpPromptMessages,
  McpResource,
  McpResourceContent,
  McpResourceTemplate,
  McpTaskRevision,
  McpTool,
} from './server-data.ts';

/**
 * Converts a tool of the SDK to Muster's own type.
 *
 * @param tasks the revision by which the server offers tasks; null if it offers none
 */
export function toMcpTool(tool: Tool, tasks: McpTaskRevision | null): McpTool {
  const { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint } =
    tool.annotations ?? {};
  return {
    name: tool.name,
    ...dropMissing({ title: tool.title }),
    description: tool.description ?? '',
    // The SDK has parsed the values from JSON.
    inputSchema: tool.inputSchema as JsonObject,
    ...dropMissing({ outputSchema: tool.outputSchema as JsonObject | undefined }),
    ...dropMissing({ taskSupport: readTaskSupport(tool, tasks) }),
    annotations: dropMissing({
      title,
      readOnly: readOnlyHint,
      destructive: destructiveHint,
      idempotent: idempotentHint,
      openWorld: openWorldHint,
    }),
  };
}

/** Reads whether calls of a tool run as tasks. In the newer revision, the server decides that with each call. */
export function readTaskSupport(
  { execution }: Pick<Tool, 'execution'>,
  tasks: McpTaskRevision | null,
): McpTool['taskSupport'] {
  if (tasks === '2026-07-28') return 'optional';
  const support = tasks === null ? undefined : execution?.taskSupport;
  return support === 'forbidden' ? undefined : support;
}

/** Converts the result of a call to Muster's own type. */
export function toMcpCallResult(result: CallToolResult): McpCallResult {
  return {
    content: result.content.map(toMcpContent),
    ...dropMissing({ structured: result.structuredContent as JsonValue | undefined }),
    isError: result.isError === true,
  };
}

function toMcpContent(block: ContentBlock): McpContent {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: block.type, data: block.data, mediaType: block.mimeType };
    case 'resource':
      return { type: 'resource', ...toMcpResourceContent(block.resource) };
    case 'resource_link':
      return { type: 'resource_link', ...toMcpResource(block) };
    default:
      return block satisfies never;
  }
}

type SdkResourceContent = ReadResourceResult['contents'][number];

/** Converts the content of a resource to Muster's own type. */
export function toMcpResourceContent(content: SdkResourceContent): McpResourceContent {
  return {
    uri: content.uri,
    ...dropMissing({ mediaType: content.mimeType }),
    ...('text' in content ? { text: content.text } : { data: content.blob }),
  };
}

/** Converts a resource to Muster's own type. */
export function toMcpResource(resource: Resource): McpResource {
  const { uri, name, title, description, mimeType, size } = resource;
  return { uri, name, ...dropMissing({ title, description, mediaType: mimeType, size }) };
}

/** Converts the template of resources to Muster's own type. */
export function toMcpResourceTemplate(template: ResourceTemplateType): McpResourceTemplate {
  const { uriTemplate, name, title, description, mimeType } = template;
  return { uriTemplate, name, ...dropMissing({ title, description, mediaType: mimeType }) };
}

/** Converts a prompt to Muster's own type. */
export function toMcpPrompt(prompt: Prompt): McpPrompt {
  const { name, title, description } = prompt;
  return {
    name,
    ...dropMissing({ title, description }),
    arguments: (prompt.arguments ?? []).map(readArgument),
  };
}

function readArgument(argument: NonNullable<Prompt['arguments']>[number]): McpPromptArgument {
  const { name, description, required } = argument;
  return { name, ...dropMissing({ description }), isRequired: required === true };
}

/** Converts the messages of a prompt to Muster's own type. */
export function toMcpPromptMessages({ description, messages }: GetPromptResult): McpPromptMessages {
  return {
    ...dropMissing({ description }),
    messages: messages.map(({ role, content }) => ({ role, content: toMcpContent(content) })),
  };
}
