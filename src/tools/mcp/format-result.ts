import { plural } from '../../base/text.ts';
import { describeAttachment, type Attachment } from '../../protocol/attachment.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { McpCallResult, McpContent } from '../../mcp/server-data.ts';
import { describeExcess, inspectAttachment } from '../attachments/inspect-file.ts';

/** One part of a result: its text, and the image in it. */
interface ResultPart {
  readonly text: string;
  readonly attachment?: Attachment;
}

/**
 * Formats the result of a call of an MCP server for the model. Images are attached if the model accepts them. Of data
 * that a model cannot read, only the type and size are named.
 */
export async function formatMcpResult(
  { content, structured, isError }: McpCallResult,
  context: Pick<ToolContext, 'attach'>,
): Promise<ToolOutput> {
  const parts: ResultPart[] = [];
  for (const each of content) parts.push(await formatContent(each, context));
  // A server that returns data should repeat it as text; some do not.
  if (parts.every(({ text }) => text.trim() === '') && structured !== undefined) {
    parts.push({ text: JSON.stringify(structured, null, 2) });
  }
  const text = parts.map((part) => part.text).join('\n');
  const attachments = parts.flatMap(({ attachment }) => attachment ?? []);
  return {
    text: text.trim() === '' && attachments.length === 0 ? '[no output]' : text,
    ...(isError ? { error: 'PROVIDER_ERROR' } : {}),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

async function formatContent(
  content: McpContent,
  context: Pick<ToolContext, 'attach'>,
): Promise<ResultPart> {
  switch (content.type) {
    case 'text':
      return { text: content.text };
    case 'image':
      return await attachImage(content, context);
    case 'audio':
      return { text: `[audio (${content.mediaType}, ${describeSize(content.data)}) is not shown]` };
    case 'resource': {
      const { uri, text, data = '', mediaType = 'unknown type' } = content;
      if (text !== undefined) return { text: `[resource ${uri}]\n${text}` };
      if (mediaType.startsWith('image/')) return await attachImage({ data, mediaType }, context);
      return { text: `[resource ${uri} (${mediaType}, ${describeSize(data)}) is not shown]` };
    }
    case 'resource_link': {
      const { uri, name, description = '' } = content;
      return { text: `[resource ${uri}: ${name}${description === '' ? '' : `: ${description}`}]` };
    }
  }
}

async function attachImage(
  { data, mediaType }: { readonly data: string; readonly mediaType: string },
  { attach }: Pick<ToolContext, 'attach'>,
): Promise<ResultPart> {
  const bytes = Buffer.from(data, 'base64');
  const details = inspectAttachment(bytes);
  if (typeof details === 'string') {
    return { text: `[image (${mediaType}, ${describeSize(data)}) is not shown: ${details}]` };
  }
  const attached =
    describeExcess(details) ?? (await attach?.add(details, bytes)) ?? 'images cannot be shown here';
  const description = describeAttachment(details);
  return typeof attached === 'string'
    ? { text: `[${description} is not shown: ${attached}]` }
    : { text: `[${description}]`, attachment: attached };
}

/** Describes the size of data in Base64. */
function describeSize(data: string): string {
  return plural(Math.floor((data.length * 3) / 4), 'byte');
}
