/** Places that an answer shows. */
export const SHOWN_PLACES = 3;
/** Less of the question than this is no answer; less than the second only a weak one. */
export const NOTHING_BELOW = 0.2;
export const WEAK_BELOW = 0.4;

export const CONFIGURE =
  'For that, configure a model: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST, or name one with --model.';

export const HELP = `The offline engine finds places in the workspace: ask, for example, “Where are settings read?”. It holds no conversation. ${CONFIGURE}`;

export const NO_TOOLS = `The offline engine answers by searching with Glob, Grep and Read, and this agent has none of them. ${CONFIGURE}`;

export const LIMITS = {
  change: `The offline engine only searches: it does not write, change or run anything. ${CONFIGURE} These are the places that matter to the request:`,
  judge: `The offline engine only searches: it cannot judge code. ${CONFIGURE} This is what it finds:`,
};
