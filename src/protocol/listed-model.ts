import type { TokenPrices } from './model.ts';

/** The facts about a model that the list of its provider states. A fact is null if the list does not state it. */
export interface ListedModel {
  readonly id: string;
  /**
   * The context window in tokens. For a model that a local server has loaded, it is the window with which the model
   * runs; otherwise it is the largest one that the model can have.
   */
  readonly contextWindow: number | null;
  /** The maximum number of output tokens. */
  readonly outputLimit: number | null;
  readonly price: TokenPrices | null;
  /** True if the model answers conversations, and is not for embeddings, images or speech. */
  readonly chat: boolean | null;
  /** True if the model can call tools. */
  readonly tools: boolean | null;
  /** True if the model accepts images. */
  readonly images: boolean | null;
  /** True if the model accepts PDF documents. */
  readonly pdf: boolean | null;
  /** True if the model can think before it answers. */
  readonly reasoning: boolean | null;
  /** The efforts of its reasoning, in the words of the provider. */
  readonly efforts: readonly string[] | null;
  /** True if a local server has the model in its memory. */
  readonly loaded: boolean | null;
}

/** A listed model of which only the id is known. */
export function unknownModel(id: string): ListedModel {
  return { id, ...NO_FACTS };
}

const NO_FACTS: Omit<ListedModel, 'id'> = {
  contextWindow: null,
  outputLimit: null,
  price: null,
  chat: null,
  tools: null,
  images: null,
  pdf: null,
  reasoning: null,
  efforts: null,
  loaded: null,
};

/** Returns true if nothing but the id of a model is known. */
export function hasNoFacts(model: ListedModel): boolean {
  return Object.entries(model).every(([name, fact]) => name === 'id' || fact === null);
}

/** Adds the facts of another list to a model. The first list that states a fact counts. */
export function mergeFacts(first: ListedModel, second: ListedModel): ListedModel {
  return {
    id: first.id,
    contextWindow: first.contextWindow ?? second.contextWindow,
    outputLimit: first.outputLimit ?? second.outputLimit,
    price: first.price ?? second.price,
    chat: first.chat ?? second.chat,
    tools: first.tools ?? second.tools,
    images: first.images ?? second.images,
    pdf: first.pdf ?? second.pdf,
    reasoning: first.reasoning ?? second.reasoning,
    efforts: first.efforts ?? second.efforts,
    loaded: first.loaded ?? second.loaded,
  };
}

/** Matches the ids of models for embeddings, ranking, images, speech and moderation. */
const OTHER_IDS =
  /embed|rerank|moderation|whisper|transcri|realtime|\b(?:bge|tts|dall-e|gpt-image|imagen|veo|sora|guard)\b/i;

/** Returns true if a model is for conversations, by what is listed or else by its id. */
export function isForChat({ chat, id }: ListedModel): boolean {
  return chat ?? !OTHER_IDS.test(id);
}
