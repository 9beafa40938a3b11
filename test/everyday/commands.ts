import { GIT_GROUPS } from './git-commands.ts';

/** Commands that are run one after another in one place. */
export interface Group {
  readonly title: string;
  /** Programs that it needs, with the package of Debian that has them. */
  readonly needs?: Readonly<Record<string, string>>;
  /** Packages of npm whose programs it needs. */
  readonly packages?: readonly string[];
  /** Run by bash in the workspace, before the first command and without a sandbox. */
  readonly prepare: string;
  /** Below the workspace: where the commands run. Default: in the workspace itself. */
  readonly cwd?: string;
  readonly commands: readonly string[];
}

const LIBRARY = `mkdir lib && echo '{"name":"lib","version":"1.0.0","bin":{"tool":"tool.js"}}' > lib/package.json
printf '#!/usr/bin/env node\\nconsole.log("tool")\\n' > lib/tool.js && chmod +x lib/tool.js`;

export const GROUPS: readonly Group[] = [
  ...GIT_GROUPS,
  {
    title: 'npm',
    packages: ['node-gyp@12'],
    needs: { make: 'make', 'g++': 'g++' },
    prepare: `${LIBRARY} && mkdir addon && echo '{"targets":[{"target_name":"a","sources":["a.c"]}]}' > addon/binding.gyp
printf '#include <node_api.h>\\nNAPI_MODULE_INIT() { return exports; }\\n' > addon/a.c`,
    commands: [
      'npm init -y > /dev/null',
      'npm install ./lib --no-audit --no-fund',
      'npm ls --depth=0',
      'npm pkg set scripts.build="tool > built.txt" scripts.test="node --test"',
      'npm run build --silent',
      `printf 'require("node:test")("ok", () => {})' > a.test.js && npm test --silent > /dev/null`,
      'npx tool',
      'npm exec -- tool',
      'npm ci --no-audit --no-fund',
      'npm pack --silent',
      'npm version patch --no-git-tag-version',
      'npm uninstall lib --no-audit --no-fund',
      'node -e "const s = require(`http`).createServer((q, r) => r.end(`hi`)).listen(0, () => fetch(`http://127.0.0.1:` + s.address().port).then((r) => r.text()).then((t) => { console.log(t); s.close(); s.closeAllConnections(); }))"',
      'cd addon && node-gyp rebuild --nodedir=/usr > /dev/null 2>&1 && test -f build/Release/a.node',
    ],
  },
  {
    title: 'pnpm',
    packages: ['pnpm@10'],
    prepare: LIBRARY,
    commands: [
      'pnpm init > /dev/null',
      'pnpm add ./lib > /dev/null',
      'pnpm install --frozen-lockfile > /dev/null',
      'pnpm exec tool',
      'pnpm pkg set scripts.build="tool > built.txt" && pnpm run build > /dev/null',
      'pnpm remove lib > /dev/null',
    ],
  },
  {
    title: 'yarn',
    packages: ['yarn@1'],
    prepare: LIBRARY,
    commands: [
      'yarn init -y > /dev/null',
      'yarn add file:./lib > /dev/null',
      'yarn install --frozen-lockfile > /dev/null',
      'yarn --silent tool',
      'yarn remove lib > /dev/null',
    ],
  },
  {
    title: 'Python',
    needs: { python3: 'python3-venv' },
    prepare: `mkdir -p wheel/lib-1.0.dist-info wheels && echo 'VALUE = 7' > wheel/lib.py
printf 'Metadata-Version: 2.1\\nName: lib\\nVersion: 1.0\\n' > wheel/lib-1.0.dist-info/METADATA
printf 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n' > wheel/lib-1.0.dist-info/WHEEL
printf 'lib.py,,\\nlib-1.0.dist-info/METADATA,,\\nlib-1.0.dist-info/WHEEL,,\\nlib-1.0.dist-info/RECORD,,\\n' > wheel/lib-1.0.dist-info/RECORD
# An archive contains the times of its files, and it has to be the same in both places.
find wheel -exec touch -d 2026-01-01 {} +
(cd wheel && python3 -m zipfile -c ../wheels/lib-1.0-py3-none-any.whl lib.py lib-1.0.dist-info)
printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test(self): pass\\n' > test_a.py`,
    commands: [
      'python3 -m venv v',
      'v/bin/python -m pip install -q --no-index --find-links wheels lib',
      'v/bin/python -c "import lib; print(lib.VALUE)"',
      'v/bin/pip list --format=freeze | grep lib',
      'v/bin/pip uninstall -q -y lib',
      'python3 -m unittest -q',
      "python3 -c \"import tempfile, sqlite3; tempfile.mkdtemp(); sqlite3.connect('a.db').execute('create table t(x)')\"",
      `(timeout 20 python3 -m http.server 8765 > /dev/null 2>&1 & p=$!; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; python3 -c "import urllib.request as u; print(len(u.urlopen('http://127.0.0.1:8765/test_a.py').read()))" 2>/dev/null && break; done; kill $p)`,
    ],
  },
  {
    title: 'cargo',
    needs: { cargo: 'cargo' },
    prepare: `mkdir -p dep/src && printf '[package]\\nname = "dep"\\nversion = "0.1.0"\\nedition = "2021"\\n' > dep/Cargo.toml
echo 'pub fn seven() -> u32 { 7 }' > dep/src/lib.rs`,
    commands: [
      'cargo init -q --name app .',
      `printf 'dep = { path = "dep" }\\n' >> Cargo.toml && echo 'fn main() { println!("{}", dep::seven()); } #[test] fn t() {}' > src/main.rs`,
      'cargo build -q --offline',
      'cargo run -q --offline',
      'cargo test -q --offline > /dev/null',
      'cargo check -q --offline',
      'cargo clean -q --offline',
    ],
  },
  {
    title: 'go',
    needs: { go: 'golang' },
    prepare: `printf 'package main\\n\\nfunc main() { println(seven()) }\\n\\nfunc seven() int { return 7 }\\n' > main.go
printf 'package main\\n\\nimport "testing"\\n\\nfunc TestSeven(t *testing.T) {\\n\\tif seven() != 7 {\\n\\t\\tt.Fail()\\n\\t}\\n}\\n' > main_test.go`,
    commands: [
      'go mod init example.test/app',
      'go build -trimpath -o app .',
      './app',
      'go test ./... > /dev/null',
      'go vet ./... && gofmt -l .',
      'go run .',
    ],
  },
  {
    title: 'make and files',
    needs: { make: 'make', gcc: 'gcc' },
    prepare: `printf 'app: app.c\\n\\tgcc -o app app.c\\n\\nclean:\\n\\trm -f app\\n' > Makefile
echo 'int main(void) { return 7; }' > app.c && mkdir -p d/e && echo x > d/e/x.txt && echo y > d/y.txt`,
    commands: [
      'make',
      './app',
      'make clean',
      'cp -r d copy && cp -r . "$TMPDIR/all" && ls -A "$TMPDIR/all" | sort',
      'find . -type f | sort',
      'find d -name "*.txt" -exec sed -i s/x/z/ {} +',
      'tar czf "$TMPDIR/d.tgz" d && mkdir out && tar xzf "$TMPDIR/d.tgz" -C out',
      'grep -rn z d | sort; wc -l < app.c; sort app.c | uniq -c',
      'ln -s d/y.txt link && chmod 600 d/y.txt && mv copy moved && rm -rf out',
      'echo out > /dev/stdout; echo err > /dev/stderr; echo fd > /dev/fd/1; ls | tee /dev/stderr | wc -l',
      'mktemp > /dev/null && mkdir -p a/b/c && touch a/b/c/d && du -a a | wc -l',
      'diff -r d moved; seq 3 | xargs -I{} touch {}.txt; ls *.txt',
    ],
  },
];
