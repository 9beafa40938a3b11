import { expect, it } from 'vitest';
import { parsePatch } from '../../src/protocol/patch.ts';

it('reads every part of the published grammar', () => {
  const patch = `*** Begin Patch
*** Add File: hello.txt
+Hello world
+
*** Update File: src/app.py
*** Move to: src/main.py
@@ class App
@@ def greet():
 # kept
-print("Hi")
+print("Hello, world!")

+last
*** End of File
*** Delete File: obsolete.txt
*** End Patch`;
  expect(parsePatch(patch)).toEqual({
    ok: true,
    files: [
      { kind: 'add', path: 'hello.txt', line: 2, content: 'Hello world\n\n' },
      {
        kind: 'update',
        path: 'src/app.py',
        line: 5,
        moveTo: 'src/main.py',
        chunks: [
          {
            above: ['class App', 'def greet():'],
            line: 7,
            isAtEnd: true,
            lines: [
              { kind: 'keep', text: '# kept' },
              { kind: 'remove', text: 'print("Hi")' },
              { kind: 'add', text: 'print("Hello, world!")' },
              { kind: 'keep', text: '' },
              { kind: 'add', text: 'last' },
            ],
          },
        ],
      },
      { kind: 'delete', path: 'obsolete.txt', line: 15 },
    ],
  });
});

it('begins a new change at each @@ below a change', () => {
  const patch = '*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n@@\n-3\n+4\n*** End Patch\n';
  expect(parsePatch(patch)).toMatchObject({
    files: [
      {
        chunks: [
          { above: [], line: 3 },
          { above: [], line: 6 },
        ],
      },
    ],
  });
});

it('ignores a here-document around a patch, and CRLF', () => {
  const patch =
    "apply_patch <<'EOF'\r\n*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\nEOF\r\n";
  expect(parsePatch(patch)).toEqual({
    ok: true,
    files: [{ kind: 'add', path: 'a', line: 3, content: 'x\n' }],
  });
});

it.each([
  ['', 1, 'the patch has no line "*** Begin Patch"'],
  ['*** Begin Patch\n*** Add File: a\n+x', 3, 'the patch does not end with "*** End Patch"'],
  ['*** Begin Patch\n*** End Patch', 2, 'the patch changes no file'],
  [
    '*** Begin Patch\nhello\n*** End Patch',
    2,
    'expected "*** Add File: PATH", "*** Update File: PATH" or "*** Delete File: PATH"',
  ],
  [
    '*** Begin Patch\n*** Add File: a\nx\n*** End Patch',
    3,
    'each line of an added file must begin with "+"',
  ],
  [
    '*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch',
    3,
    'expected "*** Add File: PATH", "*** Update File: PATH" or "*** Delete File: PATH"',
  ],
  ['*** Begin Patch\n*** Update File: a\n*** End Patch', 2, 'the update has no changes'],
  [
    '*** Begin Patch\n*** Update File: a\nx\n*** End Patch',
    3,
    'a line of a change must begin with " ", "+" or "-"',
  ],
  [
    '*** Begin Patch\n*** Update File: a\n@@ f\n x\n*** End Patch',
    3,
    'the change adds and removes no line',
  ],
  [
    '*** Begin Patch\n*** Update File: a\n-x\n*** Move to: b\n*** End Patch',
    4,
    '"*** Move to:" must follow the heading of its file',
  ],
  [
    '*** Begin Patch\n*** Update File: a\n*** End of File\n*** End Patch',
    3,
    '"*** End of File" must follow a change',
  ],
] as const)('refuses %j', (patch, line, problem) => {
  expect(parsePatch(patch)).toEqual({ ok: false, line, problem });
});
