import { parseName, type GlobNode, type GlobSequence, type GroupNode } from './glob-syntax.ts';

/** Says whether one name of a path matches. */
export type NameMatcher = (name: string) => boolean;

/** As many are tried one by one, each in the quickest way. */
const MAX_VARIANTS = 32;

/** Matches the glob for a single name. Throws INVALID_PARAM for groups that are nested too deeply. */
export function nameMatcher(glob: string): NameMatcher {
  const matchers = plainVariants(parseName(glob)).map(sequenceMatcher);
  const [first] = matchers;
  return first !== undefined && matchers.length === 1
    ? first
    : (name) => matchers.some((matches) => matches(name));
}

/** `*.{ts,tsx}` as `*.ts` and `*.tsx` and, read as text, `*.{ts,tsx}`; what cannot be written out stays as it is. */
function plainVariants(nodes: GlobSequence): readonly GlobSequence[] {
  let variants: readonly GlobSequence[] = [[]];
  for (const node of nodes) {
    const isPlain = node.kind === 'group' && node.mark === '@' && node.alternatives.every(isText);
    const choices = isPlain ? [...node.alternatives, node.asText] : [[node]];
    variants = variants.flatMap((before) => choices.map((choice) => joined(before, choice)));
    if (variants.length > MAX_VARIANTS) return [nodes];
  }
  return variants;
}

function isText(nodes: GlobSequence): boolean {
  return nodes.every(({ kind }) => kind === 'text');
}

function joined(before: GlobSequence, after: GlobSequence): GlobSequence {
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

function sequenceMatcher(nodes: GlobSequence): NameMatcher {
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
 * Follows a pattern through a name as a set of positions, so that no pattern takes more than polynomial
 * time. A regular expression made of the same glob could run for hours.
 */
class NameMatch {
  readonly #name: string;
  /** Where a group may end, by where it begins: without this, nested negations multiply. */
  readonly #known = new Map<GroupNode, Map<number, readonly number[]>>();

  constructor(name: string) {
    this.#name = name;
  }

  /** The positions behind a sequence that begins at one of `starts`. */
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
        return this.#behind(node.text, starts);
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
        return union(characters, this.#behind(node.text, starts));
      }
      case 'group':
        return union(this.#behindGroup(node, starts), this.follow(node.asText, starts));
    }
  }

  #behind(text: string, starts: readonly number[]): readonly number[] {
    return starts.flatMap((at) => (this.#name.startsWith(text, at) ? [at + text.length] : []));
  }

  #behindGroup(group: GroupNode, starts: readonly number[]): readonly number[] {
    switch (group.mark) {
      case '@':
        return this.#behindOne(group, starts);
      case '?':
        return union(starts, this.#behindOne(group, starts));
      case '+':
        return this.#repeat(group, this.#behindOne(group, starts));
      case '*':
        return this.#repeat(group, starts);
      case '!':
        return [...new Set(starts.flatMap((at) => this.#notBehind(group, at)))];
    }
  }

  #behindOne(group: GroupNode, starts: readonly number[]): readonly number[] {
    return [...new Set(group.alternatives.flatMap((nodes) => this.follow(nodes, starts)))];
  }

  #repeat(group: GroupNode, starts: readonly number[]): readonly number[] {
    const reached = new Set(starts);
    for (let fresh = starts; fresh.length > 0;) {
      fresh = this.#behindOne(group, fresh).filter((at) => !reached.has(at));
      for (const at of fresh) reached.add(at);
    }
    return [...reached];
  }

  #notBehind(group: GroupNode, at: number): readonly number[] {
    const known = this.#known.get(group) ?? new Map<number, readonly number[]>();
    this.#known.set(group, known);
    const before = known.get(at);
    if (before !== undefined) return before;
    const taken = new Set(this.#behindOne(group, [at]));
    const rest = Array.from({ length: this.#name.length - at + 1 }, (_, index) => at + index);
    const found = rest.filter((each) => !taken.has(each));
    known.set(at, found);
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
