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

/** A glob for the files of a language; an unknown one is taken for an extension. */
export function fileTypeGlob(type: string): string {
  const name = type.toLowerCase().replace(/^\./, '');
  const extensions = Object.hasOwn(EXTENSIONS, name) ? (EXTENSIONS[name] ?? name) : name;
  return extensions.includes(',') ? `*.{${extensions}}` : `*.${extensions}`;
}
