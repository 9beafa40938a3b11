import type {
  LanguageModelV4,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { JsonObject } from '../../base/json.ts';
import type { Message } from '../../protocol/message.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import type { AnswerBuilder } from './answers/answer-builder.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';

/** The address and key of a provider, with the parts that are left out of its requests from the first one on. */
export type Endpoint = Pick<
  ConfiguredProvider,
  | 'name'
  | 'baseUrl'
  | 'apiKey'
  | 'otherBaseUrl'
  | 'query'
  | 'headers'
  | 'keyFrom'
  | 'keySource'
  | 'keyHeader'
  | 'omit'
  | 'quirks'
>;

/** The content of an answer in the form of the provider packages. */
export type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

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
  /**
   * Returns the fields of a message with the thoughts of an answer, for servers that expect them in other fields than
   * the package writes; null: the package writes them, or there are none. Default: the package writes them.
   */
  thoughtFields?(content: AssistantContent): JsonObject | null;
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

/**
 * Reads the events of one protocol into an answer. It accepts every part that arrives complete, ignores unknown
 * parts, and counts each repair. It never throws because of the data: an error that the server reports is passed to
 * `AnswerBuilder.fail`.
 */
export interface AnswerReader {
  /**
   * True while the event that ends every answer of the protocol is missing. If the connection is closed then, even
   * regularly, the answer is incomplete: a proxy does that when the server behind it fails.
   */
  readonly awaitsEnd: boolean;
  /** Takes an event of the stream. `name`: from the `event:` line before it. */
  takeEvent(event: JsonObject, name: string | null): void;
  /** Takes a complete response that came instead of a stream. Returns false if it is no answer. */
  takeDocument(response: JsonObject): boolean;
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
  createReader(answer: AnswerBuilder): AnswerReader;
  /** Returns the options of the provider package for a request. Default: none. */
  providerOptions?(request: ModelRequest): SharedV4ProviderOptions;
  /**
   * Returns the history in a form in which the package also sends thoughts without a signature, for servers that
   * require them. Default: the package sends them anyway, or the protocol has none.
   */
  signUnsignedThinking?(messages: readonly Message[]): readonly Message[];
  /** Returns the body with what the package leaves out, or writes in another place. Default: nothing is to be done. */
  finishBody?(body: string, request: ModelRequest): string;
  /** Returns the limit in tokens for requests that name none. Default: the provider's own limit holds. */
  maxOutputTokens?(modelId: string): number | undefined;
  /**
   * Returns the body with exactly this limit, thinking included. Some packages add a budget for thinking to the
   * limit, or lower it, so that the sent limit would differ from the reserved one. Default: the package keeps it.
   */
  limitOutput?(body: string, maxOutputTokens: number): string;
}
