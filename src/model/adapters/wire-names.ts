import { canonicalToolName } from '../../protocol/tool-aliases.ts';

/**
 * Names of tools that all four APIs accept. Anthropic takes 1 to 128 of these characters, OpenAI 64, and
 * Google wants a letter or an underscore at the beginning:
 * https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 * https://platform.openai.com/docs/api-reference/chat/create
 * https://ai.google.dev/api/caching#FunctionDeclaration
 */
const VALID = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const LONGEST = 64;

/** Stands for a name of which no character can be sent. */
const UNNAMED = 'unnamed_tool';

/**
 * The name under which a call and its result are sent. Models make up names that their own API refuses
 * afterwards (`functions.Read`, a blank, an emoji, nothing): the log keeps what the model wrote.
 */
export function wireName(name: string): string {
  // The packages look names up in plain objects, which have these already.
  if (name in Object.prototype) return `_${name}`;
  if (VALID.test(name)) return name;
  const canonical = canonicalToolName(name.trim());
  if (canonical !== undefined && VALID.test(canonical)) return canonical;
  const made = name.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?=[0-9-])/, '_');
  return /[a-zA-Z0-9]/.test(made) ? made.slice(0, LONGEST) : UNNAMED;
}
