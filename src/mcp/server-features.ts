import { sanitizeLine } from '../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../base/text.ts';
import type { McpServer } from './server-use.ts';
import type {
  McpPrompt,
  McpResourceList,
  McpServerFeatures,
  McpServerInfo,
} from './server-data.ts';

/** The maximum number of prompts that are kept of a server, and of arguments of a prompt. */
const MAX_PROMPTS = 200;
const MAX_ARGUMENTS = 20;
/** The maximum length of a name. A prompt or an argument with a longer one is left out. */
const MAX_NAME_LENGTH = 200;
/** The maximum length of a description, in code points. */
const MAX_DESCRIPTION_LENGTH = 300;

/** Reads what a server offers besides its tools. Rejects with an McpServerError. */
export async function readServerFeatures(
  server: Pick<McpServer, 'listPrompts'>,
  { hasResources, hasPrompts, hasCompletion }: McpServerInfo,
  signal: AbortSignal,
): Promise<McpServerFeatures> {
  const prompts = hasPrompts ? (await server.listPrompts(signal)).items : [];
  return { hasResources, hasCompletion, prompts: boundPrompts(prompts) };
}

/** Bounds the number of prompts and arguments and the length of their texts, and makes each text one line. */
export function boundPrompts(prompts: readonly McpPrompt[]): readonly McpPrompt[] {
  return prompts
    .filter(({ name }) => name.length <= MAX_NAME_LENGTH)
    .slice(0, MAX_PROMPTS)
    .map(({ name, description = '', arguments: args }) => ({
      name,
      description: boundText(description),
      arguments: args
        .filter((argument) => argument.name.length <= MAX_NAME_LENGTH)
        .slice(0, MAX_ARGUMENTS)
        .map((argument) => ({
          name: argument.name,
          description: boundText(argument.description ?? ''),
          isRequired: argument.isRequired,
        })),
    }));
}

function boundText(text: string): string {
  const start = collapseWhitespace(text.slice(0, 4 * MAX_DESCRIPTION_LENGTH));
  return truncate(sanitizeLine(start), MAX_DESCRIPTION_LENGTH);
}

/** Lists the resources of a server and their templates. Rejects with an McpServerError. */
export async function listServerResources(
  server: Pick<McpServer, 'listResources' | 'listResourceTemplates'>,
  signal: AbortSignal,
): Promise<McpResourceList> {
  const [resources, templates] = await Promise.all([
    server.listResources(signal),
    server.listResourceTemplates(signal),
  ]);
  return {
    resources: resources.items,
    templates: templates.items,
    isComplete: resources.isComplete && templates.isComplete,
  };
}
