/** The end of `[text](path)`. */
const LINK = /\]\(<?([^()\s<>]{1,300})/g;
/** A path in one of the folders that the format defines for the files of a skill. */
const PLAIN_PATH =
  /(?<![\w./:-])(?:\.\/)?(?:scripts|references?|assets|resources)\/[\w./-]{0,300}\w\.\w{1,20}/g;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:|#|\/|~|\$|\{|<)/i;
/** Characters of a path that gets its value only when the skill is used. */
const PATTERN = /[*{}$<>|]/;
/** The most references: more than a person would write into one file. */
const MAX_REFERENCES = 500;

/** A file that the instructions of a skill refer to. */
export interface Reference {
  /** The path as written, relative to the folder of the skill. */
  readonly path: string;
  /** Whether it is a link. A path without a link may also mean a file of the project. */
  readonly isLink: boolean;
}

/** Returns the files in its folder that the text of a skill refers to, without duplicates. Code blocks are ignored. */
export function findFileReferences(body: string): readonly Reference[] {
  const text = withoutCode(body);
  const links = [...text.matchAll(LINK)]
    .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
    // An example of a link (`[name](url)`) is not a reference: a file has an extension or a folder.
    .filter((path) => /[./]/.test(path) && !ADDRESS.test(path) && !PATTERN.test(path));
  const words = [...text.matchAll(PLAIN_PATH)].map(([path]) => path);
  const found = new Map<string, Reference>();
  for (const path of words) found.set(path, { path, isLink: false });
  for (const path of links) found.set(path, { path, isLink: true });
  return [...found.values()].slice(0, MAX_REFERENCES);
}

/** Removes fenced code blocks. */
function withoutCode(body: string): string {
  return body.replaceAll(/^(```|~~~)[\s\S]*?^\1[^\n]*$/gm, '');
}
