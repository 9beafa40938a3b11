/** A run of lines that a change touched. */
export interface ChangedPlace {
  /** From 1, as the file is now; where lines were only taken out, the one before them, or 1. */
  readonly line: number;
  readonly added: number;
  readonly removed: number;
  /** The line that git shows beside it: what it stands in; empty where git found none. */
  readonly within: string;
}

export interface ChangedFile {
  readonly path: string;
  readonly places: readonly ChangedPlace[];
}

/**
 * What git says of a change, only its headers: a line of a file begins with a sign or a blank, so none can
 * pass for one. Renamed files show as one that went and one that came. Whatever git is set to, paths are
 * those from the working directory, and only what lies below it counts.
 */
const HEADERS = "| grep -E '^(diff|@@)'";
const DIFF =
  '--no-color --no-ext-diff --no-textconv --no-renames --relative --src-prefix=a/ --dst-prefix=b/ -U0';
export const WORKING_TREE_DIFF = `git diff ${DIFF} HEAD ${HEADERS}`;
/** Numbered, so that nothing else that a call says passes for a path. */
export const UNTRACKED = "git ls-files --others --exclude-standard | grep -n ''";

/** Of a merge: what it brought. `commit`: a name of it that is safe in a shell. */
export function commitDiff(commit: string): string {
  return `git show ${DIFF} -m --first-parent --format=%h ${commit} ${HEADERS}`;
}

const MAX_PATH_CHARS = 1000;
const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** The files of a diff, in its order; a path with control characters is never cited. Pure. */
export function parseChanges(text: string): readonly ChangedFile[] {
  const files: { path: string; places: ChangedPlace[] }[] = [];
  let places: ChangedPlace[] = [];
  for (const line of text.split('\n')) {
    // Where a part was left out, what follows belongs to a file that is not known.
    if (line.startsWith('[…')) places = [];
    if (line.startsWith('diff --git ')) {
      places = [];
      const path = pathOf(line.slice('diff --git '.length));
      if (path !== null) files.push({ path, places });
      continue;
    }
    const hunk = HUNK.exec(line);
    if (hunk === null) continue;
    const [, removed = '1', at = '1', added = '1', within = ''] = hunk;
    places.push({
      line: Math.max(1, Number(at)),
      added: Number(added),
      removed: Number(removed),
      within: within.trim(),
    });
  }
  return files;
}

/** Files that git does not know yet. Pure. */
export function parseUntracked(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [, written] = /^\d+:(.+)$/.exec(line) ?? [];
    const path = written === undefined ? null : unquoted(written);
    return path === null ? [] : [path];
  });
}

/** `a/PATH b/PATH`: without renames the two are the same, so that blanks in them do no harm. */
function pathOf(both: string): string | null {
  const half = (both.length - 1) / 2;
  const [before, after] = [unquoted(both.slice(0, half)), unquoted(both.slice(half + 1))];
  return before?.slice(2) === after?.slice(2) ? (after?.slice(2) ?? null) : null;
}

/** As git writes it: quoted with C's escapes where it has other characters than ASCII's. */
function unquoted(written: string): string | null {
  const inside = /^"(.*)"$/.exec(written)?.[1];
  const bytes = inside?.replace(/\\(\d{3}|.)/g, (_, code: string) =>
    /\d/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : code,
  );
  const path = bytes === undefined ? written : Buffer.from(bytes, 'latin1').toString('utf8');
  const isOdd = path === '' || path.length > MAX_PATH_CHARS || /[\p{Cc}\uFFFD]/u.test(path);
  return isOdd || /\\[abfnrtv]/.test(inside ?? '') ? null : path;
}
