import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyCommand } from '../../src/receipts/command-kinds.ts';

/** The classification as text: `test passed, build unclear`. */
function classified(command: string, exitCode: number | null): string {
  const kinds = classifyCommand({ command, exitCode });
  return [...kinds].map(([kind, outcome]) => `${kind} ${outcome}`).join(', ');
}

describe('a command that exits with 0', () => {
  it.each([
    ['npm test', 'test passed'],
    ['npm t', 'test passed'],
    ['npm run test:unit -- --silent', 'test passed'],
    ['yarn workspace web test', 'test passed'],
    ['pnpm --filter web test', 'test passed'],
    ['npx vitest run src/a.test.ts', 'test passed'],
    ['CI=1 node node_modules/vitest/vitest.mjs run', 'test passed'],
    ['node --test', 'test passed'],
    ['bun test', 'test passed'],
    ['pytest -q', 'test passed'],
    ['python3 -m pytest tests', 'test passed'],
    ['python -m unittest discover', 'test passed'],
    ['uv run pytest', 'test passed'],
    ['python manage.py test shop', 'test passed'],
    ['cargo test', 'test passed'],
    ['cargo +nightly nextest run', 'test passed'],
    ['go test ./...', 'test passed'],
    ['mvn -q verify', 'test passed'],
    ['./gradlew clean build test', 'build passed, test passed'],
    ['bundle exec rspec', 'test passed'],
    ['php vendor/bin/phpunit', 'test passed'],
    ['dotnet test', 'test passed'],
    ['ctest --output-on-failure', 'test passed'],
    ['make check', 'test passed'],
    ['make -C lib test', 'test passed'],
    ['./scripts/run-tests.sh', 'test passed'],
    ['bash scripts/runTests.sh', 'test passed'],
    ['timeout 60 npm test', 'test passed'],
    ['docker compose run --rm app npm test', 'test passed'],
    ['docker run node npm test', 'test passed'],
    ['docker exec app bash -c "cd /app && npm test"', 'test passed'],
    ['bash -lc "npm test"', 'test passed'],
    ['npm run build', 'build passed'],
    ['make', 'build passed'],
    ['make CC=clang', 'build passed'],
    ['make build test', 'build passed, test passed'],
    ['tsc --noEmit', 'build passed'],
    ['cargo build --release', 'build passed'],
    ['go build ./...', 'build passed'],
    ['vite build', 'build passed'],
    ['python -m build', 'build passed'],
    ['docker build -t shop .', 'build passed'],
    ['docker compose build', 'build passed'],
    ['node scripts/build.ts --no-types', 'build passed'],
    ['cmake --build out', 'build passed'],
    ['git commit -m "run npm test; build"', 'commit passed'],
    ['git -C lib commit -am x', 'commit passed'],
    ['git add -A && git commit -m x', 'commit passed'],
    ['git cherry-pick abc', 'commit passed'],
  ])('%s: %s', (command, expected) => {
    expect(classified(command, 0)).toBe(expected);
  });

  it.each([
    'ls tests',
    'cat build/out.txt',
    'grep -rn test src',
    'rm -rf build',
    'mkdir build',
    'cd test',
    'test -f package.json',
    'echo npm test',
    'echo "done; npm test"',
    'npm install jest',
    'pip install pytest',
    'python -m pip install pytest',
    'npm ci',
    'npm run lint',
    'vitest --version',
    'pytest --collect-only',
    'go run ./cmd/test',
    'git log --oneline commit',
    'git status',
    'git push',
    'git commit --dry-run',
    '# npm test',
    'ls # npm test',
    "cat > run.sh <<'EOF'\nnpm test\nEOF",
    'ls > test',
    'which pytest',
    '',
    '&&',
    '"',
  ])('is of no kind: %s', (command) => {
    expect(classified(command, 0)).toBe('');
  });
});

describe('the exit code of a line', () => {
  it.each([
    ['npm test', 1, 'test failed'],
    ['npm test', null, 'test unclear'],
    ['cd web && npm test', 1, 'test failed'],
    ['cd web; npm test', 1, 'test failed'],
    ['npm test;', 1, 'test failed'],
    ['(cd web && npm test)', 1, 'test failed'],
    ['npm test 2>&1 > log.txt', 1, 'test failed'],
    ['npm run test:a && npm run test:b', 1, 'test failed'],
    ['npm test && npm run build', 0, 'test passed, build passed'],
    // Either of the two may have failed.
    ['npm test && npm run build', 1, 'test unclear, build failed'],
    ['npm test && echo ok', 1, 'test unclear'],
    // The exit code is that of another program.
    ['npm test | tail -5', 0, 'test unclear'],
    ['npm test | tail -5', 1, 'test unclear'],
    ['set -o pipefail; npm test | tail -5', 0, 'test passed'],
    ['npm test; echo $?', 0, 'test unclear'],
    ['set -e\nnpm test\necho ok', 0, 'test passed'],
    ['npm test || true', 0, 'test unclear'],
    ['ls dist || npm test', 0, 'test unclear'],
    ['npm test &', 0, 'test unclear'],
    ['! npm test', 0, 'test unclear'],
    ['if npm test; then echo ok; fi', 0, 'test unclear'],
    ['(npm test) | tail', 0, 'test unclear'],
    ['bash -c "npm test; true"', 0, 'test unclear'],
    ['bash -c "npm test" | tail', 0, 'test unclear'],
    ['npm() { true; }; npm test', 0, 'test passed'],
  ])('%j exits with %j: %s', (command, exitCode, expected) => {
    expect(classified(command, exitCode)).toBe(expected);
  });
});

it('a line that is too long to be parsed completely tells nothing', () => {
  expect(classified(`npm test -- ${'x'.repeat(4_000)}`, 0)).toBe('test unclear');
});

it('any text is read in little time, and never throws', () => {
  const parts = fc.constantFrom('npm', ' test', '&&', ';', '"', "'", '$(', ')', '<<E\n', '\\', '`');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(parts).map((all) => all.join('')),
      ),
      (command) => {
        for (const outcome of classifyCommand({ command, exitCode: 1 }).values())
          expect(['failed', 'unclear']).toContain(outcome);
      },
    ),
  );
  for (const part of ['(', '"', "'", '$(', '<<E ', 'a', '&', '\\', 'npm test && '])
    classifyCommand({ command: part.repeat(4_000), exitCode: 0 });
});
