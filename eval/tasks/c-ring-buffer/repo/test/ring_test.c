#include <assert.h>
#include <string.h>

#include "ring.h"

int main(void) {
  unsigned char storage[8];
  struct ring r;
  char out[16];
  ring_init(&r, storage, sizeof storage);
  assert(ring_write(&r, "abcdef", 6) == 6);
  assert(ring_read(&r, out, 4) == 4 && memcmp(out, "abcd", 4) == 0);
  assert(ring_write(&r, "ghi\nkl", 6) == 6);
  assert(ring_free(&r) == 0);
  assert(ring_find(&r, 'h', 0) == 3);
  assert(ring_read_line(&r, out, sizeof out) == 5 && strcmp(out, "efghi") == 0);
  assert(ring_read(&r, out, 9) == 2 && memcmp(out, "kl", 2) == 0);
  return 0;
}
