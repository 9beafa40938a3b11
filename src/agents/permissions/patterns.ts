/** What the patterns of a permission are matched with. */
export type PatternKind = 'command' | 'path' | 'url' | 'name' | 'other';

/**
 * A vendor's pattern, in which `*` stands for any text and `?` for any character, `/` among them, in
 * the specifiers of permission rules: together they mean all that it means, and maybe more. Undefined:
 * no specifier does. For rules that ask or deny alone.
 */
export function specifiersOf(pattern: string, kind: PatternKind): readonly string[] | undefined {
  switch (kind) {
    case 'command':
      return [commandSpecifier(pattern)];
    case 'path':
      return pathSpecifiers(pattern);
    case 'url': {
      const host = /^https?:\/\/([\w-]+(?:\.[\w-]+)*)(?:[/:]|$)/i.exec(pattern)?.[1];
      return host === undefined ? undefined : [`domain:${host}`];
    }
    case 'name':
      return [oneStar(pattern.replaceAll(/[?()\\]/g, '*').trim())];
    case 'other':
      return undefined;
  }
}

/** Words that a shell takes as they stand. */
const PLAIN_COMMAND = /^[\w ./:@%+,*-]*$/;

/** The vendor matches a command's text, rules match its words: what is no plain word is looked for in the line. */
function commandSpecifier(pattern: string): string {
  const glob = oneStar(
    pattern
      .replace(/^~/, '*')
      .replaceAll('?', '*')
      .replaceAll(/\s{2,}/g, '*')
      .trim(),
  );
  if (!PLAIN_COMMAND.test(glob)) return oneStar(`*${glob.replaceAll(/[()\\\s]+/g, '*')}*`);
  const head = /^(.*) \*$/.exec(glob)?.[1];
  // With more behind it or without: `git push *` means both here, too, but not beside another star.
  if (head !== undefined) return head.includes('*') ? `${head}*` : glob;
  return glob.replace(/:\*$/, '*');
}

/**
 * A rule's `*` stops at a `/`, a vendor's does not; and what it is relative to there may lie above the
 * workspace, so that it may begin anywhere.
 */
function pathSpecifiers(pattern: string): readonly string[] | undefined {
  const path = pattern
    .trim()
    .replace(/^\.\//, '')
    .replaceAll(/[?()[\]{}\\!#\s]/g, '*')
    .replaceAll(/\*+/g, '*')
    .replaceAll(/\*(?:\/\*)+/g, '*');
  if (path.split('/').includes('..') || /^[*/~]*$/.test(path)) return undefined;
  const { anchor, rest } = anchored(path);
  const stars = rest.split('*').length - 1;
  if (stars === 0) return [anchor + rest];
  if (stars > 1) return containing(rest);
  const [before = '', after = ''] = rest.split('*');
  if (after === '') return [`${anchor}${before}*`];
  if (before === '') return [`${anchor.replace(/\*\*\/$/, '')}**/*${after}`];
  if (before.endsWith('/')) return [`${anchor}${before}**/*${after}`];
  return [`${anchor}${before}*${after}`, `${anchor}${before}*/**/*${after}`];
}

function anchored(path: string): { readonly anchor: string; readonly rest: string } {
  const inHome = /^(?:~|\$HOME)\/(.*)$/.exec(path)?.[1];
  if (inHome !== undefined) return { anchor: '~/', rest: inHome };
  return path.startsWith('/')
    ? { anchor: '//', rest: path.slice(1) }
    : { anchor: '//**/', rest: path };
}

/** Every path in which the longest piece without a wildcard stands. */
function containing(path: string): readonly string[] | undefined {
  const pieces = path.split(/[*/]/).toSorted((a, b) => b.length - a.length);
  const [longest = ''] = pieces;
  return longest === '' ? undefined : [`//**/*${longest}*`];
}

function oneStar(pattern: string): string {
  return pattern.replaceAll(/\*+/g, '*');
}
