/** Endings that make a word a file; many words with a dot are none (`user.name`, `foo.bar()`). */
const ENDINGS = new Set(
  `ts tsx mts cts js jsx mjs cjs json jsonc json5 jsonl ndjson py pyi ipynb rb erb go rs java kt kts scala clj cljs cs
   fs vb cpp cc cxx hpp hh c h swift mm php pl pm lua sh bash zsh fish ps1 bat cmd sql md mdx markdown rst adoc txt
   text csv tsv xlsx docx pdf html htm css scss sass less vue svelte astro xml yml yaml toml ini cfg conf properties
   env lock log svg png jpg jpeg gif webp ico proto graphql gql prisma tf tfvars hcl gradle cmake mk ex exs erl hrl
   hs ml mli dart zig nim jl tex bib snap patch diff hbs ejs pug njk j2 tmpl tpl sol vy wat wasm asm service desktop
   plist csproj sln rake gemspec cabal el vim feature http rego jq awk sed dockerfile po pot arb strings xliff resx gitignore npmrc nvmrc
   editorconfig eslintrc prettierrc babelrc dockerignore`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
const NAMES =
  /^(?:Makefile|GNUmakefile|Dockerfile|Containerfile|Jenkinsfile|Vagrantfile|Procfile|Gemfile|Rakefile|Pipfile|Brewfile|Justfile|justfile|LICENSE|LICENCE|CHANGELOG|CODEOWNERS|CONTRIBUTING|NOTICE|AUTHORS|BUILD|WORKSPACE|CMakeLists\.txt)$/;
/** Words with such an ending that name a product or an expression. */
const NO_FILE =
  /^(?:(?:node|next|nuxt|vue|react|express|three|d3|chart|ember|backbone|discord|socket|alpine|angular|nest|moment|day|p5|electron|ext|knockout|handlebars|solid|require|bull|passport|sequelize|mongoose|winston|asp|cypress|tensorflow|brain|pdf|polyfill|polymer|svelte|reveal|highlight|video|plotly|leaflet|deck|babylon|phaser|fastify|hapi|koa|sails|meteor|feathers|strapi|ghost|keystone|adonis|total|loopback|underscore|lodash|ramda|immutable|zone|core|deno|bun)\.js|(?:console|math|logger|log|np|torch)\.log|process\.env|import\.meta\.env|(?:req|res|request|response|r|resp|data|body)\.(?:json|text|html|xml|http)|(?:asp|vb|ado)\.net|(?:app|this|self|config|settings|os)\.(?:env|conf|cfg|log|http|sql|css|html|text)|\d+\.(?:h|c|m|log))$/i;
const PATH = /^(?:~|\.{0,2})?\/?(?:[\w@.+()[\]~-]+\/)*[\w@.+()[\]~-]+$/;

/** The path that a word names; null: it names none. Line numbers behind it are taken off. */
export function fileNamed(word: string): string | null {
  const path = word
    .replace(/^file:\/\//, '')
    .replace(/(?::\d+(?:[-:–]\d+)?|#L\d+(?:-L?\d+)?)$/, '')
    .replace(/^["'([]+|["'\],;:!?]+$/g, '');
  if (path.length > 300 || !PATH.test(path) || path.endsWith('/')) return null;
  const name = path.split('/').at(-1) ?? '';
  if (NAMES.test(name)) return path;
  if (NO_FILE.test(path)) return null;
  const dot = name.lastIndexOf('.');
  if (dot === -1) return null;
  const ending = name.slice(dot + 1).toLowerCase();
  const isKnown =
    ENDINGS.has(ending) || (dot === 0 && /^\.(?:\w+rc|env[\w.-]*|git\w+|\w+ignore)$/.test(name));
  if (!isKnown && !name.startsWith('.env.')) return null;
  // An expression such as `Foo.text` is no file, but for a path.
  return /^(?:text|env|http|service|sed|awk|jq|lock|log|feature)$/.test(ending) &&
    dot > 0 &&
    /^[A-Z]/.test(name) &&
    !path.includes('/')
    ? null
    : path;
}

/** A path in code that needs no ending to be one: `.husky/pre-push`, `/etc/cron.d/tool`. */
export function pathNamed(code: string): string | null {
  const isPath = /^(?:\.[a-z][\w.-]*|\/(?:etc|usr|opt|var|tmp|home|root|srv))(?:\/[\w.@-]+)+$/.test(
    code,
  );
  return isPath && code.length <= 300 ? code : null;
}

/** Names that many directories hold. */
const COMMON =
  /^(?:index|main|mod|lib|__init__|readme|package|types?|utils?|config|app|test|tests|styles?|routes?|models?|views?|constants|setup|conftest|page|layout|schema|settings|helpers?|errors?)\./i;

/** Whether a file as an answer names it can be one that stands in a receipt. */
export function isSameFile(named: string, actual: string): boolean {
  const parts = namesIn(named);
  const real = namesIn(actual);
  const name = parts.at(-1) ?? '';
  if (real.at(-1) !== name) return false;
  if (!COMMON.test(name)) return true;
  let at = 0;
  for (const part of real) if (part === parts[at]) at += 1;
  return at === parts.length || real.every((part) => parts.includes(part));
}

function namesIn(path: string): readonly string[] {
  return path
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..' && part !== '~');
}
