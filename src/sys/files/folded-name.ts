/** Code points that some file systems ignore in names. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const PLAIN = /^[\x21-\x7e]*$/;
/** Characters that some file systems drop at the end of a name. */
const DROPPED_AT_THE_END = '. ';

/**
 * Returns a name in the form in which the most tolerant file system compares it: without differences in case,
 * width and composition, invisible characters, and the characters dropped at its end (CVE-2025-59944 and
 * similar).
 */
export function foldFileName(name: string): string {
  const folded = PLAIN.test(name)
    ? name.toLowerCase()
    : name.normalize('NFKC').replace(IGNORED, '').toUpperCase().toLowerCase();
  let end = folded.length;
  while (end > 0 && DROPPED_AT_THE_END.includes(folded.charAt(end - 1))) end -= 1;
  return folded.slice(0, end);
}

/** The 8.3 name that Windows file systems (also below WSL) give to a long name: `GIT~1`, `MCP~1.JSO`. */
const SHORT_NAME = /^([^.~]{1,6})~\d+(?:\.([^.]{0,3}))?$/;

/** Tells whether a folded name may be the short form of another folded name. */
export function mayBeShortNameOf(name: string, long: string): boolean {
  const match = SHORT_NAME.exec(name);
  if (match === null) return false;
  const parts = long.split('.').filter((part) => part !== '');
  const extension = parts.length > 1 ? parts.pop() : undefined;
  return (
    parts.join('').startsWith(match[1] ?? '') && (match[2] ?? '') === (extension ?? '').slice(0, 3)
  );
}
