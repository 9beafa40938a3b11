import * as fc from 'fast-check';
import { randomRuns } from '../engine/random-runs.ts';

/**
 * Command lines over real programs, of which many change things and all that is named lies in the
 * throw-away world: some are harmless, most are not, and all are such as a shell takes.
 */
const PATHS = [
  'a.txt',
  'b.txt',
  'dir',
  'dir/c.txt',
  'new.txt',
  'made/new.txt',
  '.',
  '*.txt',
  '"with space.txt"',
  "'a.txt'",
  './a.txt',
  '$PWD/a.txt',
  '"$PWD"/new.txt',
  '../ws/a.txt',
  '.git/config',
  '.gitignore',
  '~/new.txt',
  '$HOME/notes.txt',
  '@out@/new.txt',
  '@out@/secret.txt',
  '@tmp@/other.txt',
  '${TMPDIR:-@tmp@}/new.txt',
  '-- a.txt',
  '-delete',
] as const;
const path = fc.constantFrom(...PATHS);

/** Templates; `%` is a path. */
const READS = [
  'cat %',
  'cat % %',
  'head -n 2 %',
  'tail -n +1 %',
  'wc -l %',
  'ls %',
  'ls -la %',
  'grep -n one %',
  'grep -rn two %',
  'find % -type f',
  'find . -name %',
  'sort %',
  'uniq %',
  'cut -c1-3 %',
  'diff % %',
  'stat %',
  'du -s %',
  'echo %',
  'printf "%s" %'.replace('%s', '\u0000'),
  'pwd',
  'true',
  'date',
  'basename %',
  'realpath %',
  'test -f %',
  'git status',
  'git log --oneline %',
  'git diff %',
  'git show HEAD',
  'git ls-files %',
  'git blame %',
  'git -C % status',
] as const;

const EFFECTS = [
  'rm %',
  'rm -rf %',
  'touch %',
  'mv % %',
  'cp % %',
  'cp -r % %',
  'ln % new-hard',
  'ln -sf % new-link',
  'mkdir -p %',
  'rmdir %',
  'chmod 777 %',
  'chmod u+s %',
  'truncate -s 0 %',
  'tee % < a.txt',
  'tee -a %',
  'dd if=a.txt of=% status=none',
  'install -m 777 a.txt %',
  'sed -i s/one/two/ %',
  'sed -n "w %" a.txt',
  'sed "1e touch %" a.txt',
  'sort % -o %',
  'sort --output=% a.txt',
  'uniq a.txt %',
  'split -b 2 a.txt %',
  'find . -name a.txt -delete',
  'find % -exec touch {} +',
  'find % -exec rm {} \\;',
  'find . -maxdepth 1 -fprint %',
  'xargs touch <<< %',
  'awk \'BEGIN { print 1 > "%" }\'',
  'awk \'BEGIN { system("touch %") }\'',
  'tar cf % a.txt',
  'patch -p0 -o % a.txt /dev/null',
  'git add %',
  'git commit -q --allow-empty -m x',
  'git checkout -q -b new',
  'git branch new',
  'git tag new',
  'git stash -q',
  'git rm -q --cached %',
  'git mv % new.txt',
  'git config user.name x',
  'git diff --output=% HEAD',
  'git log --output=%',
  'git -c alias.x="!touch %" x',
  'git init -q %',
  'git reset -q --hard',
  'git clean -qfd',
  'git worktree add -q %',
  'bash -c "touch %"',
  'sh -c "rm %"',
  'eval "touch %"',
  'exec touch %',
  "python3 -c \"open('%', 'w')\"",
  "node -e \"fs.writeFileSync('%', 'x')\"",
  'mkfifo %',
  'unlink %',
  'mktemp',
  'mktemp -p %',
] as const;

function filled(templates: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...templates), path, path).map(([template, first, second]) =>
    template
      .replace('%', () => first)
      .replace('%', () => second)
      .replace('\u0000', '%s'),
  );
}

const simple = fc.oneof(
  { weight: 3, arbitrary: filled(READS) },
  { weight: 4, arbitrary: filled(EFFECTS) },
);

const redirected = fc
  .tuple(
    simple,
    fc.constantFrom('>', '>>', '>|', '&>', '2>', '<', '<>', '2>&1 >', '3>', '>&'),
    path,
  )
  .map(([command, operator, target]) => `${command} ${operator} ${target}`);

const wrapped = fc
  .tuple(
    fc.constantFrom(
      'env',
      'env -i',
      'command',
      'nohup',
      'nice',
      'timeout 2',
      'time',
      'stdbuf -o0',
      'xargs',
      '!',
      'builtin',
      'X=1',
      'PATH=$PATH',
      'sudo -n',
      '\\',
    ),
    simple,
  )
  .map(([wrapper, command]) => (wrapper === '\\' ? `\\${command}` : `${wrapper} ${command}`));

const inside = fc
  .tuple(
    fc.constantFrom(
      'echo $(%)',
      'echo `%`',
      'echo "$(%)"',
      'cat <(%)',
      'cat <<EOF\n$(%)\nEOF',
      "cat <<'EOF'\n%\nEOF",
      'cat <<< "$(%)"',
      'echo ${x:-$(%)}',
      'echo $((x[$(%)]))',
      '(%)',
      '{ %; }',
      'if %; then %; fi',
      'for f in a.txt dir; do %; done',
      'while %; do break; done',
      'case x in *) %;; esac',
      'f() { %; }; f',
      'trap "%" EXIT',
      'x=$(%); echo "$x"',
      'test -n "$(%)"',
      '[[ -n $(%) ]]',
      'cd dir && %',
      'cd @out@; %',
      '# %\n%',
      '"%"',
      "bash <<'EOF'\n%\nEOF",
    ),
    simple,
    simple,
  )
  .map(([frame, first, second]) => frame.replace('%', () => first).replace('%', () => second));

const line = fc.oneof(simple, simple, redirected, wrapped, inside);

/** One command line. */
const commandLine: fc.Arbitrary<string> = fc
  .tuple(
    line,
    fc.array(fc.tuple(fc.constantFrom('&&', '||', ';', '|', '|&', '&', '\n'), line), {
      maxLength: 2,
    }),
  )
  .map(([first, rest]) =>
    rest.reduce((all, [operator, next]) => `${all} ${operator} ${next}`, first),
  );

/** That many, always the same, and a tenth as many that are new in every run. */
export function fuzzedCommands(count: number): readonly string[] {
  const fresh = Math.trunc(Math.random() * 2 ** 31);
  return [
    ...fc.sample(commandLine, { seed: 4, ...randomRuns(count).runs }),
    ...fc.sample(commandLine, { seed: fresh, numRuns: count / 10 }),
  ];
}
