/** A text such as `/name arguments`, which runs a slash command if there is one of this name. */
export interface SlashText {
  /** The name as it was typed, with colons in the place of slashes. */
  readonly name: string;
  /** The text after the name, without what stdin held. */
  readonly argument: string;
  /** Whether the text can only be meant as a command: a path such as `/etc/hosts` is not. */
  readonly isCommandLike: boolean;
}

const SLASH_TEXT = /^\/([^\s/][^\s]{0,255})(?:\s([\s\S]*))?$/;
const COMMAND_LIKE = /^[A-Za-z][\w-]*(?::[\w.-]+)*$/;
/** Matches the text from stdin, which stands after the prompt. */
const STDIN = /\n\n<stdin>[\s\S]*$/;

/** Reads a text that may run a slash command. Returns null for any other text. */
export function readSlashText(text: string): SlashText | null {
  const [, typed, argument = ''] = SLASH_TEXT.exec(text.replace(STDIN, '')) ?? [];
  if (typed === undefined) return null;
  const name = typed.replaceAll('/', ':');
  return { name, argument: argument.trim(), isCommandLike: COMMAND_LIKE.test(typed) };
}
