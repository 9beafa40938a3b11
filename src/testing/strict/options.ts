/** The servers with the Chat protocol for which different rules apply. */
export const CHAT_SERVERS = ['openai', 'compatible', 'mistral', 'deepseek', 'google'] as const;
/** A kind of server with the Chat protocol. */
export type ChatServer = (typeof CHAT_SERVERS)[number];

/** The default of `strict`: a fake model refuses the requests that its vendor would refuse. */
const STRICT_BY_DEFAULT = true;

/** The rules that a server has in addition to the rules of all servers with its protocol. */
export interface StrictOptions {
  /**
   * The server for the Chat protocol. Default: `compatible`, with the rules that nearly all servers have in common.
   * `openai` also refuses the fields of messages that other vendors have added.
   */
  readonly chatServer?: ChatServer;
  /**
   * The parameters that this server refuses in OpenAI's two protocols, such as `stream_options`, `temperature`
   * or `messages.reasoning_content`. Default: none.
   */
  readonly refusedParameters?: readonly string[];
  /** The roles of messages that this server refuses in OpenAI's two protocols, such as `developer`. Default: none. */
  readonly refusedRoles?: readonly string[];
}

/** Returns the options for a value of `strict`; null: no rules are checked. */
export function resolveStrictOptions(
  strict: boolean | StrictOptions = STRICT_BY_DEFAULT,
): StrictOptions | null {
  if (strict === false) return null;
  return strict === true ? {} : strict;
}
