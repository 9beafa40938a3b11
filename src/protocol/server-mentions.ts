import { readSlashText } from './slash-text.ts';

/** A text such as `/server:prompt arguments`, which chooses a prompt of an MCP server if there is such a server. */
export interface PromptCommand {
  /** The server's part of the names of its tools. */
  readonly server: string;
  readonly prompt: string;
  /** The text after the name, without what stdin held. */
  readonly argument: string;
}

const PROMPT_COMMAND = /^\s*\/([\w-]{1,64}):([\w.:/-]{1,256})(?:\s([\s\S]*))?$/;
/** Matches the text from stdin, which stands after the prompt. */
const STDIN = /\n\n<stdin>[\s\S]*$/;

/** Reads a text that may choose a prompt of an MCP server. Returns null for any other text. */
export function readPromptCommand(text: string): PromptCommand | null {
  const [, server, prompt, argument = ''] = PROMPT_COMMAND.exec(text.replace(STDIN, '')) ?? [];
  if (server === undefined || prompt === undefined) return null;
  return { server, prompt, argument: argument.trim() };
}

/** Tells whether a message may name something that goes along with it: a file, a resource, a slash command, or a prompt. */
export function mayNameItems(text: string): boolean {
  return text.includes('@') || readSlashText(text) !== null || readPromptCommand(text) !== null;
}

/** Reads the mention of a resource, `server:uri`. Returns null for any other mention. */
export function readResourceMention(
  mention: string,
): { readonly server: string; readonly uri: string } | null {
  const [, server, uri] = /^([\w-]{1,64}):(\S[\s\S]*)$/.exec(mention) ?? [];
  return server === undefined || uri === undefined ? null : { server, uri };
}
