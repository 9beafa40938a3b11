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
    ['res.cookie = function (name, value) {', 'cookie'],
    ['app.handle = async function handle(req) {', 'handle'],
    ['this.name = name;', null],
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
    ['struct list {', 'list'],
    ['struct __attribute__((packed)) header {', 'header'],
    ['enum Colour implements Named {', 'Colour'],
    ['enum class Colour(val red: Int) {', 'Colour'],
    ['static struct client *lookupClient(int fd) {', 'lookupClient'],
    ['list *createList(void (*free)(void *)) {', 'createList'],
    ["  join(parts = [')'], glue = '(') {", 'join'],
    ['  if (found) {', null],
    ['  if len(found) == 0 {', null],
    ['  for isOpen(file) {', null],
    ['  switch kindOf(file) {', null],
    ['  match kind_of(file) {', null],
    ['  return new Runnable() {', null],
    ['  new Runnable() {', null],
    ['  synchronized (lock) {', null],
    ['  elseif ($found) {', null],
    ['  RunE: func(cmd *Command, args []string) error {', null],
    ['  state: async () => {', null],
    ['  go func(name string) {', null],
    ['  setTimeout(() => {', null],
    ["it('takes what is (not) there', async () => {", null],
    ["it('is no smiley :)', () => {", null],
    ['  send({', null],
    ['  await send(request, {', null],
    ['    struct list *next;', null],
    ['  struct timeval now = {', null],
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
