/** The servers with the Chat protocol that differ in what they refuse. */
export const CHAT_SERVERS = ['openai', 'compatible', 'mistral', 'deepseek', 'google'] as const;
export type ChatServer = (typeof CHAT_SERVERS)[number];

/** Whether a fake model refuses what its vendor would refuse, where nothing is said of it. */
const STRICT_BY_DEFAULT = true;

/** The rules that a strict server has beyond those of all servers of its protocol. */
export interface StrictOptions {
  /**
   * Which server speaks the Chat protocol. Default: `compatible`, the rules that nearly all of them share.
   * `openai` refuses fields of messages that other vendors have added, too.
   */
  readonly chatServer?: ChatServer;
  /**
   * Parameters that this server refuses, such as `stream_options`, `temperature` or
   * `messages.reasoning_content`. For OpenAI's two protocols.
   */
  readonly refusedParameters?: readonly string[];
  /** Roles of messages that this server refuses, such as `developer`. For OpenAI's two protocols. */
  readonly refusedRoles?: readonly string[];
}

/** Returns null where the rules are not checked. */
export function strictOptions(
  strict: boolean | StrictOptions = STRICT_BY_DEFAULT,
): StrictOptions | null {
  if (strict === false) return null;
  return strict === true ? {} : strict;
}
