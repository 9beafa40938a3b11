#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

#define CHECK(x) \
  do { if (!(x)) { fprintf(stderr, "line %d: %s\n", __LINE__, #x); exit(1); } } while (0)

/* Compares with a plain array, with storage of exactly the size so that the sanitizer sees every step beyond it. */
static void random_steps(size_t size, unsigned seed) {
  unsigned char *storage = malloc(size);
  unsigned char model[64], bytes[80];
  size_t used = 0;
  struct ring r;
  srand(seed);
  ring_init(&r, storage, size);
  for (int step = 0; step < 4000; step++) {
    size_t n = (size_t)rand() % (size + 3), offset = (size_t)rand() % (size + 2);
    size_t expected;
    switch (rand() % 5) {
      case 0: case 1:
        for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(rand() % 256);
        expected = n < size - used ? n : size - used;
        CHECK(ring_write(&r, bytes, n) == expected);
        memcpy(model + used, bytes, expected);
        used += expected;
        break;
      case 2:
        expected = n < used ? n : used;
        CHECK(ring_read(&r, bytes, n) == expected);
        CHECK(memcmp(bytes, model, expected) == 0);
        memmove(model, model + expected, used - expected);
        used -= expected;
        break;
      case 3:
        expected = offset >= used ? 0 : n < used - offset ? n : used - offset;
        CHECK(ring_peek(&r, offset, bytes, n) == expected);
        if (expected > 0) CHECK(memcmp(bytes, model + offset, expected) == 0);
        break;
      default:
        n /= 2;
        expected = n < used ? n : used;
        CHECK(ring_discard(&r, n) == expected);
        memmove(model, model + expected, used - expected);
        used -= expected;
    }
    CHECK(ring_used(&r) == used && ring_free(&r) == size - used);
    unsigned char wanted = (unsigned char)(rand() % 256);
    const unsigned char *found = offset < used ? memchr(model + offset, wanted, used - offset) : NULL;
    CHECK(ring_find(&r, wanted, offset) == (found == NULL ? -1 : found - model));
  }
  free(storage);
}

static void lines(void) {
  char storage[8], line[16];
  struct ring r;
  for (size_t shift = 0; shift < sizeof storage; shift++) {
    ring_init(&r, storage, sizeof storage);
    ring_write(&r, "........", shift);
    ring_discard(&r, shift);
    CHECK(ring_read_line(&r, line, sizeof line) == -1);
    ring_write(&r, "ab\r\n\nc", 6);
    CHECK(ring_read_line(&r, line, sizeof line) == 2 && strcmp(line, "ab") == 0);
    CHECK(ring_read_line(&r, line, sizeof line) == 0 && strcmp(line, "") == 0);
    CHECK(ring_read_line(&r, line, sizeof line) == -1 && ring_used(&r) == 1);
    ring_write(&r, "defg\n", 5);
    CHECK(ring_read_line(&r, line, 5) == -2 && line[0] == 0 && ring_used(&r) == 0);
    ring_write(&r, "abcd\nx", 6);
    CHECK(ring_read_line(&r, line, 5) == 4 && strcmp(line, "abcd") == 0 && ring_used(&r) == 1);
    ring_write(&r, "abcdefg", 7);
    CHECK(ring_free(&r) == 0 && ring_read_line(&r, line, sizeof line) == -2 && ring_used(&r) == 0);
    ring_write(&r, "a\r\r\n", 4);
    CHECK(ring_read_line(&r, line, sizeof line) == 2 && strcmp(line, "a\r") == 0);
    ring_write(&r, "\n", 1);
    CHECK(ring_read_line(&r, NULL, 0) == -2 && ring_used(&r) == 0);
  }
}

int main(void) {
  struct ring empty;
  ring_init(&empty, NULL, 0);
  CHECK(ring_write(&empty, "a", 1) == 0 && ring_read(&empty, NULL, 4) == 0);
  CHECK(ring_find(&empty, 'a', 0) == -1 && ring_peek(&empty, 0, NULL, 1) == 0);
  for (size_t size = 1; size <= 20; size++) random_steps(size, (unsigned)size);
  lines();
  return 0;
}
