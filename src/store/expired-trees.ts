/** When something last happened to a task. */
export interface TaskAge {
  readonly id: string;
  readonly root: string;
  /** Milliseconds since the epoch: its end or its newest write; Infinity while somebody has it. */
  readonly newest: number;
}

export interface Tree {
  readonly ids: readonly string[];
  /** That of its newest task. */
  readonly newest: number;
}

/** Tasks by tree, the tree that was quiet for longest first. */
export function treesOf(ages: readonly TaskAge[]): readonly Tree[] {
  const trees = new Map<string, { ids: string[]; newest: number }>();
  for (const { id, root, newest } of ages) {
    const tree = trees.get(root);
    if (tree === undefined) {
      trees.set(root, { ids: [id], newest });
    } else {
      tree.ids.push(id);
      tree.newest = Math.max(tree.newest, newest);
    }
  }
  return [...trees.values()].toSorted((a, b) => a.newest - b.newest);
}

/** The expired trees, as many as have at most `most` tasks together; the first one in any case. */
export function expiredTrees(
  trees: readonly Tree[],
  options: { readonly endedBefore: number; readonly most: number },
): readonly Tree[] {
  const expired: Tree[] = [];
  let room = options.most;
  for (const tree of trees) {
    if (tree.newest >= options.endedBefore) break;
    if (expired.length > 0 && tree.ids.length > room) break;
    room -= tree.ids.length;
    expired.push(tree);
    if (room <= 0) break;
  }
  return expired;
}
