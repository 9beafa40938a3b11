import { describe, expect, test } from 'vitest';
import { definedName } from '../../src/base/code/definition.ts';
import { definitionPattern } from '../../src/model/offline/definition-pattern.ts';

describe('definedName', () => {
  test.each([
    ['export async function readAll(x: string) {', 'readAll'],
    ['export const TOOL_NAMES: readonly string[] = [', 'TOOL_NAMES'],
    ['export interface ToolOutput {', 'ToolOutput'],
    ['  async runTask(deps: Deps): Promise<void> {', 'runTask'],
    ['  const visit = (node) => {', 'visit'],
    ['exports.parse = function (text) {', 'parse'],
    ['Router.prototype.handle = function handle(req) {', 'handle'],
    ['def read_config(path):', 'read_config'],
    ['    async def fetch(self):', 'fetch'],
    ['class HttpServer(Base):', 'HttpServer'],
    ['func (r *Router) ServeHTTP(w http.ResponseWriter) {', 'ServeHTTP'],
    ['func NewRouter() *Router {', 'NewRouter'],
    ['type Handler interface {', 'Handler'],
    ['pub(crate) fn parse_args(args: &[String]) -> Args {', 'parse_args'],
    ['pub struct Matcher<M> {', 'Matcher'],
    ['impl<M: Match> Searcher {', 'Searcher'],
    ['macro_rules! err {', 'err'],
    ['  public static List<String> splitLines(String text) {', 'splitLines'],
    ['static int read_header(struct conn *c, char *buf) {', 'read_header'],
    ['#define MAX_DEPTH 10', 'MAX_DEPTH'],
    ['  const found = items.length;', null],
    ['  if (found) {', null],
    ['  } else if (other) {', null],
    ['  type ToolResultPart,', null],
    ['  return run(input);', null],
    ['// function of the thing', null],
    ['', null],
    [`const ${'x'.repeat(400)} = 1`, null],
  ])('%s', (line, name) => {
    expect(definedName(line)).toBe(name);
  });
});

test.each([
  ['export function readTokens() {', true],
  ['  readToken(x) {', true],
  ['class TokenReader:', true],
  ['readToken(x);', false],
])('the pattern for Grep finds %s: %s', (line, expected) => {
  expect(new RegExp(definitionPattern(['[Tt]oken'])).test(line)).toBe(expected);
});
