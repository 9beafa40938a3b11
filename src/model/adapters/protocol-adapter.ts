import type {
  LanguageModelV4,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { JsonObject } from '../../base/json.ts';
import type { Message } from '../../protocol/message.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import type { AnswerBuilder } from './answers/answer-builder.ts';
import type { CitedPage, SearchDomains } from '../../protocol/web.ts';
import type { ResponseBody } from '../../sys/http/http-types.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';

/** The properties of a provider that its requests need: the base URLs, the API key, and the adjustments. */
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
  | 'cloud'
>;

/** The content of an answer in the form of the provider packages. */
export type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/** The options of the prompt conversion that depend on the protocol. */
export interface PromptRules {
  /** The key under which the provider package keeps its metadata of a part. */
  readonly metaKey: string;
  /**
   * The key under which the package receives the metadata of a call, if the package would otherwise copy the metadata
   * into the request. Default: `metaKey`.
   */
  readonly callMetaKey?: string;
  /** True to send it system message, because chat templates of local models accept no second it. */
  readonly joinsSystemMessages: boolean;
  /** True to send back reasoning without metadata of the provider too. */
  readonly sendsReasoningWithoutMetadata: boolean;
  /**
   * Returns the fields of a message with the thoughts of an answer, for servers that expect them in other fields than
   * the package writes; null: the package writes them, or there are none. Default: the package writes them.
   */
  thoughtFields?(content: AssistantContent): JsonObject | null;
  /** The marker at the end of each prefix that should be cached; null: the provider needs none. */
  readonly cacheMarker: SharedV4ProviderOptions | null;
  /** True if results of calls may contain images and documents. Otherwise these are sent in a user message afterwards. */
  readonly acceptsFilesInResults: boolean;
  /** Matches the call ids that the API accepts. An id that does not match is replaced by a derived id. */
  readonly acceptedCallIds: RegExp;
  /** True if the calls of an answer must be its last parts. */
  readonly requiresCallsLast?: true;
  /** True to send back a blank text if it has a signature. */
  readonly sendsSignedBlankText?: true;
  /** The metadata field without which the server does not recognize its reasoning. Default: no field is needed. */
  readonly reasoningContentKey?: string;
  /** The signature that is sent for calls of another model. Default: such calls are sent without a signature. */
  readonly substituteSignature?: string;
  /** The value of `strict` for every tool. Default: `strict` is not sent. */
  readonly strictTools?: boolean;
  /** The options of the provider package for every tool. Default: none. */
  readonly toolOptions?: JsonObject;
}

/**
 * Reads the events of one protocol into an answer. A reader accepts every part that arrives complete, ignores unknown
 * parts, and counts each repair. It never throws because of the data: it passes errors that the server reports to
 * `AnswerBuilder.fail`.
 */
export interface AnswerReader {
  /**
   * True while the event that ends every answer of the protocol is missing. If the connection is closed before that
   * event, the answer is incomplete, even if the connection was closed without an error: a proxy does so when the
   * server behind it fails.
   */
  readonly awaitsEnd: boolean;
  /** Takes an event of the stream. `name`: the name in the `event:` line before the event; null: there was no such line. */
  takeEvent(event: JsonObject, name: string | null): void;
  /** Takes a complete response that arrived instead of a stream. Returns false if the response is not an answer. */
  takeDocument(response: JsonObject): boolean;
}

/** The provider's own search of one protocol. */
export interface ProviderSearch {
  /** Builds the fields of a request that let the provider search. */
  buildFields(domains: SearchDomains): JsonObject;
  /** Wraps the reader of an answer, so that it also passes on the pages and the searches that the answer names. */
  collectSources(reader: AnswerReader, collector: SearchCollector): AnswerReader;
}

/** Takes what the answer to a search names. */
export interface SearchCollector {
  addSource(source: CitedPage): void;
  /** @param search a text that differs for each search */
  addSearch(search: string): void;
}

/** One wire protocol: the provider package that builds its requests, and the reader of its answers. */
export interface ProtocolAdapter {
  readonly rules: PromptRules;
  /** Returns the rules for a model of a server. Default: `rules` apply to all models of all servers. */
  selectRules?(endpoint: Endpoint, modelId: string): PromptRules;
  /** The headers of the package that are not sent, in lower case. Default: all headers are sent. */
  readonly omittedHeaders?: readonly string[];
  /** Creates the provider package's model, which builds the requests and passes them to `fetch`. */
  createLanguageModel(
    modelId: string,
    endpoint: Endpoint,
    fetch: typeof globalThis.fetch,
  ): LanguageModelV4;
  createReader(answer: AnswerBuilder): AnswerReader;
  /** Converts the body of an answer to server-sent events. Default: it contains them already. */
  decodeBody?(body: ResponseBody): ResponseBody;
  /** Loads the provider's own search. Default: the protocol has none that several servers agree on. */
  loadSearch?(): Promise<ProviderSearch>;
  /** Returns the options of the provider package for a request. Default: none. */
  createProviderOptions?(request: ModelRequest): SharedV4ProviderOptions;
  /**
   * Returns the messages in a form in which the package also sends thoughts without a signature, for servers that
   * require these thoughts. Default: the package sends them anyway, or the protocol has no signatures.
   */
  signUnsignedThinking?(messages: readonly Message[]): readonly Message[];
  /** Returns the body with what the package leaves out, or writes in another place. Default: nothing is to be done. */
  finishBody?(body: string, request: ModelRequest): string;
  /** Returns the limit in tokens for requests that name none. Default: the provider's own limit holds. */
  findDefaultOutputLimit?(modelId: string): number | undefined;
  /**
   * Returns the body with exactly this output limit, which includes thinking. Some packages add a budget for thinking
   * to the limit, or lower the limit, so that it would differ from the reserved limit. Default: the package does not
   * change the limit.
   */
  setOutputLimit?(body: string, maxOutputTokens: number): string;
}
