import type { WireProtocol } from './wire-request.ts';

/** Base URLs as the providers' own client packages take them, version included. */
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

/** No real key: it only has to be there. */
const API_KEY = 'fake-key';

/**
 * The environment variables that point Muster at the server, and at that protocol of it. `chat`
 * goes by the variables of a compatible server, with the first of the server's models; a server that is not
 * OpenAI's own is asked for responses where its address names them.
 */
export function environmentFor(
  protocol: WireProtocol,
  { url, model }: { readonly url: string; readonly model: string },
): Record<string, string> {
  switch (protocol) {
    case 'anthropic':
      return { ANTHROPIC_API_KEY: API_KEY, ANTHROPIC_BASE_URL: url };
    case 'responses':
      return { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: `${url}/v1/responses` };
    case 'chat':
      return { LLM_API_KEY: API_KEY, LLM_BASE_URL: `${url}/v1`, LLM_MODEL_ID: model };
    case 'google':
      return { GEMINI_API_KEY: API_KEY, GOOGLE_GEMINI_BASE_URL: url };
  }
}
