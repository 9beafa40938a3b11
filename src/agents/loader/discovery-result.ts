import type { AgentProblem } from '../../protocol/agent.ts';
import type { DefinitionKind, FileDefinitions } from './format.ts';
import type { SkippedPath } from './walk.ts';

/** The result of a search for definitions of one kind. */
export interface DiscoveryResult<T> {
  /** The definitions that are used, in order of precedence. No two of them have the same name, even ignoring case. */
  readonly items: readonly T[];
  readonly shadowed: readonly ShadowedDefinition<T>[];
  /**
   * The files that are not used, with the reasons. The code is `untrusted` for a project's file that the user has not
   * trusted, and `changed` for a file that has changed since the user trusted it.
   */
  readonly skipped: readonly SkippedPath[];
  /** The problems of files that were meant as definitions but cannot be loaded. These files are in `skipped`, too. */
  readonly problems: readonly AgentProblem[];
}

/** A definition that is not used, because another definition with the same name has precedence. */
export interface ShadowedDefinition<T> {
  readonly item: T;
  /** The path of the definition that is used. */
  readonly by: string;
}

/** The codes of files that were not meant as definitions to use. They are skipped without a problem. */
const HARMLESS_CODES: ReadonlySet<string> = new Set(['not-an-agent', 'disabled']);
/** The codes of project files that the user has not trusted, or not with their present content. */
export const UNTRUSTED: ReadonlySet<string> = new Set(['untrusted', 'changed']);

/** Collects the definitions and problems of the files of a search. */
export class DefinitionCollector<T extends { readonly name: string }> {
  readonly items: T[] = [];
  readonly #kind: DefinitionKind<T>;
  readonly #skipped: SkippedPath[] = [];
  readonly #problems: AgentProblem[] = [];
  /**
   * The paths that were reported as untrusted. A file can be read several times: for its own definition, and because
   * other definitions refer to it.
   */
  readonly #untrusted = new Set<string>();

  constructor(kind: DefinitionKind<T>) {
    this.#kind = kind;
  }

  add(path: string, { items, problems }: FileDefinitions<T>): void {
    this.items.push(...items);
    const [first] = problems;
    for (const problem of problems) {
      const { code, message } = problem;
      if (code === 'disabled' || (items.length === 0 && problem === first)) {
        this.#skipped.push({ path, code, reason: message });
      }
      if (!HARMLESS_CODES.has(code)) this.#problems.push(problem);
    }
  }

  skip(...skipped: readonly SkippedPath[]): void {
    this.#skipped.push(...skipped);
  }

  skipUntrusted(skipped: SkippedPath): void {
    if (this.#untrusted.has(skipped.path)) return;
    this.#untrusted.add(skipped.path);
    this.skip(skipped);
  }

  /** Returns the result. The first definition with a name shadows later definitions with this name. */
  result(items: readonly T[] = this.items): DiscoveryResult<T> {
    const { pathOf, givesWay = () => false } = this.#kind;
    const used = new Map<string, T>();
    const shadowed: ShadowedDefinition<T>[] = [];
    for (const item of items.toSorted((a, b) => Number(givesWay(a)) - Number(givesWay(b)))) {
      const key = item.name.toLowerCase();
      const first = used.get(key);
      if (first === undefined) used.set(key, item);
      else shadowed.push({ item, by: pathOf(first) });
    }
    const skipped = this.#skipped;
    return { items: [...used.values()], shadowed, skipped, problems: this.#problems };
  }

  /** Returns the result with all definitions, even those with the same name. */
  resultWithoutShadowing(): DiscoveryResult<T> {
    const { items } = this;
    return { items, shadowed: [], skipped: this.#skipped, problems: this.#problems };
  }
}

/** The fields that a listing adds to a definition. */
export interface ListingState {
  /** The paths of the definitions with the same name that this one shadows. */
  readonly shadows: readonly string[];
  /** The path of the definition that shadows this one, or null if this one is used. */
  readonly shadowedBy: string | null;
}

/** Describes all definitions of a result, the shadowed ones last. */
export function listDefinitions<T extends { readonly name: string }, D>(
  { items, shadowed }: Pick<DiscoveryResult<T>, 'items' | 'shadowed'>,
  pathOf: (item: T) => string,
  describe: (item: T) => D,
): readonly (D & ListingState)[] {
  const byName = Map.groupBy(shadowed, ({ item }) => item.name.toLowerCase());
  return [
    ...items.map((item) => ({
      ...describe(item),
      shadows: (byName.get(item.name.toLowerCase()) ?? []).map((each) => pathOf(each.item)),
      shadowedBy: null,
    })),
    ...shadowed.map(({ item, by }) => ({ ...describe(item), shadows: [], shadowedBy: by })),
  ];
}
