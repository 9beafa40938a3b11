/** A path in the output of git status, with its two-letter code (git-status(1), "Short Format"). */
export interface ChangedPath {
  /** One character for the index and one for the working tree: ` M`, `A `, `??`. */
  readonly code: string;
  /** The path from the top of the repository. */
  readonly path: string;
  /** The path before a rename or copy. */
  readonly from?: string;
}

/** The branch and the changes of a working tree. */
export interface GitStatus {
  /** The branch line of git: `main...origin/main [ahead 1]`, `HEAD (no branch)`, `No commits yet on main`. */
  readonly branch: string;
  readonly changes: readonly ChangedPath[];
}

/** Parses the output of `git status --porcelain=v1 --branch -z`; null if it is incomplete. */
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
