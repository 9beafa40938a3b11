import { parseName, type GlobNode, type GlobSequence, type GroupNode } from './glob-syntax.ts';

/** Returns whether one name of a path matches. */
export type NameMatcher = (name: string) => boolean;

/**
 * The maximum number of variants to which the groups of a glob are expanded. Matching the variants one by one is faster
 * than following the groups.
 */
const MAX_VARIANTS = 32;

/** Creates a matcher for the glob of a single name. Throws INVALID_PARAM for groups that are nested too deeply. */
export function createNameMatcher(glob: string): NameMatcher {
  const matchers = expandGroups(parseName(glob)).map(createSequenceMatcher);
  const [first] = matchers;
  return first !== undefined && matchers.length === 1
    ? first
    : (name) => matchers.some((matches) => matches(name));
}

/**
 * Expands the groups of a glob: `*.{ts,tsx}` becomes `*.ts`, `*.tsx` and, with its braces as text, `*.{ts,tsx}`. Only
 * groups with the mark `@` and plain alternatives are expanded. A glob with too many variants is returned unchanged.
 */
function expandGroups(nodes: GlobSequence): readonly GlobSequence[] {
  let variants: readonly GlobSequence[] = [[]];
  for (const node of nodes) {
    const isPlain = node.kind === 'group' && node.mark === '@' && node.alternatives.every(isText);
    const choices = isPlain ? [...node.alternatives, node.asText] : [[node]];
    variants = variants.flatMap((before) => choices.map((choice) => joinSequences(before, choice)));
    if (variants.length > MAX_VARIANTS) return [nodes];
  }
  return variants;
}

function isText(nodes: GlobSequence): boolean {
  return nodes.every(({ kind }) => kind === 'text');
}

function joinSequences(before: GlobSequence, after: GlobSequence): GlobSequence {
  const all: GlobNode[] = [...before];
  for (const node of after) {
    const last = all.at(-1);
    if (last?.kind === 'text' && node.kind === 'text') {
      all[all.length - 1] = { kind: 'text', text: last.text + node.text };
    } else {
      all.push(node);
    }
  }
  return all;
}

function createSequenceMatcher(nodes: GlobSequence): NameMatcher {
  const [first, second, third] = nodes;
  if (first === undefined) return (name) => name === '';
  if (first.kind === 'text' && second === undefined) return (name) => name === first.text;
  if (first.kind === 'star') {
    if (second === undefined) return () => true;
    if (second.kind === 'text' && nodes.length === 2) return (name) => name.endsWith(second.text);
    if (second.kind === 'text' && third?.kind === 'star' && nodes.length === 3) {
      return (name) => name.includes(second.text);
    }
  }
  const last = nodes.at(-1);
  const head = first.kind === 'text' ? first.text : '';
  const tail = last?.kind === 'text' ? last.text : '';
  return (name) =>
    name.startsWith(head) &&
    name.endsWith(tail) &&
    new NameMatch(name).follow(nodes, [0]).includes(name.length);
}

/**
 * Matches a pattern against a name by following all possible positions at once, so that every pattern takes polynomial
 * time. A regular expression for the same glob could run for hours.
 */
class NameMatch {
  readonly #name: string;
  /**
   * The possible ends of each negated group, by its start. Without this cache, nested negations would take exponential
   * time.
   */
  readonly #negationCache = new Map<GroupNode, Map<number, readonly number[]>>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the positions at which a sequence can end if it begins at one of `starts`. */
  follow(nodes: GlobSequence, starts: readonly number[]): readonly number[] {
    let at = starts;
    for (const node of nodes) {
      if (at.length === 0) return at;
      at = this.#step(node, at);
    }
    return at;
  }

  #step(node: GlobNode, starts: readonly number[]): readonly number[] {
    const name = this.#name;
    switch (node.kind) {
      case 'text':
        return this.#textEnds(node.text, starts);
      case 'one':
        return starts
          .filter((at) => at < name.length)
          .map((at) => at + characterAt(name, at).length);
      case 'star': {
        const first = Math.min(...starts);
        return Array.from({ length: name.length - first + 1 }, (_, index) => first + index);
      }
      case 'class': {
        const characters = starts.flatMap((at) => {
          const character = characterAt(name, at);
          return character !== '' && node.has(character) ? [at + character.length] : [];
        });
        return union(characters, this.#textEnds(node.text, starts));
      }
      case 'group':
        return union(this.#groupEnds(node, starts), this.follow(node.asText, starts));
    }
  }

  #textEnds(text: string, starts: readonly number[]): readonly number[] {
    return starts.flatMap((at) => (this.#name.startsWith(text, at) ? [at + text.length] : []));
  }

  #groupEnds(group: GroupNode, starts: readonly number[]): readonly number[] {
    switch (group.mark) {
      case '@':
        return this.#alternativeEnds(group, starts);
      case '?':
        return union(starts, this.#alternativeEnds(group, starts));
      case '+':
        return this.#repeat(group, this.#alternativeEnds(group, starts));
      case '*':
        return this.#repeat(group, starts);
      case '!':
        return [...new Set(starts.flatMap((at) => this.#negationEnds(group, at)))];
    }
  }

  #alternativeEnds(group: GroupNode, starts: readonly number[]): readonly number[] {
    return [...new Set(group.alternatives.flatMap((nodes) => this.follow(nodes, starts)))];
  }

  #repeat(group: GroupNode, starts: readonly number[]): readonly number[] {
    const reached = new Set(starts);
    for (let newPositions = starts; newPositions.length > 0;) {
      newPositions = this.#alternativeEnds(group, newPositions).filter((at) => !reached.has(at));
      for (const at of newPositions) reached.add(at);
    }
    return [...reached];
  }

  #negationEnds(group: GroupNode, at: number): readonly number[] {
    const endsByStart = this.#negationCache.get(group) ?? new Map<number, readonly number[]>();
    this.#negationCache.set(group, endsByStart);
    const before = endsByStart.get(at);
    if (before !== undefined) return before;
    const matched = new Set(this.#alternativeEnds(group, [at]));
    const rest = Array.from({ length: this.#name.length - at + 1 }, (_, index) => at + index);
    const found = rest.filter((each) => !matched.has(each));
    endsByStart.set(at, found);
    return found;
  }
}

function union(a: readonly number[], b: readonly number[]): readonly number[] {
  if (b.length === 0) return a;
  return a.length === 0 ? b : [...new Set([...a, ...b])];
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}
