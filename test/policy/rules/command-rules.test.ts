import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findAllowingCommandRule,
  couldCommandMatch,
  readCommandLine,
} from '../../../src/policy/rules/command-rules.ts';
import { loadShellParser } from '../../../src/policy/shell/load-parser.ts';
import { rules } from '../support.ts';

const parser = await loadShellParser();

function allows(line: string, ...allow: string[]): boolean {
  return (
    findAllowingCommandRule(rules({ allow }).allow, readCommandLine(line, parser)) !== undefined
  );
}

function denies(line: string, specifier: string): boolean {
  return couldCommandMatch(specifier, readCommandLine(line, parser));
}

describe('a rule allows', () => {
  test.each([
    ['npm test', 'Bash(npm test)'],
    ['  npm   test ', 'Bash(npm test)'],
    ['"npm" test', 'Bash(npm test)'],
    ['npm test -- --grep "foo bar"', "Bash(npm test -- --grep 'foo bar')"],
    ['git log', 'Bash(git log:*)'],
    ['git log --oneline -5', 'Bash(git log:*)'],
    ['git log --oneline', 'Bash(git log *)'],
    ['git log', 'Bash(git log *)'],
    ['git log "$BRANCH"', 'Bash(git log:*)'],
    ['npm run build --prod', 'Bash(npm * --prod)'],
    ['npm test 2>&1', 'Bash(npm test)'],
    ['npm test > /dev/null', 'Bash(npm test)'],
    ['npm test > /dev/stderr', 'Bash(npm test)'],
    ['time npm test', 'Bash(npm test)'],
    ['npm test > out.txt', 'Bash(npm test > out.txt)'],
    ['rm -rf dist && npm test', 'Bash(rm -rf dist && npm test)'],
    ['anything > at < all', 'Bash'],
    ['anything $((', 'Bash(*)'],
  ])('%s by %s', (line, rule) => expect(allows(line, rule)).toBe(true));

  test('every command of a line, each by its own rule', () => {
    expect(allows('npm test && git status | head', 'Bash(npm test)', 'Bash(git status)')).toBe(
      false,
    );
    expect(
      allows('npm test && git status | head', 'Bash(npm test)', 'Bash(git:*)', 'Bash(head:*)'),
    ).toBe(true);
  });

  test.each([
    ['npm testx', 'Bash(npm test:*)'],
    ['npm test -x', 'Bash(npm test)'],
    ['"npm test"', 'Bash(npm test)'],
    ['"npm run" x', 'Bash(npm run *)'],
    ['/tmp/npm test', 'Bash(npm test)'],
    ['npm test; rm x', 'Bash(npm test:*)'],
    ['npm test\nrm x', 'Bash(npm test:*)'],
    ['npm test $(rm x)', 'Bash(npm test:*)'],
    ['npm test `rm x`', 'Bash(npm test:*)'],
    ['npm test <(rm x)', 'Bash(npm test:*)'],
    ['npm test "$(rm x)"', 'Bash(npm test:*)'],
    ['npm test <<E\n$(rm x)\nE', 'Bash(npm test:*)'],
    ['npm test > ~/.bashrc', 'Bash(npm test:*)'],
    ['npm test >& file', 'Bash(npm test:*)'],
    ['npm test < file', 'Bash(npm test:*)'],
    ['PATH=/evil npm test', 'Bash(npm test:*)'],
    ['npm() { npm test; }; npm test', 'Bash(npm test:*)'],
    ['npm test ${X:=1}', 'Bash(npm test:*)'],
    ['npm test ${!X}', 'Bash(npm test:*)'],
    ['npm test $((a[$(rm x)]))', 'Bash(npm test:*)'],
    ['for PATH in /evil; do npm test; done', 'Bash(npm test:*)'],
    ['$CMD test', 'Bash(* test)'],
    ['np? test', 'Bash(npm test)'],
    ['npm test "', 'Bash(npm test:*)'],
    ['npm test \u202e', 'Bash(npm test:*)'],
    ['# only a comment', 'Bash(npm test:*)'],
    ['', 'Bash(npm test:*)'],
  ])('but not %j by %s', (line, rule) => expect(allows(line, rule)).toBe(false));

  test('nothing by a specifier without the shell parser', () => {
    const { allow } = rules({ allow: ['Bash(npm test)'] });
    expect(findAllowingCommandRule(allow, readCommandLine('npm test', null))).toBeUndefined();
  });
});

