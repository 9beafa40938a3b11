import { measureCpuMs } from '../../../cpu-time.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseOptionTable } from '../../../../src/policy/shell/options/option-table.ts';
import { SUBCOMMAND_PROGRAMS } from '../../../../src/policy/shell/options/subcommand-programs.ts';
import { createDecisionInput } from '../../../../src/policy/decision-input.ts';
import { suggestRule } from '../../../../src/policy/suggest-rule.ts';
import { bash, CONTEXT, rights } from '../../support.ts';
import { allows, denies } from '../inner-commands/support.ts';

describe('a deny rule for a subcommand applies whatever options come before it', () => {
  test.each([
    ['git -C . push', 'git push:*'],
    ['git -C /elsewhere push origin', 'git push:*'],
    ['git --no-pager push', 'git push:*'],
    ['git -P push', 'git push:*'],
    ['git -c a.b=c push', 'git push:*'],
    ['git -c a.b=c -c d.e=f --no-pager -C x push', 'git push:*'],
    ['git --git-dir=x push', 'git push:*'],
    ['git --git-dir x --work-tree y push', 'git push:*'],
    ['git --exec-path=x push', 'git push:*'],
    ['git --some-new-option push', 'git push:*'],
    ['git --some-new-option value push', 'git push:*'],
    ['git -C "$DIR" push', 'git push:*'],
    ['git -C $DIR log', 'git push:*'],
    ['git $OPTIONS push', 'git push:*'],
    ['/usr/bin/git -C . push', 'git push:*'],
    ['env git -C . push', 'git push:*'],
    ["bash -c 'git -C . push'", 'git push:*'],
    ['git -C . push', 'git push'],
    ['git -C . push --force', 'git push*'],
    ['git -C . push origin --force', 'git push * --force'],
    ['git -C . push -v origin', 'git push origin:*'],
    ['git stash -q drop', 'git stash drop:*'],
    ['npm --prefix . publish', 'npm publish:*'],
    ['npm --prefix=. publish', 'npm publish'],
    ['npm --loglevel silent publish', 'npm publish:*'],
    ['npm --json true publish', 'npm publish:*'],
    ['npm -w packages/a run deploy', 'npm run deploy:*'],
    ['npm run --silent deploy', 'npm run deploy:*'],
    ['pnpm -C x publish', 'pnpm publish:*'],
    ['pnpm --filter x publish', 'pnpm publish:*'],
    ['yarn --cwd x publish', 'yarn publish:*'],
    ['docker --context x run img', 'docker run:*'],
    ['docker -H tcp://x run img', 'docker run:*'],
    ['docker compose -f x.yml up', 'docker compose up:*'],
    ['docker --context x compose -f x.yml -p y up', 'docker compose up:*'],
    ['kubectl -n x delete pod', 'kubectl delete:*'],
    ['kubectl -nx delete pod', 'kubectl delete:*'],
    ['kubectl --namespace=x delete -n y pod', 'kubectl delete pod:*'],
    ['helm -n x delete y', 'helm delete:*'],
    ['cargo +nightly publish', 'cargo publish:*'],
    ['cargo --config a=b -q publish', 'cargo publish:*'],
    ['go -C x build', 'go build:*'],
    ['gh -R x pr merge 1', 'gh pr merge:*'],
    ['gh pr -R x merge 1', 'gh pr merge:*'],
    ['gh pr --repo=x merge', 'gh pr merge:*'],
    ['systemctl --user restart x', 'systemctl restart:*'],
    ['systemctl -H host restart x', 'systemctl restart:*'],
    ['pip --quiet install x', 'pip install:*'],
    ['pip --proxy p install x', 'pip install:*'],
    ['terraform -chdir=x apply', 'terraform apply:*'],
    ['aws --profile x s3 rm s3://b', 'aws s3 rm:*'],
    ['aws s3 --profile x rm s3://b', 'aws s3 rm:*'],
    ['gcloud --project x compute instances delete y', 'gcloud compute instances delete:*'],
    ['gcloud compute --project x instances delete y', 'gcloud compute instances delete:*'],
    ['make -C x deploy', 'make deploy:*'],
    ['make -j4 build deploy', 'make deploy:*'],
    ['make ENV=live deploy', 'make deploy:*'],
    ['apt-get -y -o a=b install x', 'apt-get install:*'],
    ['unheard-of --option value deploy', 'unheard-of deploy:*'],
    ['unheard-of -v deploy', 'unheard-of deploy:*'],
  ])('%s by %s', (line, specifier) => expect(denies(line, specifier)).toBe(true));

  test.each([
    ['git log --grep push', 'git push:*'],
    ['git --no-pager log push', 'git push:*'],
    ['git -C push log', 'git push:*'],
    ['git -C "$DIR" log', 'git push:*'],
    ['git -c push=x status', 'git push:*'],
    ['git commit -m push', 'git push:*'],
    ['git stash push', 'git push:*'],
    ['npm --prefix publish test', 'npm publish:*'],
    ['npm run publish', 'npm publish:*'],
    ['npm --loglevel silent test', 'npm publish:*'],
    ['docker --context run ps', 'docker run:*'],
    ['kubectl -n delete get pods', 'kubectl delete:*'],
    ['cargo +nightly build', 'cargo publish:*'],
    ['terraform -chdir=apply plan', 'terraform apply:*'],
    ['make -C deploy build', 'make deploy:*'],
    ['git -C . push origin', 'git push'],
    ['rm -f x', 'rm -rf:*'],
    ['unheard-of list deploy', 'unheard-of deploy:*'],
    [`prettier --write ${'a.ts '.repeat(100)}`, 'git push*'],
    [`prettier --write ${'a.ts '.repeat(100)}`, '*--force*'],
  ])('but not %s by %s', (line, specifier) => expect(denies(line, specifier)).toBe(false));
});

