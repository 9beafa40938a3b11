import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printRule, parseRule } from '../../../../src/policy/rules/rules.ts';
import { parseShellLine } from '../../../../src/policy/shell/parse-line.ts';
import { COMMAND_WRAPPERS } from '../../../../src/policy/shell/inner-commands/wrappers.ts';
import { parseOptionTable } from '../../../../src/policy/shell/options/option-table.ts';
import { allows, denies } from './support.ts';

/** A way to tell a program to run a command: the program, and the line for a command. */
interface Way {
  readonly program: string;
  readonly around: (command: string) => string;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** An option of a wrapper, with its value where it takes one. */
function optionOf(spelling: string): fc.Arbitrary<string> {
  const { short, long } = parseOptionTable(spelling);
  const forms = [
    ...[...short].map(([name, kind]) => ({ name: `-${name}`, kind, joint: '' })),
    ...[...long].map(([name, kind]) => ({ name: `--${name}`, kind, joint: '=' })),
  ];
  if (forms.length === 0) return fc.constant('');
  return fc
    .tuple(fc.constantFrom(...forms), fc.constantFrom('v', '7', 'a=b'), fc.boolean())
    .map(([{ name, kind, joint }, value, isAttached]) => {
      if (kind === 'none' || (kind === 'optional_attached' && !isAttached)) return name;
      return isAttached || kind === 'optional_attached'
        ? `${name}${joint}${value}`
        : `${name} ${value}`;
    });
}

/** A wrapper of the table with options of its own. */
const wrapperWay: fc.Arbitrary<Way> = fc
  .constantFrom(...COMMAND_WRAPPERS)
  .filter(([, { scriptOptions = [] }]) => scriptOptions.length === 0)
  .chain(([name, wrapper]) =>
    fc
      .array(fc.oneof({ weight: 5, arbitrary: optionOf(wrapper.options) }, fc.constant('--zz')), {
        maxLength: 3,
      })
      .map((options) => {
        // Alone, `time` is a word of the shell itself.
        const program = name === 'time' ? '/usr/bin/time' : name;
        const operands = Array.from({ length: wrapper.operands ?? 0 }, () => 'own');
        const before = [program, ...options, ...operands].join(' ');
        return {
          program,
          around: (command: string) =>
            `${before} ${wrapper.isScript === true ? quoted(command) : command}`,
        };
      }),
  );

const TEXT_WAYS: readonly Way[] = [
  ["bash -c '%'", 'bash'],
  ["sh -ec '%'", 'sh'],
  ["eval '%'", 'eval'],
  ["ssh host '%'", 'ssh'],
  ["su -c '%'", 'su'],
  ["npx -c '%'", 'npx'],
  ["git -c alias.x='!%' x", 'git'],
  ["git -c core.pager='%' log", 'git'],
  ["git rebase -x '%' main", 'git'],
  ["git submodule foreach '%'", 'git'],
  ["tar cf x --checkpoint-action=exec='%' .", 'tar'],
  ["tar xf x --to-command '%'", 'tar'],
  ["rsync --rsh='%' a b", 'rsync'],
  ["sort --compress-program='%' a", 'sort'],
  ["split --filter '%' a", 'split'],
  ["rg --pre='%' a", 'rg'],
  ["man -P '%' a", 'man'],
  ["flock file -c '%'", 'flock'],
  ["parallel ::: '%'", 'parallel'],
].map(([line = '', program = '']) => ({
  program,
  around: (command: string) =>
    line.replace("'%'", () => quoted(command)).replace("'!%'", () => quoted(`!${command}`)),
}));

const WORD_WAYS: readonly Way[] = [
  { program: 'find', around: (command) => `find . -exec ${command} \\;` },
  { program: 'find', around: (command) => `find . -name a -okdir ${command} {} +` },
  { program: 'fd', around: (command) => `fd a -x ${command}` },
  { program: 'parallel', around: (command) => `parallel ${command} ::: a b` },
];

const anyWay = fc.oneof(
  { weight: 3, arbitrary: wrapperWay },
  { weight: 2, arbitrary: fc.constantFrom(...TEXT_WAYS) },
  { weight: 1, arbitrary: fc.constantFrom(...WORD_WAYS) },
);

/** Up to three ways, each inside of the one before it. */
const nested = fc.array(anyWay, { minLength: 1, maxLength: 3 });

function wrap(ways: readonly Way[], command: string): string {
  return ways.reduceRight((inner, { around }) => around(inner), command);
}

const COMMANDS = ['rm -rf x', 'rm', 'git push origin', 'git -C . push', 'npm --prefix . publish'];
const RULES = ['rm:*', 'rm:*', 'git push:*', 'git push:*', 'npm publish:*'];

describe('whatever programs run a command', () => {
  test('a deny rule for it applies', () => {
    fc.assert(
      fc.property(nested, fc.nat(COMMANDS.length - 1), (ways, index) => {
        expect(denies(wrap(ways, COMMANDS[index] ?? ''), RULES[index] ?? '')).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  test('rules for these programs do not cover it', () => {
    fc.assert(
      fc.property(nested, (ways) => {
        const rules = ways.flatMap(({ program }) => [`${program}:*`, `${program} *`]);
        expect(allows(wrap(ways, 'rm -rf x'), ...rules)).toBe(false);
      }),
      { numRuns: 1500 },
    );
  });

  test('a rule for the command does not cover these programs', () => {
    fc.assert(
      fc.property(nested, (ways) => {
        expect(allows(wrap(ways, 'rm -rf x'), 'rm:*', 'rm -rf x')).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('it is covered only where it would be covered alone', () => {
    const someRules = fc.subarray(
      ['rm:*', 'rm -rf x', 'git:*', 'git push:*', 'npm publish', 'npm:*'],
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(nested, fc.constantFrom(...COMMANDS), someRules, (ways, command, rules) => {
        const outer = ways.map(({ program }) => `${program}:*`);
        fc.pre(allows(wrap(ways, command), ...outer, ...rules));
        expect(allows(command, ...outer, ...rules)).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('rules', () => {
  const anyLine = fc
    .tuple(nested, fc.constantFrom(...COMMANDS))
    .map(([ways, command]) => wrap(ways, command));
  const allowed = fc.subarray(
    [
      'rm:*',
      'git:*',
      'git push origin',
      'env:*',
      'xargs:*',
      'find:*',
      'bash:*',
      'sudo *',
      'nice env:*',
    ],
    { minLength: 1 },
  );

  test('cover the same in every order', () => {
    const inTwoOrders = allowed.chain((rules) =>
      fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
    );
    fc.assert(
      fc.property(anyLine, inTwoOrders, (line, [rules, others]) => {
        expect(allows(line, ...rules)).toBe(allows(line, ...others));
      }),
      { numRuns: 500 },
    );
  });

  test('cover no less with one more of them', () => {
    fc.assert(
      fc.property(
        anyLine,
        allowed,
        fc.constantFrom('rm:*', 'nohup:*', 'git *'),
        (line, rules, more) => {
          fc.pre(allows(line, ...rules));
          expect(allows(line, more, ...rules)).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('that are printed and parsed again mean the same, and so does the line that they name', () => {
    fc.assert(
      fc.property(anyLine, (line) => {
        const text = printRule({ tool: 'Bash', specifier: line });
        const parsed = parseRule({ text, source: { kind: 'flag', where: '--allow' } });
        expect(parsed).toMatchObject({ ok: true, rule: { tool: 'Bash', specifier: line } });
        expect(denies(line, line)).toBe(true);
        expect(allows(line, line)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('treat a command like its words written in another way', () => {
    fc.assert(
      fc.property(anyLine, allowed, (line, rules) => {
        const [only, ...others] = parseShellLine(line).commands;
        fc.pre(only !== undefined && others.length === 0);
        const printed = only?.words.map(({ value, text }) =>
          value === null ? text : quoted(value),
        );
        const again = printed?.join('  ') ?? '';
        expect(allows(again, ...rules)).toBe(allows(line, ...rules));
        for (const rule of rules) expect(denies(again, rule)).toBe(denies(line, rule));
      }),
      { numRuns: 500 },
    );
  });
});