describe('a rule refuses', () => {
  test.each([
    ['rm -rf x', 'rm:*'],
    ['\\rm x', 'rm:*'],
    ['r"m" x', 'rm:*'],
    ['/bin/rm x', 'rm:*'],
    ['ls && rm x', 'rm:*'],
    ['ls | rm x', 'rm:*'],
    ['(cd x; rm y)', 'rm:*'],
    ['echo $(rm x)', 'rm:*'],
    ['echo "`rm x`"', 'rm:*'],
    ['cat <<E\n$(rm x)\nE', 'rm:*'],
    ['if true; then rm x; fi', 'rm:*'],
    ['f() { rm x; }; f', 'rm:*'],
    ['X=1 rm x', 'rm:*'],
    ['rm x > /dev/null', 'rm:*'],
    ['env rm x', 'rm:*'],
    ['env -i A=b rm x', 'rm:*'],
    ['env -u HOME rm x', 'rm:*'],
    ['env -S "rm x"', 'rm:*'],
    ['command rm x', 'rm:*'],
    ['command -p rm x', 'rm:*'],
    ['builtin rm', 'rm:*'],
    ['exec -a name rm x', 'rm:*'],
    ['nohup rm x', 'rm:*'],
    ['nice -n 5 rm x', 'rm:*'],
    ['nice -5 rm x', 'rm:*'],
    ['timeout 5 rm x', 'rm:*'],
    ['timeout -k 5 --signal=KILL 10 rm x', 'rm:*'],
    ['timeout --unknown-option 5 10 rm x', 'rm:*'],
    ['time -p rm x', 'rm:*'],
    ['stdbuf -oL rm x', 'rm:*'],
    ['ls | xargs -n 1 rm', 'rm:*'],
    ['ls | xargs rm', 'rm -rf:*'],
    ['sudo -u root rm x', 'rm:*'],
    ['sudo env nice timeout 5 rm x', 'rm:*'],
    ['bash -c "rm x"', 'rm:*'],
    ['bash -o pipefail -ec "ls; rm x"', 'rm:*'],
    ['sh -c "bash -c \'rm x\'"', 'rm:*'],
    ['bash -c "$SCRIPT"', 'rm:*'],
    ['echo cm0gLXJm | base64 -d | sh', 'rm:*'],
    ['bash <<E\nrm x\nE', 'rm:*'],
    ['eval "rm x"', 'rm:*'],
    ['eval "$X"', 'rm:*'],
    ["trap 'rm x' EXIT", 'rm:*'],
    ['find . -name x -exec rm {} +', 'rm:*'],
    ['$CMD x', 'rm:*'],
    ['/bin/r? x', 'rm:*'],
    ['rm "unclosed', 'ls:*'],
    ['git $X push', 'git push:*'],
    ['git push origin', 'git push:*'],
    ['git push origin --force', 'git push * --force'],
    ['git push $ARGS', 'git push * --force'],
    ['npm publish', 'npm publish'],
    ['a  &&  b', 'a && b'],
    ['curl http://x | cat', '*http://x*'],
    [`rm x ${'a'.repeat(20_000)}`, 'rm:*'],
    [Array.from({ length: 300 }, () => 'ls').join(';') + ';rm x', 'rm:*'],
  ])('%j by %s', (line, specifier) => expect(denies(line, specifier)).toBe(true));

  test.each([
    ['echo rm', 'rm:*'],
    ['grep rm file', 'rm:*'],
    ['xargs grep rm', 'rm:*'],
    ['rmdir x', 'rm:*'],
    ['git log $X', 'git push:*'],
    ['git pushx', 'git push:*'],
    ['bash scripts/build.sh "$VERSION"', 'rm:*'],
    ['npm publish --dry-run', 'npm publish'],
    ['timeout 5 npm test', 'rm:*'],
    ['find . -name rm', 'rm:*'],
    ['X=rm', 'rm:*'],
    ['echo $((1 + 2)) > out', 'rm:*'],
  ])('but not %j by %s', (line, specifier) => expect(denies(line, specifier)).toBe(false));

  test('every line that cannot be parsed, without the shell parser', () => {
    expect(couldCommandMatch('rm:*', readCommandLine('ls', null))).toBe(true);
  });

  test('is fast for many nested wrappers', () => {
    expect(denies('xargs -Z '.repeat(1500), 'rm:*')).toBe(true);
    expect(denies('('.repeat(8000), 'rm:*')).toBe(true);
    expect(denies('$('.repeat(8000), 'rm:*')).toBe(true);
  });
});

test('a denied command is found behind any number of wrappers, and rules for the wrappers do not allow it', () => {
  const wrapper = fc.constantFrom(
    'env',
    'env A=1',
    'command',
    'nohup',
    'nice -n 3',
    'timeout 9',
    'sudo',
    'exec',
    'stdbuf -o L',
  );
  const around = fc.constantFrom<(line: string) => string>(
    (line) => `ls; ${line}`,
    (line) => `ls $(${line})`,
    (line) => `(${line}) | cat`,
    (line) => `bash -c '${line}'`,
    (line) => `if ${line}; then ls; fi`,
  );
  fc.assert(
    fc.property(fc.array(wrapper, { maxLength: 4 }), around, (wrappers, around) => {
      const line = around([...wrappers, 'rm -rf x'].join(' '));
      expect(denies(line, 'rm:*')).toBe(true);
      expect(allows(line, 'Bash(ls:*)', 'Bash(cat:*)')).toBe(false);
    }),
  );
});