describe('an allow rule for a subcommand covers options that do not change its effect', () => {
  test.each([
    ['git --no-pager diff', 'git diff:*'],
    ['git -P diff HEAD', 'git diff:*'],
    ['git -C . diff', 'git diff:*'],
    ['git -C ./ --no-pager diff --stat', 'git diff:*'],
    ['git -c core.pager=cat -c color.ui=never diff', 'git diff:*'],
    ['git --no-pager diff', 'git diff'],
    ['git --no-pager diff x main', 'git diff * main'],
    ['npm --silent test', 'npm test'],
    ['npm --prefix . --loglevel error test', 'npm test:*'],
    ['cargo -q --color=never test', 'cargo test:*'],
    ['go -C . test ./...', 'go test:*'],
    ['make -s -C . test', 'make test:*'],
    ['terraform -chdir=. plan', 'terraform plan:*'],
    ['pip --quiet list', 'pip list'],
    ['git --exec-path=x diff', 'git --exec-path=x diff:*'],
  ])('%s by %s', (line, specifier) => expect(allows(line, specifier)).toBe(true));

  test.each([
    ['git -c core.pager=evil diff', 'git diff:*'],
    ['git -c core.fsmonitor=evil diff', 'git diff:*'],
    ['git -c color.ui=$X diff', 'git diff:*'],
    ['git -c alias.diff=!evil diff', 'git diff:*'],
    ['git --exec-path=x diff', 'git diff:*'],
    ['git -C /outside diff', 'git diff:*'],
    ['git -C .. diff', 'git diff:*'],
    ['git -C ./.. diff', 'git diff:*'],
    ['git -C sub diff', 'git diff:*'],
    ['git -C "$DIR" diff', 'git diff:*'],
    ['git --git-dir=x diff', 'git diff:*'],
    ['git --work-tree x diff', 'git diff:*'],
    ['git -p diff', 'git diff:*'],
    ['git --some-new-option diff', 'git diff:*'],
    ['git --no-pager --some-new-option diff', 'git diff:*'],
    ['git --no-pager push diff', 'git diff:*'],
    ['npm --prefix /x test', 'npm test:*'],
    ['npm --script-shell ./evil test', 'npm test:*'],
    ['cargo +evil test', 'cargo test:*'],
    ['cargo --config build.rustc-wrapper=evil test', 'cargo test:*'],
    ['docker --context x ps', 'docker ps:*'],
    ['kubectl -n x get pods', 'kubectl get:*'],
    ['make -f evil.mk test', 'make test:*'],
    ['unheard-of -v list', 'unheard-of list:*'],
  ])('but not %s by %s', (line, specifier) => expect(allows(line, specifier)).toBe(false));
});

test.each([
  ['git --no-pager push origin', 'Bash(git push origin)'],
  ['git -C sub push', 'Bash(git -C sub push)'],
  ['git push', 'Bash(git push)'],
  ['git --no-pager push && ls', 'Bash(git --no-pager push && ls)'],
])('the rule that would allow %s is %s', (line, rule) => {
  expect(suggestRule(createDecisionInput(bash(line), rights(), CONTEXT))).toBe(rule);
});

