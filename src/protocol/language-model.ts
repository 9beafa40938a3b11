/**
 * A model object of the AI SDK: version 5 (`v2`), 6 (`v3`) or 7 (`v4`) of the package `ai` and of its provider packages. The
 * types of these packages are not needed.
 */
export interface LanguageModelObject {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  /** The provider, such as `anthropic.messages`. */
  readonly provider: string;
  /** The id of the model, such as `claude-sonnet-4-5`. */
  readonly modelId: string;
  /** Sends a request. The options differ in each version. Resolves to the stream of the parts of the answer. */
  doStream(options: never): PromiseLike<{ readonly stream: object }>;
}

/** Tells whether a value is a model object of the AI SDK. */
export function isLanguageModel(value: object): value is LanguageModelObject {
  return 'specificationVersion' in value && 'doStream' in value && 'modelId' in value;
}
