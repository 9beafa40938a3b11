import type { WireProtocol } from './wire-request.ts';

/** The base URLs in the form that the providers' own client packages expect, with the version. */
export interface BaseUrls {
  readonly anthropic: string;
  readonly openai: string;
  readonly google: string;
  readonly compatible: string;
}

export function baseUrlsOf(url: string): BaseUrls {
  const v1 = `${url}/v1`;
  return { anthropic: v1, openai: v1, google: `${url}/v1beta`, compatible: v1 };
}

/** The key that clients send. The server accepts any. */
const API_KEY = 'fake-key';

/**
 * Returns the environment variables with which Muster uses this server in this protocol. `chat` uses the
 * variables of a compatible server and the first of the server's models. For `responses`, the address names the
 * endpoint, since only OpenAI's own server is asked for responses otherwise.
 */
export function environmentFor(
  protocol: WireProtocol,
  { url, model }: { readonly url: string; readonly model: string },
): Record<string, string> {
  const environments: Record<WireProtocol, Record<string, string>> = {
    anthropic: { ANTHROPIC_API_KEY: API_KEY, ANTHROPIC_BASE_URL: url },
    responses: { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: `${url}/v1/responses` },
    chat: { LLM_API_KEY: API_KEY, LLM_BASE_URL: `${url}/v1`, LLM_MODEL_ID: model },
    google: { GEMINI_API_KEY: API_KEY, GOOGLE_GEMINI_BASE_URL: url },
  };
  return environments[protocol];
}
