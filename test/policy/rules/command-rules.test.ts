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

describe('a text that a line feeds to a program that runs it', () => {
  /** A line, and rules for each program of the line. */
  type Fed = readonly [line: string, ...rules: readonly string[]];

  test.each<Fed>([
    ['sh <<E\nrm -rf ~\nE', 'Bash(sh)'],
    ["sh <<'E'\nrm -rf ~\nE", 'Bash(sh)'],
    ["sh <<'E'\nrm -rf ~\nE", 'Bash(sh:*)'],
    ['bash <<< "rm -rf ~"', 'Bash(bash)'],
    ["sh <<'E'\npython3\necho 1\nE", 'Bash(sh)', 'Bash(python3)', 'Bash(echo 1)'],
    ['bash -s <<< "rm x"', 'Bash(bash -s)'],
    ['cat x | sh', 'Bash(cat x)', 'Bash(sh)'],
    ['cat x | sh -', 'Bash(cat x)', 'Bash(sh:*)'],
    ['cat x | bash /dev/stdin', 'Bash(cat x)', 'Bash(bash:*)'],
    ['cat x | (sh)', 'Bash(cat x)', 'Bash(sh)'],
    ['cat x | { true; sh; }', 'Bash(cat x)', 'Bash(true)', 'Bash(sh)'],
    ['cat x | tee >(sh)', 'Bash(cat x)', 'Bash(tee:*)', 'Bash(sh)'],
    ['cat x | env sh', 'Bash(cat x)', 'Bash(env sh)'],
    ['cat x | timeout 5 sudo bash', 'Bash(cat x)', 'Bash(timeout 5 sudo bash)'],
    ["cat x | bash -c 'sh'", 'Bash(cat x)', "Bash(bash -c 'sh')"],
    ['cat x | find . -exec sh \\;', 'Bash(cat x)', 'Bash(find . -exec sh \\;)'],
    ['cat x | docker exec -i box sh', 'Bash(cat x)', 'Bash(docker exec -i box sh)'],
    ['cat x | ssh host', 'Bash(cat x)', 'Bash(ssh:*)'],
    ['sudo -i <<< "rm x"', 'Bash(sudo -i)'],
    ['cat x | python3', 'Bash(cat x)', 'Bash(python3)'],
    ['python3 - <<< "import os"', 'Bash(python3 -)'],
    ['python3 -v <<< "import os"', 'Bash(python3 -v)'],
    ['python3 <(curl x)', 'Bash(python3:*)', 'Bash(curl x)'],
    ['cat x | node', 'Bash(cat x)', 'Bash(node)'],
    ['cat x | perl -w', 'Bash(cat x)', 'Bash(perl:*)'],
    ['cat x | uv run -', 'Bash(cat x)', 'Bash(uv run:*)'],
    ['cat x | make -f -', 'Bash(cat x)', 'Bash(make:*)'],
    ['cat x | awk -f - y', 'Bash(cat x)', 'Bash(awk:*)'],
    ['cat x | psql', 'Bash(cat x)', 'Bash(psql:*)'],
    ["psql <<< '\\! rm x'", 'Bash(psql:*)'],
    ['cat x | sh -s -- -c', 'Bash(cat x)', 'Bash(sh -s -- -c)'],
    ['cat x | python3 - -c', 'Bash(cat x)', 'Bash(python3 - -c)'],
    ['cat x | ruby -I lib', 'Bash(cat x)', 'Bash(ruby -I lib)'],
    ['cat x | cmake -P /dev/stdin', 'Bash(cat x)', 'Bash(cmake:*)'],
    ['python3 /dev/fd/3 3<<< "import os"', 'Bash(python3:*)'],
    ['ls | xargs sh', 'Bash(ls)', 'Bash(xargs sh)'],
    ['ls | parallel', 'Bash(ls)', 'Bash(parallel)'],
    ['sh <&3 3<<< "rm x"', 'Bash(sh)'],
    ['exec <<< "rm x"; sh', 'Bash(exec)', 'Bash(sh)'],
    ['sh <<< "rm y"', 'Bash(sh <<< "rm x")'],
  ])('%j is not covered by rules for the programs', (line, ...allow) => {
    expect(allows(line, ...allow)).toBe(false);
    expect(allows(line, `Bash(${line.includes('\n') ? '*' : line})`)).toBe(true);
  });

  test.each<Fed>([
    ["sh <<'E'\nnpm test\nE", 'Bash(sh)', 'Bash(npm test)'],
    ['sh', 'Bash(sh)'],
    ['sh | head', 'Bash(sh)', 'Bash(head)'],
    ['cat x | python3 -u x.py', 'Bash(cat x)', 'Bash(python3:*)'],
    ['cat x | python3 -m json.tool', 'Bash(cat x)', 'Bash(python3:*)', 'Bash(json.tool)'],
    ['cat x | python3 -c "1"', 'Bash(cat x)', 'Bash(python3 -c:*)'],
    ['cat x | node -e "1"', 'Bash(cat x)', 'Bash(node -e:*)'],
    ["cat x | bash -o pipefail -c 'wc -l'", 'Bash(cat x)', 'Bash(bash:*)', 'Bash(wc:*)'],
    ["cat x | Rscript -e '1'", 'Bash(cat x)', 'Bash(Rscript -e:*)'],
    ['cat x | ruby -I lib x.rb -', 'Bash(cat x)', 'Bash(ruby:*)'],
    ['cat x | ssh host "tar x"', 'Bash(cat x)', 'Bash(ssh host:*)', 'Bash(tar x)'],
    ['cat x | make test', 'Bash(cat x)', 'Bash(make:*)'],
    ["psql <<< 'select 1'", 'Bash(psql:*)'],
    ['git commit -F - <<E\nx\nE', 'Bash(git commit:*)'],
    ['ls | xargs grep x', 'Bash(ls)', 'Bash(xargs grep:*)'],
    ['npm test | tail -5', 'Bash(npm test)', 'Bash(tail:*)'],
  ])('%j is covered, since no program runs the text or rules cover it', (line, ...allow) =>
    expect(allows(line, ...allow)).toBe(true),
  );

  test.each([
    "sh <<'E'\nrm x\nE",
    'cat x | sh',
    'ssh host <<< "rm x"',
    `python3 <<'E'\nos.system("rm x")\nE`,
    "psql <<< '\\! rm x'",
    'cat x | su',
    'cat x | bash -s -- y',
  ])('%j may be what a deny rule means', (line) => expect(denies(line, 'rm:*')).toBe(true));

  test.each(["cat x | bash -o pipefail -c 'wc -l'", 'cat x | python3', "psql <<< 'select 1'"])(
    '%j is not what a deny rule for another program means',
    (line) => expect(denies(line, 'rm:*')).toBe(false),
  );
});
