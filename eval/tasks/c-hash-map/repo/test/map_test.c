#include <assert.h>
#include <stdio.h>

#include "map.h"

int main(void) {
  struct map m;
  char key[16];
  int value = 0;
  map_init(&m);
  for (int i = 0; i < 100; i++) {
    sprintf(key, "k%d", i);
    assert(map_put(&m, key, i));
  }
  for (int i = 0; i < 100; i += 2) {
    sprintf(key, "k%d", i);
    assert(map_remove(&m, key));
  }
  for (int i = 0; i < 100; i++) {
    sprintf(key, "k%d", i);
    assert(map_get(&m, key, &value) == (i % 2 == 1));
    if (i % 2 == 1) assert(value == i);
  }
  assert(map_count(&m) == 50);
  map_free(&m);
  return 0;
}
