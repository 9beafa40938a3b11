import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The words that names consist of: a few hundred are enough for the names of a large workspace. */
const WORDS =
  `account action adapter address agent alias amount anchor archive array asset batch block
  bounds branch bucket budget buffer bundle button cache call card catalog channel chart check chunk claim
  client cluster codec color column command comment commit config context cookie copy counter cursor data
  date decoder default delta digest disk domain draft driver edge editor effect element email encoder
  entity entry error event export factory feature field file filter flag folder font form frame gateway
  graph group guard handle hash header history hook host icon image import index input invoice item job
  journal key label layer layout ledger level lexer limit line link list loader lock log mail map marker
  matrix member menu merge message metric mirror model module monitor name network node notice object
  offset option order output owner packet page panel parser patch path payload peer permission pixel plan
  plugin point policy pool port price printer process profile prompt proxy queue quota range rate reader
  record region registry release render report request resource response result role route row rule
  sample scale schema scope screen search section sensor series server session shape sheet signal slot
  snapshot socket source span stage stamp state step storage stream string style subject suite symbol
  table tag target task template tenant theme thread ticket timer token tool topic trace track transfer
  tree trigger tuple type unit upload user value vector version video view visitor volume walker widget
  window worker writer zone`
    .trim()
    .split(/\s+/);
const VERBS =
  'add apply build check clear close collect copy count create decode drop encode find flush format get has join list load merge move open parse pick print pull push read remove render reset save scan send set show sort split start stop store sync take trim update verify wait walk wrap write'.split(
    ' ',
  );

/** A random number generator (mulberry32) that gives the same numbers in every run. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b9);
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  pick(words: readonly string[]): string {
    return words[this.below(words.length)] ?? '';
  }
}

export const ASKED_FILE = 'src/net/retry-delay.ts';
export const ASKED_QUESTION = 'Where is the delay before a retried attempt computed?';
const ASKED_TEXT = `/** How long an attempt waits before it is made once more: doubles, with jitter. */
export function retryDelay(attempt: number, jitter: number): number {
  return 100 * 2 ** attempt * (1 + jitter);
}
`;

/**
 * Writes a workspace of `files` files that resemble those of a real project: TypeScript, Python, Go and
 * Java of 20 to 180 lines with comments, names and imports, and some tests, texts and data. One of them
 * answers `ASKED_QUESTION`.
 */
export function writeSourceTree(root: string, files: number): void {
  const random = new Random(0);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(ASKED_FILE, ASKED_TEXT);
  for (let index = 1; index < files; index += 1) {
    const [folder, name] = [
      random.pick(WORDS),
      `${random.pick(WORDS)}-${random.pick(WORDS)}-${index}`,
    ];
    const language = LANGUAGES[random.below(LANGUAGES.length)];
    if (language === undefined) throw new Error('no language');
    const text = language.text(random, 1 + random.below(12));
    write(`src/${folder}/${random.pick(WORDS)}/${name}${language.ending}`, text);
  }
}

/** Writes a TypeScript file of at most this many bytes, and at most one line less. */
export function writeSourceFile(path: string, bytes: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const text = typescript(new Random(bytes), Math.ceil(bytes / 200)).slice(0, bytes);
  writeFileSync(path, text.slice(0, text.lastIndexOf('\n') + 1));
}

interface Language {
  readonly ending: string;
  text(random: Random, functions: number): string;
}

const LANGUAGES: readonly Language[] = [
  { ending: '.ts', text: typescript },
  { ending: '.ts', text: typescript },
  { ending: '.py', text: python },
  { ending: '.go', text: go },
  { ending: '.java', text: java },
  { ending: '.test.ts', text: typescript },
  {
    ending: '.md',
    text: (random, parts) =>
      repeated(
        parts,
        () => `## ${sentence(random)}\n\n${sentence(random)}\n${sentence(random)}\n\n`,
      ),
  },
  {
    ending: '.json',
    text: (random, parts) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: parts }, () => [camel(random), sentence(random)])),
        null,
        2,
      ),
  },
];

function typescript(random: Random, functions: number): string {
  const imports = repeated(
    4,
    () => `import { ${camel(random)} } from './${random.pick(WORDS)}-${random.pick(WORDS)}.ts';\n`,
  );
  return `${imports}\n${repeated(functions, () => `/** ${sentence(random)} */\nexport function ${camel(random)}(${random.pick(WORDS)}: string, ${random.pick(WORDS)}: number): ${pascal(random)} {\n${repeated(8, () => `  const ${camel(random)} = ${camel(random)}(${random.pick(WORDS)}.${camel(random)}, ${random.below(90)});\n`)}  return ${camel(random)};\n}\n\n`)}`;
}

function python(random: Random, functions: number): string {
  const imports = repeated(
    4,
    () => `from ${random.pick(WORDS)}.${random.pick(WORDS)} import ${snake(random)}\n`,
  );
  return `${imports}\n${repeated(functions, () => `def ${snake(random)}(${random.pick(WORDS)}, ${random.pick(WORDS)}):\n    """${sentence(random)}"""\n${repeated(8, () => `    ${snake(random)} = self.${snake(random)}(${random.pick(WORDS)})  # ${sentence(random)}\n`)}    return ${snake(random)}\n\n\n`)}`;
}

function go(random: Random, functions: number): string {
  const imports = repeated(
    4,
    () => `\t"example.org/${random.pick(WORDS)}/${random.pick(WORDS)}"\n`,
  );
  return `package ${random.pick(WORDS)}\n\nimport (\n${imports})\n\n${repeated(functions, () => `// ${sentence(random)}\nfunc (r *${pascal(random)}) ${pascal(random)}(${random.pick(WORDS)} int) error {\n${repeated(8, () => `\t${camel(random)} := r.${pascal(random)}(${random.pick(WORDS)})\n`)}\treturn nil\n}\n\n`)}`;
}

function java(random: Random, functions: number): string {
  const imports = repeated(
    4,
    () => `import org.example.${random.pick(WORDS)}.${pascal(random)};\n`,
  );
  return `package org.example;\n\n${imports}\npublic class ${pascal(random)} {\n${repeated(functions, () => `  /** ${sentence(random)} */\n  public ${pascal(random)} ${camel(random)}(${pascal(random)} ${random.pick(WORDS)}) {\n${repeated(8, () => `    ${pascal(random)} ${camel(random)} = this.${camel(random)}(${random.pick(WORDS)});\n`)}    return ${random.pick(WORDS)};\n  }\n\n`)}}\n`;
}

function repeated(times: number, text: () => string): string {
  return Array.from({ length: times }, text).join('');
}

/** The names of the workspace. They repeat, and a few of them occur everywhere. */
const NAMES: readonly (readonly string[])[] = Array.from({ length: 20_000 }, (_, index) => {
  const random = new Random(index);
  return [random.pick(VERBS), random.pick(WORDS), random.pick(WORDS)].slice(0, 2 + random.below(2));
});

function pickName(random: Random): readonly string[] {
  const share = random.below(1 << 16) / (1 << 16);
  return NAMES[Math.floor(NAMES.length * share ** 3)] ?? [];
}

function camel(random: Random): string {
  const [verb = '', ...rest] = pickName(random);
  return verb + rest.map(capitalize).join('');
}

function pascal(random: Random): string {
  return pickName(random).slice(1).map(capitalize).join('');
}

function snake(random: Random): string {
  return pickName(random).join('_');
}

function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function sentence(random: Random): string {
  return `${pascal(random)} ${repeated(6, () => `${random.pick(VERBS)} the ${random.pick(WORDS)} `).trimEnd()}.`;
}
