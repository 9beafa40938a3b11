/** `[text](path)`, as far as it is needed. */
const LINK = /\]\(<?([^()\s<>]{1,300})/g;
/** A path in one of the folders that the format has for files of a skill. */
const WORD =
  /(?<![\w./:-])(?:\.\/)?(?:scripts|references?|assets|resources)\/[\w./-]{0,300}\w\.\w{1,20}/g;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:|#|\/|~|\$|\{|<)/i;
/** What may stand in any part of a path that has a value only when the skill is used. */
const PATTERN = /[*{}$<>|]/;
/** More than a person would write into one file. */
const MAX_REFERENCES = 500;

/** A file that a skill's instructions name. */
export interface Reference {
  /** As it stands there, relative to the skill's folder. */
  readonly path: string;
  /** Whether it is a link; a mere word may mean a file of the project as well. */
  readonly isLink: boolean;
}

/** The files of its own folder that a text of a skill names, each once; code blocks are left out. */
export function referencedFiles(body: string): readonly Reference[] {
  const text = withoutCode(body);
  const links = [...text.matchAll(LINK)]
    .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
    // An example of a link (`[name](url)`) is no reference: a file has an extension or a folder.
    .filter((path) => /[./]/.test(path) && !ADDRESS.test(path) && !PATTERN.test(path));
  const words = [...text.matchAll(WORD)].map(([path]) => path);
  const found = new Map<string, Reference>();
  for (const path of words) found.set(path, { path, isLink: false });
  for (const path of links) found.set(path, { path, isLink: true });
  return [...found.values()].slice(0, MAX_REFERENCES);
}

/** Without fenced blocks. */
function withoutCode(body: string): string {
  return body.replaceAll(/^(```|~~~)[\s\S]*?^\1[^\n]*$/gm, '');
}
