import { plural } from '../../base/text.ts';
import { describeAttachment, type Attachment } from '../../protocol/attachment.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type {
  McpCallResult,
  McpContent,
  McpPromptMessages,
  McpResourceContent,
} from '../../mcp/server-data.ts';
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

/** Formats the contents of a resource like the result of a call. */
export async function formatResource(
  contents: readonly McpResourceContent[],
  context: Pick<ToolContext, 'attach'>,
): Promise<ToolOutput> {
  const [only] = contents;
  // The user or the model has named the resource, so its URI need not be repeated.
  if (contents.length === 1 && only?.text !== undefined) return { text: only.text };
  const content = contents.map((each) => ({ type: 'resource', ...each }) as const);
  return await formatMcpResult({ content, isError: false }, context);
}

/** The messages of a prompt as a text, and the resources that are part of them. */
export interface FormattedPrompt {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly resources: readonly { readonly uri: string; readonly text: string }[];
}

/** Formats the messages of a prompt. Resources with a text are only named in it, because their content is data. */
export async function formatPrompt(
  { messages }: McpPromptMessages,
  context: Pick<ToolContext, 'attach'>,
): Promise<FormattedPrompt> {
  const resources: { readonly uri: string; readonly text: string }[] = [];
  const formatMessage = async (content: McpContent): Promise<ResultPart> => {
    if (content.type !== 'resource' || content.text === undefined) {
      return await formatContent(content, context);
    }
    const { uri, text } = content;
    resources.push({ uri, text });
    return { text: `[resource ${uri}, quoted below]` };
  };
  const isDialog = messages.some(({ role }) => role === 'assistant');
  const attachments: Attachment[] = [];
  const texts: string[] = [];
  for (const { role, content } of messages) {
    const { text, attachment } = await formatMessage(content);
    texts.push(isDialog ? `[${role}]\n${text}` : text);
    if (attachment !== undefined) attachments.push(attachment);
  }
  return { text: texts.join('\n\n'), attachments, resources };
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
      if (/^(?:image\/|application\/pdf$)/.test(mediaType))
        return await attachImage({ data, mediaType }, context);
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
  return plural(Buffer.byteLength(data, 'base64'), 'byte');
}
