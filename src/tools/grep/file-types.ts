import { MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';

const MAX_TYPE_LENGTH = 200;
/** The file name extensions of each language, with commas between them. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  bash: 'sh,bash',
  c: 'c,h',
  cpp: 'cpp,cc,cxx,c++,hpp,hh,hxx,h,inl',
  csharp: 'cs',
  docs: 'md,markdown,mdx,rst,txt,adoc',
  elixir: 'ex,exs',
  erlang: 'erl,hrl',
  fsharp: 'fs,fsi,fsx',
  go: 'go',
  haskell: 'hs,lhs',
  html: 'html,htm,xhtml',
  java: 'java',
  javascript: 'js,jsx,mjs,cjs',
  js: 'js,jsx,mjs,cjs',
  json: 'json,jsonc,json5',
  julia: 'jl',
  kotlin: 'kt,kts',
  markdown: 'md,markdown,mdx',
  md: 'md,markdown,mdx',
  ocaml: 'ml,mli',
  perl: 'pl,pm,t',
  php: 'php,phtml',
  protobuf: 'proto',
  py: 'py,pyi',
  python: 'py,pyi',
  ruby: 'rb,rake,gemspec',
  rust: 'rs',
  scala: 'scala,sc',
  sh: 'sh,bash,zsh,ksh',
  swift: 'swift',
  ts: 'ts,tsx,mts,cts',
  typescript: 'ts,tsx,mts,cts',
  yaml: 'yaml,yml',
};

/**
 * Returns a glob for the files of a language, or of several languages with commas between them. A name that is not a
 * known language is used as an extension. Throws INVALID_PARAM for a text that cannot be a language or an extension.
 */
export function fileTypeGlob(type: string): string {
  const names = type
    .toLowerCase()
    .split(/[\s,;|]+/)
    .filter((name) => name !== '');
  const extensions = names.flatMap(findExtensions);
  const isUsable = extensions.every((each) => /^[\p{L}\p{N}_+#-][\p{L}\p{N}_+#.-]*$/u.test(each));
  if (!isUsable || names.length === 0 || type.length > MAX_TYPE_LENGTH) {
    const valid = 'a language or an extension, such as ts, py or md';
    const message = `type: ${JSON.stringify(truncate(type, 60))} is not a file type; valid: ${valid}`;
    throw new MusterError('INVALID_PARAM', message);
  }
  return extensions.length > 1 ? `*.{${extensions.join(',')}}` : `*.${extensions.join('')}`;
}

function findExtensions(type: string): readonly string[] {
  const name = type.replace(/^(?:\*?\.)+/, '');
  const known = Object.hasOwn(EXTENSIONS, name) ? (EXTENSIONS[name] ?? name) : name;
  return known.split(',');
}