test('long lines are analysed quickly', () => {
  const cpuMs = measureCpuMs(() => {
    for (const line of ['-x y '.repeat(3000), 'a '.repeat(8000), '-C . '.repeat(3000)]) {
      expect(denies(`git ${line} push`, 'git push:*')).toBe(!line.startsWith('a'));
      denies(`git ${line} push`, 'git * --force');
      denies(`prettier ${line}`, '*x*y*z*');
      allows(`git ${line} push`, 'git push:*', 'git * main');
    }
  });
  expect(cpuMs).toBeLessThan(5000);
});

describe('the table', () => {
  test.each([...SUBCOMMAND_PROGRAMS])('lists the harmless options of %s as options', (_, each) => {
    const { short, long } = parseOptionTable(each.options);
    const unlisted = Object.keys(each.neutralOptions ?? {}).filter((name) =>
      name.startsWith('--') ? !long.has(name.slice(2)) : !short.has(name.slice(1)),
    );
    expect(unlisted).toEqual([]);
  });
});

/** An option of a program as it stands before the subcommand, in each form that it has. */
function optionOf(program: string): fc.Arbitrary<readonly string[]> {
  const known = SUBCOMMAND_PROGRAMS.get(program);
  const { short, long } = parseOptionTable(known?.options ?? '');
  const dashes = known?.singleDash === true ? '-' : '--';
  const forms = [
    ...[...short].map(([name, kind]) => ({ name: `-${name}`, kind, joint: '' })),
    ...[...long].map(([name, kind]) => ({ name: `${dashes}${name}`, kind, joint: '=' })),
  ];
  const values = fc.constantFrom('.', 'x', '7', 'true', '/a/b', 'user.name=x', '"a b"');
  return fc
    .tuple(fc.constantFrom(...forms), values, fc.boolean())
    .map(([{ name, kind, joint }, value, isAttached]) => {
      if (kind === 'none' || (kind === 'optional_attached' && !isAttached)) return [name];
      return isAttached || kind === 'optional_attached'
        ? [`${name}${joint}${value}`]
        : [name, value];
    });
}

const anyProgram = fc.constantFrom(
  ...[...SUBCOMMAND_PROGRAMS.keys()].filter((name) => !name.includes(' ')),
);
const unknownOption = fc.constantFrom(['--zz'], ['--zz', 'x'], ['--zz=x'], ['-Z9'], ['--']);

const commandWithOptions = anyProgram.chain((program) =>
  fc.record({
    program: fc.constant(program),
    options: fc.array(fc.oneof({ weight: 4, arbitrary: optionOf(program) }, unknownOption), {
      maxLength: 5,
    }),
    operands: fc.array(fc.constantFrom('a', '-x', '"$Y"', 'c/d'), { maxLength: 3 }),
  }),
);

describe('whatever options come before a subcommand', () => {
  test('a deny rule for it applies', () => {
    fc.assert(
      fc.property(commandWithOptions, ({ program, options, operands }) => {
        const line = [program, ...options.flat(), 'target', ...operands].join(' ');
        expect(denies(line, `${program} target:*`)).toBe(true);
        expect(denies(line, `${program} target*`)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('a deny rule for a subcommand of it applies, with options between the two', () => {
    fc.assert(
      fc.property(commandWithOptions, optionOf('npm'), ({ program, options }, between) => {
        const line = [program, ...options.flat(), 'group', ...between, 'target'].join(' ');
        expect(denies(line, `${program} group target:*`)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('an allow rule for it covers no more than with each option left out', () => {
    fc.assert(
      fc.property(commandWithOptions, ({ program, options, operands }) => {
        const line = (kept: readonly (readonly string[])[]): string =>
          [program, ...kept.flat(), 'target', ...operands].join(' ');
        fc.pre(allows(line(options), `${program} target:*`));
        for (const option of options) {
          const fewer = options.filter((each) => each !== option);
          expect(allows(line(fewer), `${program} target:*`)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('their order does not matter', () => {
    const shuffled = commandWithOptions.chain((command) =>
      fc.tuple(
        fc.constant(command),
        fc.shuffledSubarray([...command.options], { minLength: command.options.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([{ program, options }, others]) => {
        const [first, second] = [options, others].map((each) =>
          allows([program, ...each.flat(), 'target'].join(' '), `${program} target:*`),
        );
        expect(first).toBe(second);
      }),
      { numRuns: 500 },
    );
  });
});
