/** A path that git lists, with its two letters (git-status(1), "Short Format"). */
export interface ChangedPath {
  /** Of the index and of the working tree: ` M`, `A `, `??`. */
  readonly code: string;
  /** From the top of the repository. */
  readonly path: string;
  /** Where it was before it was renamed or copied. */
  readonly from?: string;
}

export interface GitStatus {
  /** As git says it: `main...origin/main [ahead 1]`, `HEAD (no branch)`, `No commits yet on main`. */
  readonly branch: string;
  readonly changes: readonly ChangedPath[];
}

/** What `git status --porcelain=v1 --branch -z` wrote; null: it did not come to its end. */
export function parseGitStatus(output: string): GitStatus | null {
  if (!output.startsWith('## ') || !output.endsWith('\0')) return null;
  const [head = '', ...entries] = output.slice(0, -1).split('\0');
  const changes: ChangedPath[] = [];
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] ?? '';
    const code = entry.slice(0, 2);
    const changed = { code, path: entry.slice(3) };
    if (!/[RC]/.test(code)) {
      changes.push(changed);
      continue;
    }
    at += 1;
    changes.push({ ...changed, from: entries[at] ?? '' });
  }
  return { branch: head.slice(3), changes };
}
