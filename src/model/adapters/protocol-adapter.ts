import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { JsonObject } from '../../base/json.ts';
import type { Message } from '../../protocol/message.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import type { AdjustmentName } from '../model-settings.ts';
import type { CreateReader } from './answers/answer-reader.ts';
import type { KeyHeader } from '../providers/provider-key.ts';

/** The address and key of a provider. */
export interface Endpoint {
  /** The configured provider's name, for messages. */
  readonly name: string;
  /** With the version segment, without a slash at the end. */
  readonly baseUrl: string;
  /** The key that is sent; null: none. */
  readonly apiKey: string | null;
  /** The base URL that is tried once if the server has no API under the first one. Absent: there is no other. */
  readonly otherBaseUrl?: string;
  /** The query string that is appended to the address of every request. Absent: none. */
  readonly query?: string;
  /** The environment variable that holds the key. Absent: it is not known, or there is no key. */
  readonly keyFrom?: string;
  /** The header in which the key is sent. Absent: the one that the provider package uses. */
  readonly keyHeader?: KeyHeader;
  /** The adjustments that are made from the first request on. Absent: none. */
  readonly omit?: readonly AdjustmentName[];
}

/** Protocol-specific options of the prompt conversion. */
export interface PromptRules {
  /** The key under which the provider package gives and takes what belongs to a part. */
  readonly metaKey: string;
  /**
   * The key under which the package takes the metadata of a call, where it would copy what stands under
   * `metaKey` into the call of the request. Absent: `metaKey`.
   */
  readonly callMetaKey?: string;
  /** One system message, because chat templates of local models take no second one. */
  readonly joinSystem: boolean;
  /** Reasoning without anything of the provider's on it goes back too. */
  readonly plainReasoning: boolean;
  /** Put on what ends a prefix worth caching; null where the provider needs no markers. */
  readonly cacheMarker: SharedV4ProviderOptions | null;
  /** Results of calls may hold images and documents; else these follow as a message of the user's. */
  readonly filesInResults: boolean;
  /** The form of a call id that the API takes; others are sent as ids derived from them. */
  readonly acceptedIds: RegExp;
  /** Nothing may follow the calls of an answer. */
  readonly callsLast?: true;
  /** A signature on a text without content goes back with that text. */
  readonly signsBlankText?: true;
  /** The metadata without which the server does not know its reasoning again. Absent: none is needed. */
  readonly reasoningContentKey?: string;
  /** Stands for the signature of calls that another model made. Absent: they are sent without one. */
  readonly missingSignature?: string;
  /** Sent with every tool; absent: nothing. */
  readonly strictTools?: boolean;
  /** Put on every tool; absent: nothing. */
  readonly toolOptions?: JsonObject;
}

/** One wire protocol, over the provider package that speaks it. */
export interface ProtocolAdapter {
  readonly rules: PromptRules;
  /** Returns the rules of a server for one of its models, where they can differ. Absent: they are `rules`. */
  rulesOf?(endpoint: Endpoint, modelId: string): PromptRules;
  /** Headers that the package sets and that nothing here needs. */
  readonly dropHeaders: readonly string[];
  languageModel(
    modelId: string,
    endpoint: Endpoint,
    fetch: typeof globalThis.fetch,
  ): LanguageModelV4;
  readonly createReader: CreateReader;
  providerOptions(request: ModelRequest): SharedV4ProviderOptions;
  /**
   * Returns the history in a form of which the package sends thoughts without a signature too, for servers
   * that want them back. Absent: it sends them anyway, or has no such thoughts.
   */
  signUnsignedThinking?(messages: readonly Message[]): readonly Message[];
  /** Tokens, where the request names none; absent: the provider's own limit. */
  maxOutputTokens?(modelId: string): number | undefined;
  /**
   * The body with exactly this limit in it, thinking included: some packages put what a model may think
   * on top of the limit, or lower it to one of their own, and what was reserved would not be what is sent.
   */
  boundOutput?(body: string, maxOutputTokens: number): string;
}
