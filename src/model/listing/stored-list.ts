import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { unknownModel, type ListedModel } from '../../protocol/listed-model.ts';
import type { TokenPrices } from '../../protocol/model.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { MAX_MODELS } from './read-list.ts';
import { toPlainText, toTokens } from './read-model.ts';

/** A list as it was stored. */
export interface StoredList {
  readonly baseUrl: string;
  /** A short hash of the account: see `hashAccount`. */
  readonly account: string;
  /** The time at which the provider was asked, in milliseconds since the epoch. */
  readonly askedAt: number;
  readonly models: readonly ListedModel[];
  /** True if the provider has more models than these. */
  readonly isCut: boolean;
}

/** The lists of all providers, which all processes share. Methods throw MusterError. */
export interface ListStore {
  all(): readonly StoredList[];
  /** Adds lists, which replace earlier ones of the same address and account. */
  save(lists: readonly StoredList[]): void;
}

type Account = Pick<ConfiguredProvider, 'baseUrl' | 'apiKey' | 'keySource' | 'query'>;

/**
 * Returns a hash that tells apart the accounts of a provider, since each may have other models. It has only 32 bits,
 * from which a key cannot be computed. A key that is read late counts by its source, which stays the same when
 * the key is replaced.
 */
export function hashAccount({ apiKey, keySource, query }: Account): string {
  const account = JSON.stringify([keySource ?? apiKey, query ?? null]);
  return createHash('sha256').update(account).digest('hex').slice(0, 8);
}

/** Finds the stored list of a provider; undefined: there is none. */
export function findStoredList(
  lists: readonly StoredList[],
  provider: Account,
): StoredList | undefined {
  const account = hashAccount(provider);
  return lists.find((list) => list.baseUrl === provider.baseUrl && list.account === account);
}

/** The age from which a provider is asked again. */
const DAY_MS = 86_400_000;

/** Returns true if a list is less than a day old. A list from the future was stored before the clock was set back. */
export function isNew({ askedAt }: Pick<StoredList, 'askedAt'>, now: number): boolean {
  return askedAt <= now && now - askedAt < DAY_MS;
}

/** Converts a list to JSON, without the facts that are not known. */
export function toStoredJson({ askedAt, models, isCut, ...list }: StoredList): JsonObject {
  return {
    ...list,
    askedAt: new Date(askedAt).toISOString(),
    ...(isCut && { isCut }),
    models: models.map((model) =>
      Object.fromEntries(Object.entries(model).filter(([, fact]) => fact !== null)),
    ),
  };
}

/** Reads a list from a file. Returns undefined for a value that is none; wrong facts are ignored. */
export function readStoredList(value: unknown): StoredList | undefined {
  if (!isJsonObject(value)) return undefined;
  const { baseUrl, account, askedAt, models, isCut } = value;
  const time = typeof askedAt === 'string' ? Date.parse(askedAt) : Number.NaN;
  if (
    typeof baseUrl !== 'string' ||
    typeof account !== 'string' ||
    Number.isNaN(time) ||
    !Array.isArray(models)
  ) {
    return undefined;
  }
  const rows = models.slice(0, MAX_MODELS).flatMap((model: unknown) => readStoredModel(model));
  return { baseUrl, account, askedAt: time, models: rows, isCut: isCut === true };
}

const MAX_TEXT_LENGTH = 200;

function readStoredModel(value: unknown): readonly ListedModel[] {
  if (!isJsonObject(value) || typeof value['id'] !== 'string') return [];
  const id = toPlainText(value['id'], MAX_TEXT_LENGTH);
  if (id === null) return [];
  const flag = (fact: unknown): boolean | null => (typeof fact === 'boolean' ? fact : null);
  return [
    {
      ...unknownModel(id),
      contextWindow: toTokens(value['contextWindow']),
      outputLimit: toTokens(value['outputLimit']),
      price: readStoredPrice(value['price']),
      chat: flag(value['chat']),
      tools: flag(value['tools']),
      images: flag(value['images']),
      pdf: flag(value['pdf']),
      reasoning: flag(value['reasoning']),
      efforts: readStoredEfforts(value['efforts']),
      loaded: flag(value['loaded']),
    },
  ];
}

function readStoredPrice(value: unknown): TokenPrices | null {
  if (!isJsonObject(value)) return null;
  const { input, output, cacheRead, cacheWrite } = value;
  const isPrice = (rate: unknown): rate is number => typeof rate === 'number' && rate >= 0;
  if (!isPrice(input) || !isPrice(output) || !isPrice(cacheRead) || !isPrice(cacheWrite)) {
    return null;
  }
  return { input, output, cacheRead, cacheWrite };
}

function readStoredEfforts(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  const efforts = value.flatMap((effort: unknown) => {
    const plain = typeof effort === 'string' ? toPlainText(effort, MAX_TEXT_LENGTH) : null;
    return plain === null ? [] : [plain];
  });
  return efforts.length === 0 ? null : efforts;
}
