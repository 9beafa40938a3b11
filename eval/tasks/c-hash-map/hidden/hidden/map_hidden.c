#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

#define CHECK(x) \
  do { if (!(x)) { fprintf(stderr, "line %d: %s\n", __LINE__, #x); exit(1); } } while (0)

static long blocks = 0;     /* allocated and not freed */
static long left = -1;      /* allocations that still work; -1: all */

static int refuses(void) { return left == 0 || (left > 0 && left-- == 0); }
void *test_malloc(size_t size) { if (refuses()) return NULL; blocks++; return malloc(size); }
void *test_calloc(size_t count, size_t size) { if (refuses()) return NULL; blocks++; return calloc(count, size); }
void *test_realloc(void *block, size_t size) { if (refuses()) return NULL; if (block == NULL) blocks++; return realloc(block, size); }
char *test_strdup(const char *text) { char *copy = test_malloc(strlen(text) + 1); return copy == NULL ? NULL : strcpy(copy, text); }
void test_free(void *block) { if (block != NULL) blocks--; free(block); }

enum { KEYS = 300 };
static int values[KEYS];  /* -1: absent */
static const char *name(int i) { static char key[32]; sprintf(key, "key-%d", i * 7919); return key; }

static bool see(const char *key, int value, void *context) {
  int i = atoi(key + 4) / 7919, *seen = context;
  CHECK(values[i] == value && seen[i] == 0);
  seen[i] = 1;
  return true;
}
static bool stop(const char *key, int value, void *context) { (void)key; (void)value; return --*(int *)context > 0; }

static void compare(const struct map *m) {
  int count = 0, value, seen[KEYS] = {0}, visited = 0;
  for (int i = 0; i < KEYS; i++) {
    CHECK(map_get(m, name(i), &value) == (values[i] >= 0));
    if (values[i] >= 0) { CHECK(value == values[i]); count++; }
  }
  CHECK(map_count(m) == (size_t)count && m->count == (size_t)count);
  CHECK(m->count * 4 <= m->capacity * 3);
  map_each(m, see, seen);
  for (int i = 0; i < KEYS; i++) visited += seen[i];
  CHECK(visited == count);
}

int main(void) {
  struct map m;
  map_init(&m);
  CHECK(blocks == 0 && !map_get(&m, "x", NULL) && !map_remove(&m, "x") && map_count(&m) == 0);
  int calls = 5;
  map_each(&m, stop, &calls);
  CHECK(calls == 5);
  map_free(&m);

  memset(values, -1, sizeof values);
  srand(7);
  for (int step = 0; step < 20000; step++) {
    int i = rand() % KEYS, grow = step / 4000 % 2 == 0;
    if (rand() % 10 < (grow ? 7 : 3)) { CHECK(map_put(&m, name(i), step)); values[i] = step; }
    else { CHECK(map_remove(&m, name(i)) == (values[i] >= 0)); values[i] = -1; }
    if (step % 97 == 0) compare(&m);
  }
  compare(&m);
  calls = 3;
  map_each(&m, stop, &calls);
  CHECK(calls == 0);
  map_free(&m);
  CHECK(blocks == 0);

  /* The map keeps a copy of the key. */
  char key[] = "abc";
  int value;
  CHECK(map_put(&m, key, 1));
  key[0] = 'x';
  CHECK(map_get(&m, "abc", &value) && value == 1 && !map_get(&m, key, &value));
  map_free(&m);
  CHECK(blocks == 0);

  /* Few entries at a time stay small and quick. */
  for (int i = 0; i < 300000; i++) {
    char text[32];
    sprintf(text, "t%d", i);
    CHECK(map_put(&m, text, i));
    if (i >= 10) { sprintf(text, "t%d", i - 10); CHECK(map_remove(&m, text)); }
    CHECK(m.capacity < 64);
  }
  CHECK(map_count(&m) == 10);
  map_free(&m);
  CHECK(blocks == 0);

  /* Every allocation may fail. */
  memset(values, -1, sizeof values);
  for (int i = 0; i < 100; i++) {
    for (long allowed = 0;; allowed++) {
      CHECK(allowed < 5);
      long before = blocks;
      left = allowed;
      bool stored = map_put(&m, name(i), i);
      left = -1;
      if (stored) break;
      CHECK(blocks == before);
      compare(&m);
    }
    values[i] = i;
    compare(&m);
  }
  map_free(&m);
  CHECK(blocks == 0);
  return 0;
}
