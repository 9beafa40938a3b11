import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { JsonObject } from '../../base/json.ts';
import type { Message } from '../../protocol/message.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import type { AdjustmentName } from '../settings/model-settings.ts';
import type { CreateReader } from './answers/reader.ts';
import type { KeyHeader } from '../providers/provider-key.ts';

/** The address and key of a provider. */
export interface Endpoint {
  /** The configured provider's name, for messages. */
  readonly name: string;
  /** The base URL, with the version segment and without a slash at the end. */
  readonly baseUrl: string;
  /** The key that is sent; null: none. */
  readonly apiKey: string | null;
  /** The base URL that is tried once if the server has no API under the first one. Default: there is no other. */
  readonly otherBaseUrl?: string;
  /** The query string that is appended to the address of every request. Default: none. */
  readonly query?: string;
  /** The environment variable that holds the key. Default: it is not known, or there is no key. */
  readonly keyFrom?: string;
  /** The header in which the key is sent. Default: the one that the provider package uses. */
  readonly keyHeader?: KeyHeader;
  /** The adjustments that are made from the first request on. Default: none. */
  readonly omit?: readonly AdjustmentName[];
}

/** The options of the prompt conversion that depend on the protocol. */
export interface PromptRules {
  /** The key of the provider package's metadata on a part. */
  readonly metaKey: string;
  /**
   * The key under which the metadata of a call is given to the package, if the package would copy the metadata
   * under `metaKey` into the request. Default: `metaKey`.
   */
  readonly callMetaKey?: string;
  /** True to send one system message, because chat templates of local models accept no second one. */
  readonly joinSystem: boolean;
  /** True to send back reasoning without metadata of the provider too. */
  readonly plainReasoning: boolean;
  /** The marker at the end of each prefix that should be cached; null: the provider needs none. */
  readonly cacheMarker: SharedV4ProviderOptions | null;
  /** True if results of calls may contain images and documents. Otherwise these follow in a user message. */
  readonly filesInResults: boolean;
  /** Matches the call ids that the API accepts. Other ids are replaced by ids derived from them. */
  readonly acceptedIds: RegExp;
  /** True if the calls of an answer must be its last parts. */
  readonly callsLast?: true;
  /** True if an empty text is sent back when it has a signature. */
  readonly signsBlankText?: true;
  /** The metadata field without which the server does not recognize its reasoning. Default: none is needed. */
  readonly reasoningContentKey?: string;
  /** The signature that is sent for calls that another model made. Default: they are sent without one. */
  readonly missingSignature?: string;
  /** The value of `strict` for every tool. Default: it is not sent. */
  readonly strictTools?: boolean;
  /** The options of the provider package for every tool. Default: none. */
  readonly toolOptions?: JsonObject;
}

/** One wire protocol: the provider package that builds its requests, and the reader of its answers. */
export interface ProtocolAdapter {
  readonly rules: PromptRules;
  /** Returns the rules of a server for one of its models, if they can differ. Default: `rules` always hold. */
  rulesOf?(endpoint: Endpoint, modelId: string): PromptRules;
  /** The headers of the package that are not sent. Default: all are sent. */
  readonly dropHeaders?: readonly string[];
  languageModel(
    modelId: string,
    endpoint: Endpoint,
    fetch: typeof globalThis.fetch,
  ): LanguageModelV4;
  readonly createReader: CreateReader;
  /** Returns the options of the provider package for a request. Default: none. */
  providerOptions?(request: ModelRequest): SharedV4ProviderOptions;
  /**
   * Returns the history in a form in which the package also sends thoughts without a signature, for servers that
   * require them. Default: the package sends them anyway, or the protocol has none.
   */
  signUnsignedThinking?(messages: readonly Message[]): readonly Message[];
  /** Returns the limit in tokens for requests that name none. Default: the provider's own limit holds. */
  maxOutputTokens?(modelId: string): number | undefined;
  /**
   * Returns the body with exactly this limit, thinking included. Some packages add a budget for thinking to the
   * limit, or lower it, so that the sent limit would differ from the reserved one. Default: the package keeps it.
   */
  limitOutput?(body: string, maxOutputTokens: number): string;
}
