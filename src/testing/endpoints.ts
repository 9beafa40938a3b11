import type { WireProtocol } from './wire-request.ts';

/** The base URLs in the form that the providers' own client packages expect, with the version. */
export interface BaseUrls {
  /** The base URL for clients of Anthropic, which ends in `/v1`. */
  readonly anthropic: string;
  /** The base URL for clients of OpenAI, which ends in `/v1`. */
  readonly openai: string;
  /** The base URL for clients of Google, which ends in `/v1beta`. */
  readonly google: string;
  /** The base URL for clients of servers with the Chat protocol, which ends in `/v1`. */
  readonly compatible: string;
}

/** Creates the base URLs of all providers. `url`: the address of the server. */
export function createBaseUrls(url: string): BaseUrls {
  const v1 = `${url}/v1`;
  return { anthropic: v1, openai: v1, google: `${url}/v1beta`, compatible: v1 };
}

/** The API key that clients send. The server accepts any key. */
const API_KEY = 'fake-key';

interface ClientSettings {
  readonly url: string;
  readonly model: string;
  /** Default: a key that no provider accepts. */
  readonly apiKey?: string | undefined;
}

/**
 * Returns the environment variables with which Muster uses the fake server with a protocol. `chat` uses the variables for a
 * compatible server. For `responses`, the base URL contains the endpoint, because Muster otherwise uses this protocol only
 * for OpenAI's server.
 */
export function environmentFor(
  protocol: WireProtocol,
  { url, model, apiKey = API_KEY }: ClientSettings,
): Record<string, string> {
  const environments: Record<WireProtocol, Record<string, string>> = {
    anthropic: { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: url },
    responses: { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: `${url}/v1/responses` },
    chat: { LLM_API_KEY: apiKey, LLM_BASE_URL: `${url}/v1`, LLM_MODEL_ID: model },
    google: { GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: url },
  };
  return environments[protocol];
}
