import { baseName } from './shell-lines.ts';

const ENDING =
  /\.(?:[cm]?[jt]sx?|json[5c]?|jsonl|py[ixw]?|ipynb|rb|erb|rs|go|java|kts?|scala|sbt|swift|mm?|[ch](?:pp|xx|c|h)?|hpp|cs|fs|vb|php|pl|pm|lua|r|rmd|jl|exs?|eex|heex|erl|hs|ml|clj[sc]?|dart|zig|nim|sol|sh|bash|zsh|fish|ps1|bat|cmd|html?|xml|xsd|svg|css|s[ac]ss|less|vue|svelte|astro|mdx?|rst|txt|adoc|tex|csv|tsv|ya?ml|toml|ini|cfg|conf|config|env|properties|sql|graphql|gql|proto|prisma|tf|tfvars|hcl|gradle|cmake|mk|lock|log|snap|patch|diff|hbs|ejs|pug|j2|tmpl|tpl|service|plist|csproj|sln|gemspec|feature|http|png|jpe?g|gif|webp|ico|pdf|zip|wasm|po|pot|arb|strings|resx|typed|bzl|bazel|groovy|mustache|liquid|cue|rego|asm|elm|cr|csh|fsx|razor|cshtml)$/i;
const BARE =
  /^(?:(?:GNU)?[Mm]akefile|(?:Docker|Container|Jenkins|Vagrant|Proc|Gem|Rake|Pip|Brew|[Jj]ust)file|LICEN[SC]E|README|CHANGELOG|NEWS|AUTHORS|NOTICE|VERSION|MAINTAINERS|MANIFEST\.in|CODEOWNERS|CONTRIBUTING|\.[a-z][\w-]*(?:rc|ignore|config|attributes|modules)|\.env(?:\.\w+)*|\.flake8|\.tool-versions|\.htaccess|go\.(?:mod|sum|work))$/;
/** Programs without an ending. */
const SCRIPT = /(?:^|\/)(?:scripts|hooks|\.husky)\/[\w-]+$|^bin\/[\w-]+$|(?:^|\/)crontab$/;
/** Products and expressions that look like names of files. */
const NO_FILE =
  /^(?:(?:[A-Z]\w*|node|next|nuxt|vue|react|express|three|d3|chart|ember|backbone|alpine|nest|moment|day|socket|solid|discord)\.js|[A-Z]+\.NET|(?:res|req|response|request|resp|ctx|context|console|process|meta|self|this|math|logger|axios|fetch|body|app|window|module|vim|np|git|store|state|props|event|\w{1,2})\.(?:env|config|log|http|conf|json|text|diff|lock|[chmr])|\d[\d.]*\w*)$/;
const PATH = /^(?:~?\.{0,2}\/)?(?:[\w@.+()[\]~-]+\/)*[\w@.+()[\]~-]+$/;
/** Files with such names are many: a name that could be an expression is one of them all the same. */
const WELL_KNOWN =
  /^(?:package|tsconfig|composer|settings|config|jest|vite|vitest|webpack|main|app|setup|Cargo|poetry|yarn|conf|debug|error|errors|output|data|test|index|manifest|schema|[\w-]*-[\w-]*)\.\w+$|^(?:ar|cs|da|de|en|es|fi|fr|he|it|ja|ko|nb|nl|pl|pt|ru|sv|tr|uk|zh)\.json$/;

/** The path that a word names; null: it names none. Line numbers behind it are taken off. */
export function fileNamed(word: string): string | null {
  const path = word.replace(/(?::\d+(?:[-:–,]\d+)*|#L\d+(?:-L?\d+)?)$/, '');
  if (path.length > 300 || !PATH.test(path) || /^\d+\/\d+$/.test(path)) return null;
  const name = baseName(path);
  if (
    BARE.test(name) ||
    /^(?:doc|man)\w*\/[\w-]+\.[1-9]$/.test(path) ||
    SCRIPT.test(path) ||
    /^\.[a-z][\w-]*(?:\/[\w.-]+)+$/.test(path)
  )
    return path;
  if (!ENDING.test(name))
    return /^[\w@.-]+(?:\/[\w.-]+)*\/[\w-]+\.[A-Za-z][a-z\d]{0,5}$/.test(path) ? path : null;
  return NO_FILE.test(path) && !WELL_KNOWN.test(path) ? null : path;
}

/** Whether a file as an answer names it can be one that stands in a receipt; `actual` in relation to its root. */
export function isSameFile(named: string, actual: string): boolean {
  const said = partsOf(named);
  const real = partsOf(actual);
  const name = said.pop() ?? '';
  const other = real.pop() ?? '';
  if (real.includes(name)) return true;
  if (other !== name && (name.includes('.') || !other.startsWith(name))) return false;
  // One at the top is no other of its name further down.
  const isTop = real.length === 0 && /^[^/~]/.test(named);
  return isWithin(said, real) || (!isTop && isWithin(real, said));
}

/** Whether all of `some` stand in `all`, in that order. */
function isWithin(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const part of all) if (part === some[at]) at += 1;
  return at === some.length;
}

function partsOf(path: string): string[] {
  return path
    .toLowerCase()
    .split('/')
    .filter((part) => !/^(?:|~|\.{1,2})$/.test(part));
}
