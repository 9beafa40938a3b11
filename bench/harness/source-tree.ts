import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Words that names are made of: some hundred make as many names as a large workspace has. */
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

/** Numbers below `below`, the same in every run: mulberry32. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b9);
  }

  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  of(words: readonly string[]): string {
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
 * A workspace of so many files as a person would have written them: TypeScript, Python, Go and Java of 20
 * to 180 lines with comments, names and imports, some tests, texts and data. One of them answers
 * `ASKED_QUESTION`.
 */
export function writeSourceTree(root: string, files: number): void {
  const dice = new Dice(0);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(ASKED_FILE, ASKED_TEXT);
  for (let index = 1; index < files; index += 1) {
    const [folder, name] = [dice.of(WORDS), `${dice.of(WORDS)}-${dice.of(WORDS)}-${index}`];
    const language = LANGUAGES[dice.below(LANGUAGES.length)];
    if (language === undefined) throw new Error('no language');
    const text = language.text(dice, 1 + dice.below(12));
    write(`src/${folder}/${dice.of(WORDS)}/${name}${language.ending}`, text);
  }
}

interface Language {
  readonly ending: string;
  text(dice: Dice, functions: number): string;
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
    text: (dice, parts) =>
      repeated(parts, () => `## ${sentence(dice)}\n\n${sentence(dice)}\n${sentence(dice)}\n\n`),
  },
  {
    ending: '.json',
    text: (dice, parts) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: parts }, () => [camel(dice), sentence(dice)])),
        null,
        2,
      ),
  },
];

function typescript(dice: Dice, functions: number): string {
  const imports = repeated(
    4,
    () => `import { ${camel(dice)} } from './${dice.of(WORDS)}-${dice.of(WORDS)}.ts';\n`,
  );
  return `${imports}\n${repeated(functions, () => `/** ${sentence(dice)} */\nexport function ${camel(dice)}(${dice.of(WORDS)}: string, ${dice.of(WORDS)}: number): ${pascal(dice)} {\n${repeated(8, () => `  const ${camel(dice)} = ${camel(dice)}(${dice.of(WORDS)}.${camel(dice)}, ${dice.below(90)});\n`)}  return ${camel(dice)};\n}\n\n`)}`;
}

function python(dice: Dice, functions: number): string {
  const imports = repeated(
    4,
    () => `from ${dice.of(WORDS)}.${dice.of(WORDS)} import ${snake(dice)}\n`,
  );
  return `${imports}\n${repeated(functions, () => `def ${snake(dice)}(${dice.of(WORDS)}, ${dice.of(WORDS)}):\n    """${sentence(dice)}"""\n${repeated(8, () => `    ${snake(dice)} = self.${snake(dice)}(${dice.of(WORDS)})  # ${sentence(dice)}\n`)}    return ${snake(dice)}\n\n\n`)}`;
}

function go(dice: Dice, functions: number): string {
  const imports = repeated(4, () => `\t"example.org/${dice.of(WORDS)}/${dice.of(WORDS)}"\n`);
  return `package ${dice.of(WORDS)}\n\nimport (\n${imports})\n\n${repeated(functions, () => `// ${sentence(dice)}\nfunc (r *${pascal(dice)}) ${pascal(dice)}(${dice.of(WORDS)} int) error {\n${repeated(8, () => `\t${camel(dice)} := r.${pascal(dice)}(${dice.of(WORDS)})\n`)}\treturn nil\n}\n\n`)}`;
}

function java(dice: Dice, functions: number): string {
  const imports = repeated(4, () => `import org.example.${dice.of(WORDS)}.${pascal(dice)};\n`);
  return `package org.example;\n\n${imports}\npublic class ${pascal(dice)} {\n${repeated(functions, () => `  /** ${sentence(dice)} */\n  public ${pascal(dice)} ${camel(dice)}(${pascal(dice)} ${dice.of(WORDS)}) {\n${repeated(8, () => `    ${pascal(dice)} ${camel(dice)} = this.${camel(dice)}(${dice.of(WORDS)});\n`)}    return ${dice.of(WORDS)};\n  }\n\n`)}}\n`;
}

function repeated(times: number, text: () => string): string {
  return Array.from({ length: times }, text).join('');
}

/** Names repeat in a workspace, a few of them everywhere. */
const NAMES: readonly (readonly string[])[] = Array.from({ length: 20_000 }, (_, index) => {
  const dice = new Dice(index);
  return [dice.of(VERBS), dice.of(WORDS), dice.of(WORDS)].slice(0, 2 + dice.below(2));
});

function nameOf(dice: Dice): readonly string[] {
  const place = dice.below(1 << 16) / (1 << 16);
  return NAMES[Math.floor(NAMES.length * place ** 3)] ?? [];
}

function camel(dice: Dice): string {
  const [verb = '', ...rest] = nameOf(dice);
  return verb + rest.map(capitalised).join('');
}

function pascal(dice: Dice): string {
  return nameOf(dice).slice(1).map(capitalised).join('');
}

function snake(dice: Dice): string {
  return nameOf(dice).join('_');
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function sentence(dice: Dice): string {
  return `${pascal(dice)} ${repeated(6, () => `${dice.of(VERBS)} the ${dice.of(WORDS)} `).trimEnd()}.`;
}
