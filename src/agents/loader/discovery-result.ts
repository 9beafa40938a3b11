import type { AgentProblem } from '../../protocol/agent.ts';
import type { DefinitionKind, FileDefinitions } from './format.ts';
import type { SkippedPath } from './walk.ts';

/** The result of a search for definitions of one kind. */
export interface DiscoveryResult<T> {
  /** In order of precedence. No two of them have the same name, case ignored. */
  readonly items: readonly T[];
  readonly shadowed: readonly ShadowedDefinition<T>[];
  /**
   * Files that hold no definition, and the reasons. Code `untrusted`: a file of the project that the user has
   * not trusted; `changed`: one that has changed since the user trusted it.
   */
  readonly skipped: readonly SkippedPath[];
  /** Files that were meant as definitions and cannot be loaded. They are in `skipped`, too. */
  readonly problems: readonly AgentProblem[];
}

/** A definition that is not used, because another one of the same name has precedence. */
export interface ShadowedDefinition<T> {
  readonly item: T;
  /** The path of the one that is used. */
  readonly by: string;
}

/** Codes of files that nobody meant as a definition to use. They are skipped, and no problem. */
const NO_PROBLEM: ReadonlySet<string> = new Set(['not-an-agent', 'disabled']);
/** Codes of project files that the user has not trusted, or not with their present content. */
export const UNTRUSTED: ReadonlySet<string> = new Set(['untrusted', 'changed']);

/** Collects what the files of a search hold. */
export class DefinitionCollector<T extends { readonly name: string }> {
  readonly items: T[] = [];
  readonly #kind: DefinitionKind<T>;
  readonly #skipped: SkippedPath[] = [];
  readonly #problems: AgentProblem[] = [];
  /** Paths that were reported as untrusted: a file may hold a definition, and be referred to by others. */
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
      if (!NO_PROBLEM.has(code)) this.#problems.push(problem);
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

  /** The first definition of a name shadows the later ones. */
  result(items: readonly T[] = this.items): DiscoveryResult<T> {
    const { pathOf, givesWay: yields = () => false } = this.#kind;
    const used = new Map<string, T>();
    const shadowed: ShadowedDefinition<T>[] = [];
    for (const item of items.toSorted((a, b) => Number(yields(a)) - Number(yields(b)))) {
      const key = item.name.toLowerCase();
      const first = used.get(key);
      if (first === undefined) used.set(key, item);
      else shadowed.push({ item, by: pathOf(first) });
    }
    const skipped = this.#skipped;
    return { items: [...used.values()], shadowed, skipped, problems: this.#problems };
  }

  /** All definitions, also those of the same name. */
  resultWithoutShadowing(): DiscoveryResult<T> {
    const { items } = this;
    return { items, shadowed: [], skipped: this.#skipped, problems: this.#problems };
  }
}

/** The fields that a listing adds to a definition. */
export interface ListingState {
  /** The paths of the definitions of the same name that it shadows. */
  readonly shadows: readonly string[];
  /** The path of the definition that shadows it, or null where it is used itself. */
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
